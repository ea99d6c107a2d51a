package org.nettyrdma.codec.rpcrdma;

import java.io.IOException;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaError;

/**
 * A message that cannot be understood, or a call that cannot be served. {@link #reason()} says whether one call or the whole
 * connection is affected. The exception carries no stack trace, because a hostile peer can cause any number of them. The message
 * says where it came from.
 */
public final class RpcRdmaException extends IOException {

    private static final long serialVersionUID = 1L;

    /** What happened, and thereby who pays for it. */
    public enum Reason {
        /** The peer's message has a version that is not spoken here. One call is affected; ERR_VERS answers it. */
        VERSION,
        /**
         * The peer's message breaks the rules of its header or chunks. One call is affected; ERR_CHUNK, in version 2
         * {@link #error}, answers it.
         */
        MALFORMED,
        /** The peer refused a call with RDMA_ERROR. One call is affected; it must not be sent again as it was. */
        REFUSED,
        /** A message does not fit into what the peer offered or accepts. One call is affected. */
        TOO_LARGE,
        /** The peer has said that it does not take such a message. One call is affected; it must not be sent again. */
        UNSUPPORTED,
        /** The greatest allowed number of calls already waits for memory. One call is affected; it may be repeated later. */
        OVERLOADED,
        /** The peers no longer agree about the connection, which is closed. */
        CONNECTION,
        /** A message that was received or written is no ONC RPC message. The connection is closed. */
        NOT_RPC
    }

    /** What happened. */
    private final Reason reason;
    /** What a transport error of version 2 said or is to say. */
    private final transient RpcRdmaError error;

    /**
     * Creates an exception.
     *
     * @param reason  what happened
     * @param error   what a transport error of version 2 said or is to say; may be {@code null}
     * @param message what was wrong, with the field and the limit
     */
    public RpcRdmaException(Reason reason, RpcRdmaError error, String message) {
        super(message);
        this.reason = reason;
        this.error = error;
    }

    /**
     * What happened.
     *
     * @return the reason
     */
    public Reason reason() {
        return reason;
    }

    /**
     * The transport error (version-two-08, section 5.3.3). For {@link Reason#REFUSED} it is the error of the peer, otherwise the
     * answer to the message in version 2. It is not serialized.
     *
     * @return the error, {@code null} if none is known or none fits
     */
    public RpcRdmaError error() {
        return error;
    }

    @Override
    public synchronized Throwable fillInStackTrace() {
        return this;
    }
}
