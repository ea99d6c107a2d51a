package org.nettyrdma.example.nfs.server;

import java.nio.ByteBuffer;

/**
 * SipHash-2-4 of names, two bytes a character, under a secret of 16 bytes: who does not know it cannot make names with equal
 * hashes. Thread safe.
 */
final class CookieHash {

    private final long key0;
    private final long key1;

    CookieHash(ByteBuffer secret) {
        key0 = secret.getLong();
        key1 = secret.getLong();
    }

    /** Goes with every cookie; another number in a call means cookies that were made with another secret. */
    long verifier() {
        return of("");
    }

    long of(String name) {
        State state = new State(key0, key1);
        long word = 0;
        for (int i = 0; i < name.length(); i++) {
            word |= (long) name.charAt(i) << (i & 3) * Character.SIZE;
            if ((i & 3) == 3) {
                state.take(word);
                word = 0;
            }
        }
        state.take(word | (long) name.length() * Character.BYTES << 56);
        return state.end();
    }

    private static final class State {

        private long v0;
        private long v1;
        private long v2;
        private long v3;

        private State(long key0, long key1) {
            v0 = key0 ^ 0x736f6d6570736575L;
            v1 = key1 ^ 0x646f72616e646f6dL;
            v2 = key0 ^ 0x6c7967656e657261L;
            v3 = key1 ^ 0x7465646279746573L;
        }

        private void take(long word) {
            v3 ^= word;
            rounds(2);
            v0 ^= word;
        }

        private long end() {
            v2 ^= 0xff;
            rounds(4);
            return v0 ^ v1 ^ v2 ^ v3;
        }

        private void rounds(int count) {
            for (int i = 0; i < count; i++) {
                v0 += v1;
                v1 = Long.rotateLeft(v1, 13) ^ v0;
                v0 = Long.rotateLeft(v0, 32);
                v2 += v3;
                v3 = Long.rotateLeft(v3, 16) ^ v2;
                v0 += v3;
                v3 = Long.rotateLeft(v3, 21) ^ v0;
                v2 += v1;
                v1 = Long.rotateLeft(v1, 17) ^ v2;
                v2 = Long.rotateLeft(v2, 32);
            }
        }
    }
}
