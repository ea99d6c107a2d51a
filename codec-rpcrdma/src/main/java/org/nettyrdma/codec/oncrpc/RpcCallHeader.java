package org.nettyrdma.codec.oncrpc;

import io.netty.buffer.ByteBuf;

/**
 * What precedes the arguments in a call (RFC 5531, section 9).
 * <pre>{@code
 * 0     4      8         12     16     20      24          ...
 * | xid | CALL | version | prog | vers | proc  | credential | verifier | arguments
 *         0      2 }</pre>
 *
 * @param xid        number that the reply repeats
 * @param program    program to call
 * @param version    version of the program, an unsigned 32-bit number
 * @param procedure  procedure of the program, an unsigned 32-bit number
 * @param credential who calls
 * @param verifier   proof of the credential
 */
public record RpcCallHeader(int xid, int program, int version, int procedure, OpaqueAuth credential, OpaqueAuth verifier) {

    /** The version of the RPC protocol (RFC 5531, section 8). */
    public static final int RPC_VERSION = 2;

    private static final int FIXED_BYTES = 6 * Integer.BYTES;

    /**
     * Reads a header.
     *
     * @param in where to read, reader index at the XID; afterwards at the first byte of the arguments
     * @return the header
     * @throws XdrException if the bytes are not a call's header
     */
    public static RpcCallHeader read(ByteBuf in) {
        return read(in, OpaqueAuth.NONE);
    }

    /** Reads a header and returns {@code previousCredential} with it where the credential is equal to that. */
    static RpcCallHeader read(ByteBuf in, OpaqueAuth previousCredential) {
        if (RpcMessageType.peek(in) != RpcMessageType.CALL) {
            throw new RpcCallHeaderException("not a call, " + in.readableBytes() + " bytes", null);
        }
        int xid = (int) (in.readLong() >>> Integer.SIZE);
        if (in.readableBytes() >= Integer.BYTES && in.getInt(in.readerIndex()) != RPC_VERSION) {
            throw new RpcCallHeaderException("RPC version " + Integer.toUnsignedString(in.readInt()) + ", only 2 is spoken",
                    new RpcReplyHeader.RpcMismatch(xid, new VersionRange(RPC_VERSION, RPC_VERSION)));
        }
        if (in.readableBytes() < FIXED_BYTES - 2 * Integer.BYTES) {
            throw new RpcCallHeaderException("the call ends within its header",
                    new RpcReplyHeader.Accepted(xid, AcceptStatus.GARBAGE_ARGS));
        }
        int program = (int) in.readLong();
        long versionAndProcedure = in.readLong();
        int version = (int) (versionAndProcedure >>> Integer.SIZE);
        int procedure = (int) versionAndProcedure;
        OpaqueAuth credential = readAuth(in, "credential", previousCredential, xid, AuthStatus.AUTH_BADCRED);
        OpaqueAuth verifier = readAuth(in, "verifier", OpaqueAuth.NONE, xid, AuthStatus.AUTH_BADVERF);
        return new RpcCallHeader(xid, program, version, procedure, credential, verifier);
    }

    private static OpaqueAuth readAuth(ByteBuf in, String field, OpaqueAuth previous, int xid, AuthStatus refusal) {
        try {
            return OpaqueAuth.read(in, field, previous);
        } catch (XdrException e) {
            throw new RpcCallHeaderException(e.getMessage(), new RpcReplyHeader.AuthError(xid, refusal));
        }
    }

    /**
     * Writes this header.
     *
     * @param out where to write
     */
    public void write(ByteBuf out) {
        write(out, xid, program, version, procedure, credential, verifier);
    }

    /** Writes a header which nobody keeps, so that there need not be one. */
    static void write(ByteBuf out, int xid, int program, int version, int procedure, OpaqueAuth credential, OpaqueAuth verifier) {
        Xdr.writeTwoInts(out, xid, RpcMessageType.CALL.code());
        Xdr.writeTwoInts(out, RPC_VERSION, program);
        Xdr.writeTwoInts(out, version, procedure);
        credential.write(out);
        verifier.write(out);
    }

    /**
     * The bytes that {@link #write} writes.
     *
     * @return 40 to 840
     */
    public int encodedLength() {
        return encodedLength(credential, verifier);
    }

    static int encodedLength(OpaqueAuth credential, OpaqueAuth verifier) {
        return FIXED_BYTES + credential.encodedLength() + verifier.encodedLength();
    }

    /** As logs and captures show the numbers: the XID in eight hexadecimal digits, the others unsigned. */
    @Override
    public String toString() {
        return String.format("RpcCallHeader(xid %08x, program %s, version %s, procedure %s, credential %s, verifier %s)", xid,
                Integer.toUnsignedString(program), Integer.toUnsignedString(version), Integer.toUnsignedString(procedure),
                credential, verifier);
    }
}
