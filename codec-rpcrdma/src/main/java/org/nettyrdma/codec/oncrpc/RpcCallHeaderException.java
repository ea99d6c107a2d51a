package org.nettyrdma.codec.oncrpc;

import java.util.Optional;

/** A received message is not a call that can be served; says what its sender is to be told. */
public final class RpcCallHeaderException extends XdrException {

    private static final long serialVersionUID = 1L;

    private final transient RpcReplyHeader answer;

    RpcCallHeaderException(String message, RpcReplyHeader answer) {
        super(message);
        this.answer = answer;
    }

    /**
     * The reply that RFC 5531 asks for.
     *
     * @return the whole reply; empty where the message has no XID or is no call, so that it cannot be answered
     */
    public Optional<RpcReplyHeader> answer() {
        return Optional.ofNullable(answer);
    }
}
