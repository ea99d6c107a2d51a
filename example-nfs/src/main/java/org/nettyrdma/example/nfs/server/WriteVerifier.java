package org.nettyrdma.example.nfs.server;

import java.security.SecureRandom;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Tells clients whether what is not yet stable may be lost: it is another one after a restart and after each failure to write
 * or to make stable, so that they write it again (RFC 1813, sections 3.3.7 and 3.3.21). An operating system tells of such a
 * failure once, and maybe not the client whose data it was; so there is one for all files and clients. Thread safe.
 */
final class WriteVerifier {

    private final SecureRandom random = new SecureRandom();
    private final AtomicLong value = new AtomicLong(random.nextLong());

    long current() {
        return value.get();
    }

    void change() {
        long next = random.nextLong();
        value.getAndUpdate(last -> last == next ? ~next : next);
    }
}
