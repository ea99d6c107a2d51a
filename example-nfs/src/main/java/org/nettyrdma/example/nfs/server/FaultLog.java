package org.nettyrdma.example.nfs.server;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;

/**
 * Tells of faults of this server that peers cause as often as they like: one line a minute, without the message of the
 * exception, which may hold what a peer has sent. The rest is for level TRACE. Any thread.
 */
final class FaultLog {

    private static final long INTERVAL_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final Logger logger;
    private final AtomicLong nextNanos = new AtomicLong(System.nanoTime());

    FaultLog(Logger logger) {
        this.logger = logger;
    }

    /** @param what what failed, in words of this server */
    void warn(Object what, Throwable cause) {
        long now = System.nanoTime();
        long next = nextNanos.get();
        if (now - next >= 0 && nextNanos.compareAndSet(next, now + INTERVAL_NANOS)) {
            logger.warn("{} failed with {}{}; more failures of this minute are shown at level TRACE", what,
                    cause.getClass().getName(),
                    Arrays.stream(cause.getStackTrace()).findFirst().map(place -> " at " + place).orElse(""));
        }
        logger.trace("{} failed", what, cause);
    }
}
