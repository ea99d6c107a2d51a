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
        /** As many calls as may wait for memory do so already. One call is affected; it may be repeated later. */
        OVERLOADED,
        /** The peers no longer agree about the connection, which is closed. */
        CONNECTION
    }

    /** What happened. */
    private final Reason reason;
    /** What a transport error of version 2 said or is to say. */
    private final transient RpcRdmaError error;

    private RpcRdmaException(Reason reason, RpcRdmaError error, String message) {
        super(message);
        this.reason = reason;
        this.error = error;
    }

    static RpcRdmaException version(int version, SpokenVersions spoken) {
        return new RpcRdmaException(Reason.VERSION,
                new RpcRdmaError.Versions(spoken.lowest().number(), spoken.highest().number()),
                "RPC-over-RDMA version " + Integer.toUnsignedString(version) + " (spoken: " + spoken + ')');
    }

    static RpcRdmaException malformed(String format, Object... arguments) {
        return malformed(RpcRdmaError.BAD_XDR, format, arguments);
    }

    static RpcRdmaException malformed(RpcRdmaError answer, String format, Object... arguments) {
        return new RpcRdmaException(Reason.MALFORMED, answer, String.format(format, arguments));
    }

    static RpcRdmaException refused(String format, Object... arguments) {
        return new RpcRdmaException(Reason.REFUSED, null, String.format(format, arguments));
    }

    /** The peer has answered with {@code error}. */
    static RpcRdmaException refused(RpcRdmaError error) {
        return new RpcRdmaException(Reason.REFUSED, error, "refused with " + error);
    }

    /** The peer has answered with ERR_VERS. */
    static RpcRdmaException refusedVersion(long lowest, long highest) {
        return new RpcRdmaException(Reason.REFUSED, new RpcRdmaError.Versions(lowest, highest), String.format(
                "refused with ERR_VERS, the responder speaks versions %d to %d", lowest, highest));
    }

    static RpcRdmaException tooLarge(String format, Object... arguments) {
        return tooLarge(RpcRdmaError.SYSTEM, format, arguments);
    }

    static RpcRdmaException tooLarge(RpcRdmaError answer, String format, Object... arguments) {
        return new RpcRdmaException(Reason.TOO_LARGE, answer, String.format(format, arguments));
    }

    static RpcRdmaException unsupported(String format, Object... arguments) {
        return new RpcRdmaException(Reason.UNSUPPORTED, null, String.format(format, arguments));
    }

    static RpcRdmaException overloaded(String format, Object... arguments) {
        return new RpcRdmaException(Reason.OVERLOADED, null, String.format(format, arguments));
    }

    static RpcRdmaException connection(String format, Object... arguments) {
        return new RpcRdmaException(Reason.CONNECTION, null, String.format(format, arguments));
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
     * The transport error that goes with it (version-two-08, section 5.3.3): for {@link Reason#REFUSED} what the peer said,
     * otherwise what answers the message in version 2. It is not serialized.
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
