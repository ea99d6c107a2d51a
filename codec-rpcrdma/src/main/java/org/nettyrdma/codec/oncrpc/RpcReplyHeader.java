package org.nettyrdma.codec.oncrpc;

import io.netty.buffer.ByteBuf;

/**
 * What precedes the results in a reply, or the whole of a reply that has none (RFC 5531, section 9).
 * <pre>{@code
 * 0     4       8            12
 * | xid | REPLY | ACCEPTED 0 | verifier | accept_stat | results, or lowest and highest version
 *         1     | DENIED 1   | reject_stat            | lowest and highest version, or auth_stat }</pre>
 */
public sealed interface RpcReplyHeader permits RpcReplyHeader.Accepted, RpcReplyHeader.Denied {

    /** Bytes of the header of a successful reply whose verifier is {@link OpaqueAuth#NONE}. */
    int SUCCESS_BYTES = 24;

    /** {@code reply_stat} of an accepted call. */
    int MSG_ACCEPTED = 0;

    /** {@code reply_stat} of a denied call. */
    int MSG_DENIED = 1;

    /**
     * The number of the call that this answers.
     *
     * @return the XID
     */
    int xid();

    /**
     * Writes this header.
     *
     * @param out where to write
     */
    void write(ByteBuf out);

    /**
     * Reads a header.
     *
     * @param in where to read, reader index at the XID; afterwards, for a successful reply, at the first byte of the results
     * @return the header
     * @throws XdrException if the bytes are not a reply's header
     */
    static RpcReplyHeader read(ByteBuf in) {
        if (RpcMessageType.peek(in) != RpcMessageType.REPLY) {
            throw new XdrException("not a reply, " + in.readableBytes() + " bytes");
        }
        int xid = in.readInt();
        in.skipBytes(Integer.BYTES);
        int status = Xdr.readInt(in, "reply status");
        return switch (status) {
            case MSG_ACCEPTED -> Accepted.readBody(in, xid);
            case MSG_DENIED -> Denied.readBody(in, xid);
            default -> throw new XdrException("reply status is " + Integer.toUnsignedString(status) + ", known are 0 and 1");
        };
    }

    private static void writeStart(ByteBuf out, int xid, int replyStatus) {
        out.writeInt(xid);
        out.writeInt(RpcMessageType.REPLY.code());
        out.writeInt(replyStatus);
    }

    private static VersionRange readVersions(ByteBuf in) {
        return new VersionRange(Xdr.readInt(in, "lowest version"), Xdr.readInt(in, "highest version"));
    }

    private static void writeVersions(ByteBuf out, VersionRange versions) {
        out.writeInt(versions.lowest());
        out.writeInt(versions.highest());
    }

    /**
     * The server accepted the call ({@code accepted_reply}).
     *
     * @param xid      number of the call
     * @param verifier proof of the server's identity
     * @param status   how the call ended
     * @param versions which versions of the program there are; not {@code null} exactly if {@code status} is
     *                 {@link AcceptStatus#PROG_MISMATCH}
     */
    record Accepted(int xid, OpaqueAuth verifier, AcceptStatus status, VersionRange versions) implements RpcReplyHeader {

        /**
         * Creates a header.
         *
         * @param xid      number of the call
         * @param verifier proof of the server's identity
         * @param status   how the call ended
         * @param versions which versions of the program there are, or {@code null}
         * @throws IllegalArgumentException if there is a range of versions without a mismatch or a mismatch without a range
         */
        public Accepted {
            if (status == AcceptStatus.PROG_MISMATCH ^ versions != null) {
                throw new IllegalArgumentException("versions: " + versions + " with status " + status);
            }
        }

        /**
         * Creates a header with an empty verifier.
         *
         * @param xid    number of the call
         * @param status how the call ended, not {@link AcceptStatus#PROG_MISMATCH}
         */
        public Accepted(int xid, AcceptStatus status) {
            this(xid, OpaqueAuth.NONE, status, null);
        }

        private static Accepted readBody(ByteBuf in, int xid) {
            OpaqueAuth verifier = OpaqueAuth.read(in, "reply verifier");
            AcceptStatus status = AcceptStatus.of(Xdr.readInt(in, "accept status"));
            return new Accepted(xid, verifier, status, status == AcceptStatus.PROG_MISMATCH ? readVersions(in) : null);
        }

        @Override
        public void write(ByteBuf out) {
            writeStart(out, xid, MSG_ACCEPTED);
            verifier.write(out);
            out.writeInt(status.code());
            if (versions != null) {
                writeVersions(out, versions);
            }
        }
    }

    /** The server did not look at the call ({@code rejected_reply}). */
    sealed interface Denied extends RpcReplyHeader permits RpcMismatch, AuthError {

        private static Denied readBody(ByteBuf in, int xid) {
            int code = Xdr.readInt(in, "reject status");
            return switch (RejectStatus.of(code)) {
                case RPC_MISMATCH -> new RpcMismatch(xid, readVersions(in));
                case AUTH_ERROR -> new AuthError(xid, AuthStatus.of(Xdr.readInt(in, "authentication status")));
                case UNKNOWN -> throw new XdrException("reject status is " + Integer.toUnsignedString(code)
                        + ", known are 0 and 1");
            };
        }
    }

    /**
     * The server does not speak the call's version of RPC.
     *
     * @param xid      number of the call
     * @param versions the versions that it speaks
     */
    record RpcMismatch(int xid, VersionRange versions) implements Denied {

        @Override
        public void write(ByteBuf out) {
            writeStart(out, xid, MSG_DENIED);
            out.writeInt(RejectStatus.RPC_MISMATCH.code());
            writeVersions(out, versions);
        }
    }

    /**
     * The server does not trust the caller's identity.
     *
     * @param xid    number of the call
     * @param status why
     */
    record AuthError(int xid, AuthStatus status) implements Denied {

        @Override
        public void write(ByteBuf out) {
            writeStart(out, xid, MSG_DENIED);
            out.writeInt(RejectStatus.AUTH_ERROR.code());
            out.writeInt(status.code());
        }
    }
}
