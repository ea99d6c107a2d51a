package org.nettyrdma.example.nfs.server;

import com.google.common.hash.HashFunction;
import com.google.common.hash.Hashing;
import java.nio.ByteBuffer;

/**
 * SipHash-2-4 of names under a secret of 16 bytes: who does not know it cannot make names with equal hashes. Thread safe.
 */
final class CookieHash {

    private final HashFunction function;
    private final long verifier;

    CookieHash(ByteBuffer secret) {
        function = Hashing.sipHash24(secret.getLong(), secret.getLong());
        verifier = of("");
    }

    /** Goes with every cookie; another number in a call means cookies that were made with another secret. */
    long verifier() {
        return verifier;
    }

    long of(String name) {
        return function.hashUnencodedChars(name).asLong();
    }
}
