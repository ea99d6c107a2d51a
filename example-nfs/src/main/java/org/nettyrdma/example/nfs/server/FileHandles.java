package org.nettyrdma.example.nfs.server;

import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.nettyrdma.example.nfs.protocol.FileHandle;
import org.nettyrdma.example.nfs.protocol.NfsStatus;

/**
 * Makes file handles and takes them apart. A handle says which file it is, and carries a checksum that only the owner of
 * the key can compute, so that a client can use no handle but those it was given. The issuer comes of the key and of the format:
 * a handle of another issuer is one of a server that had another key, as one without a state directory has at each start. It may
 * have been good, and is stale (RFC 1813, section 2.6). One of this issuer with a wrong checksum never was, and is bad. Thread
 * safe.
 * <pre>{@code
 * 0        4            8        16      24                 40
 * | issuer | generation | device | inode | HMAC-SHA-256/128 |
 * }</pre>
 */
final class FileHandles {

    static final int KEY_BYTES = 32;

    /** Another one with each change of what a handle holds. */
    private static final byte[] FORMAT = {3};
    private static final byte[] COOKIES = {'c', 'o', 'o', 'k', 'i', 'e', 's'};
    private static final int ISSUER_OFFSET = 0;
    private static final int GENERATION_OFFSET = 4;
    private static final int DEVICE_OFFSET = 8;
    private static final int INODE_OFFSET = 16;
    private static final int CHECKSUM_OFFSET = 24;
    private static final int CHECKSUM_BYTES = 16;
    static final int LENGTH = CHECKSUM_OFFSET + CHECKSUM_BYTES;
    private static final String ALGORITHM = "HmacSHA256";

    private final Mac mac;
    private final int issuer;
    private final CookieHash cookies;

    FileHandles(byte[] key) {
        try {
            mac = Mac.getInstance(ALGORITHM);
            mac.init(new SecretKeySpec(key, ALGORITHM));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java platform has " + ALGORITHM, e);
        }
        issuer = ByteBuffer.wrap(mac.doFinal(FORMAT)).getInt();
        cookies = new CookieHash(ByteBuffer.wrap(mac.doFinal(COOKIES)));
    }

    /** Where names are in listings, as long as the key stays. */
    CookieHash cookies() {
        return cookies;
    }

    FileHandle handleOf(FileId id) {
        ByteBuffer handle = ByteBuffer.allocate(LENGTH)
                .putInt(issuer).putInt(id.generation()).putLong(id.device()).putLong(id.inode());
        handle.put(checksum(handle.array()), 0, CHECKSUM_BYTES);
        return new FileHandle(handle.array());
    }

    /** Which file a handle claims to be of; says nothing about its issuer and its checksum. */
    static FileId claimedId(FileHandle handle) throws NfsException {
        if (handle.length() != LENGTH) {
            throw new NfsException(NfsStatus.BADHANDLE);
        }
        ByteBuffer bytes = ByteBuffer.wrap(handle.toByteArray());
        return new FileId(bytes.getLong(DEVICE_OFFSET), bytes.getLong(INODE_OFFSET), bytes.getInt(GENERATION_OFFSET));
    }

    /** Compares in a time that does not tell how many bytes of a forged handle were right. */
    void requireEqual(FileHandle received, FileHandle genuine) throws NfsException {
        byte[] bytes = received.toByteArray();
        if (!MessageDigest.isEqual(bytes, genuine.toByteArray())) {
            boolean isOurs = ByteBuffer.wrap(bytes).getInt(ISSUER_OFFSET) == issuer;
            throw new NfsException(isOurs ? NfsStatus.BADHANDLE : NfsStatus.STALE);
        }
    }

    private synchronized byte[] checksum(byte[] handle) {
        mac.update(handle, 0, CHECKSUM_OFFSET);
        return mac.doFinal();
    }
}
