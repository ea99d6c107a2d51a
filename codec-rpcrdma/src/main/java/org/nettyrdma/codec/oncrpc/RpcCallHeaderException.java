package org.nettyrdma.codec.oncrpc;

/** A received message is not a call that can be served. {@link #answer()} is the reply to its sender. */
final class RpcCallHeaderException extends XdrException {

    private static final long serialVersionUID = 1L;

    private final transient RpcReplyHeader answer;

    RpcCallHeaderException(String message, RpcReplyHeader answer) {
        super(message);
        this.answer = answer;
    }

    /**
     * The reply that RFC 5531, section 9 asks for.
     *
     * @return the whole reply; {@code null} where the message is too short to be a call, or is none, and cannot be answered
     */
    RpcReplyHeader answer() {
        return answer;
    }
}
