package org.nettyrdma.codec.oncrpc;

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;

/** Tells calls apart by a digest under a secret, so that nobody who does not know a call can compute its key. Thread safe. */
final class CallDigest {

    /**
     * What tells one call from another.
     *
     * @param client  who has sent it
     * @param xid     its XID
     * @param high    the digest of all the rest
     * @param low     more of it
     */
    record Key(Object client, int xid, long high, long low) {
    }

    private static final int SECRET_BYTES = 32;
    /** Of longer arguments so many bytes at either end are looked at. To digest bulk data can take longer than the call. */
    static final int END_BYTES = 2048;

    private final byte[] secret = new byte[SECRET_BYTES];

    CallDigest() {
        new SecureRandom().nextBytes(secret);
    }

    /** The call's arguments have not been read. */
    Key of(Object client, RpcCall call) {
        RpcCallHeader header = call.header();
        OpaqueAuth credential = header.credential();
        byte[] body = credential.body();
        MessageDigest sha256 = sha256();
        sha256.update(secret);
        sha256.update(ByteBuffer.allocate(5 * Integer.BYTES).putInt(header.program()).putInt(header.version())
                .putInt(header.procedure()).putInt(credential.flavor()).putInt(body.length).flip());
        // The stamp in front of an AUTH_SYS body may be another one each time that a call is sent (RFC 5531, appendix A).
        int start = credential.flavor() == AuthFlavor.AUTH_SYS.code() ? Math.min(Integer.BYTES, body.length) : 0;
        sha256.update(body, start, body.length - start);
        ByteBuf arguments = call.arguments();
        int length = arguments.readableBytes();
        sha256.update(ByteBuffer.allocate(Integer.BYTES).putInt(length).flip());
        int beginning = length <= 2 * END_BYTES ? length : END_BYTES;
        int end = Math.min(END_BYTES, length - beginning);
        update(sha256, arguments, arguments.readerIndex(), beginning);
        update(sha256, arguments, arguments.writerIndex() - end, end);
        ByteBuffer digest = ByteBuffer.wrap(sha256.digest());
        return new Key(client, header.xid(), digest.getLong(), digest.getLong());
    }

    private static void update(MessageDigest sha256, ByteBuf arguments, int from, int length) {
        for (ByteBuffer part : arguments.nioBuffers(from, length)) {
            sha256.update(part);
        }
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }
}
