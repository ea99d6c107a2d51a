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
 * the key can compute, so that a client can use no handle but those it was given. Thread safe.
 * <pre>{@code
 * 0        4            8        16      24                 40
 * | format | generation | device | inode | HMAC-SHA-256/128 |
 * }</pre>
 */
final class FileHandles {

    static final int KEY_BYTES = 32;

    private static final int FORMAT = 1;
    private static final int FORMAT_OFFSET = 0;
    private static final int GENERATION_OFFSET = 4;
    private static final int DEVICE_OFFSET = 8;
    private static final int INODE_OFFSET = 16;
    private static final int CHECKSUM_OFFSET = 24;
    private static final int CHECKSUM_BYTES = 16;
    static final int LENGTH = CHECKSUM_OFFSET + CHECKSUM_BYTES;
    private static final String ALGORITHM = "HmacSHA256";

    private final Mac mac;

    FileHandles(byte[] key) {
        try {
            mac = Mac.getInstance(ALGORITHM);
            mac.init(new SecretKeySpec(key, ALGORITHM));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java platform has " + ALGORITHM, e);
        }
    }

    FileHandle handleOf(FileId id) {
        ByteBuffer handle = ByteBuffer.allocate(LENGTH)
                .putInt(FORMAT).putInt(id.generation()).putLong(id.device()).putLong(id.inode());
        handle.put(checksum(handle.array()), 0, CHECKSUM_BYTES);
        return new FileHandle(handle.array());
    }

    /** Which file a handle claims to be of; says nothing about its checksum. */
    static FileId claimedId(FileHandle handle) throws NfsException {
        if (handle.length() != LENGTH) {
            throw new NfsException(NfsStatus.BADHANDLE);
        }
        ByteBuffer bytes = ByteBuffer.wrap(handle.toByteArray());
        if (bytes.getInt(FORMAT_OFFSET) != FORMAT) {
            throw new NfsException(NfsStatus.BADHANDLE);
        }
        return new FileId(bytes.getLong(DEVICE_OFFSET), bytes.getLong(INODE_OFFSET), bytes.getInt(GENERATION_OFFSET));
    }

    /** Compares in a time that does not tell how many bytes of a forged handle were right. */
    static void requireEqual(FileHandle received, FileHandle genuine) throws NfsException {
        if (!MessageDigest.isEqual(received.toByteArray(), genuine.toByteArray())) {
            throw new NfsException(NfsStatus.BADHANDLE);
        }
    }

    private synchronized byte[] checksum(byte[] handle) {
        mac.update(handle, 0, CHECKSUM_OFFSET);
        return mac.doFinal();
    }
}
