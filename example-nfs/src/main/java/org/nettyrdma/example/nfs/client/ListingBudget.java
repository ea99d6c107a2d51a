package org.nettyrdma.example.nfs.client;

import java.io.IOException;

/** Memory for the names, handles and attributes that listings, or the way to a file, hold at the same time. One thread. */
final class ListingBudget {

    /** What a file takes on the heap beside its name: path, handle and attributes as objects. */
    private static final int BYTES_PER_FILE = 512;
    private static final int MEBI = 1 << 20;

    private final long maxBytes;
    private long usedBytes;

    /** Takes a quarter of the memory that Java may use. */
    ListingBudget() {
        this(Runtime.getRuntime().maxMemory() / 4);
    }

    ListingBudget(long maxBytes) {
        this.maxBytes = maxBytes;
    }

    /**
     * Counts one more file.
     *
     * @throws IOException if that is too much; then nothing is counted
     */
    void take(String directory, String name) throws IOException {
        long bytes = BYTES_PER_FILE + 2L * (directory.length() + name.length());
        if (usedBytes + bytes > maxBytes) {
            throw new IOException(directory + ": what the server tells of it does not fit into the " + maxBytes / MEBI
                    + " MiB of memory for that; Java may take more with -Xmx");
        }
        usedBytes += bytes;
    }

    long usedBytes() {
        return usedBytes;
    }

    /** Forgets the files that were counted since then. */
    void giveBackTo(long earlierUsedBytes) {
        usedBytes = earlierUsedBytes;
    }
}
