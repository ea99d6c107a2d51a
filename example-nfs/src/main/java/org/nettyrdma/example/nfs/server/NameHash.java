package org.nettyrdma.example.nfs.server;

/** A 64-bit hash of a string that is the same on every machine and in every version: FNV-1a, and then mixed. */
final class NameHash {

    private static final long OFFSET_BASIS = 0xcbf29ce484222325L;
    private static final long PRIME = 0x100000001b3L;

    private NameHash() {
    }

    static long of(String name) {
        long hash = OFFSET_BASIS;
        for (int i = 0; i < name.length(); i++) {
            hash = (hash ^ name.charAt(i)) * PRIME;
        }
        // The high bits of FNV hardly depend on the last characters; cookies are sorted by them, so spread them.
        hash ^= hash >>> 33;
        hash *= 0xff51afd7ed558ccdL;
        return hash ^ hash >>> 33;
    }
}
