package org.nettyrdma.example.nfs.client;

import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.HexFormat;

/** Names of what is not finished yet. Whoever else makes names cannot guess them. Any thread. */
final class TemporaryNames {

    private static final SecureRandom RANDOM = new SecureRandom();
    private static final int RANDOM_BYTES = 12;

    private TemporaryNames() {
    }

    /** Returns a new name; it begins with a dot. */
    static String next() {
        byte[] random = new byte[RANDOM_BYTES];
        RANDOM.nextBytes(random);
        return ".nfs-copy-" + HexFormat.of().formatHex(random);
    }

    /** Returns a new name as a path of the same file system as {@code sibling}. */
    static Path next(Path sibling) {
        return sibling.getFileSystem().getPath(next());
    }
}
