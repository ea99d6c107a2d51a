package org.nettyrdma.codec.rpcrdma;

import java.io.IOException;

/**
 * A message that cannot be understood, or a call that cannot be served. {@link #reason()} says how far the damage reaches.
 * It carries no stack trace: a hostile peer can cause as many of them as it likes, and the message says where it came from.
 */
public final class RpcRdmaException extends IOException {

    private static final long serialVersionUID = 1L;

    /** What happened, and thereby who pays for it. */
    public enum Reason {
        /** The peer's message has a version that is not spoken here. One call is affected; ERR_VERS answers it. */
        VERSION,
        /** The peer's message breaks the rules of its header or chunks. One call is affected; ERR_CHUNK answers it. */
        MALFORMED,
        /** The peer refused a call with RDMA_ERROR. One call is affected; it must not be sent again as it was. */
        REFUSED,
        /** A message does not fit into what the peer offered or accepts. One call is affected. */
        TOO_LARGE,
        /** As many calls as may wait for memory do so already. One call is affected; it may be repeated later. */
        OVERLOADED,
        /** The peers no longer agree about the connection, which is closed. */
        CONNECTION
    }

    /** What happened. */
    private final Reason reason;

    private RpcRdmaException(Reason reason, String message) {
        super(message);
        this.reason = reason;
    }

    static RpcRdmaException version(int version) {
        return new RpcRdmaException(Reason.VERSION, "RPC-over-RDMA version " + Integer.toUnsignedString(version)
                + " (spoken: " + RpcRdmaLayout.VERSION + ')');
    }

    static RpcRdmaException malformed(String format, Object... arguments) {
        return new RpcRdmaException(Reason.MALFORMED, String.format(format, arguments));
    }

    static RpcRdmaException refused(String format, Object... arguments) {
        return new RpcRdmaException(Reason.REFUSED, String.format(format, arguments));
    }

    static RpcRdmaException tooLarge(String format, Object... arguments) {
        return new RpcRdmaException(Reason.TOO_LARGE, String.format(format, arguments));
    }

    static RpcRdmaException overloaded(String format, Object... arguments) {
        return new RpcRdmaException(Reason.OVERLOADED, String.format(format, arguments));
    }

    static RpcRdmaException connection(String format, Object... arguments) {
        return new RpcRdmaException(Reason.CONNECTION, String.format(format, arguments));
    }

    /**
     * What happened.
     *
     * @return the reason
     */
    public Reason reason() {
        return reason;
    }

    @Override
    public synchronized Throwable fillInStackTrace() {
        return this;
    }
}
