package org.nettyrdma.codec.oncrpc.client;

import java.util.concurrent.ThreadLocalRandom;
import java.util.function.DoubleSupplier;

/** How long to wait before the next attempt to connect: twice as long each time, less a random part. Event loop only. */
final class Backoff {

    private final ReconnectPolicy policy;
    private final DoubleSupplier random;
    private int attempts;

    Backoff(ReconnectPolicy policy) {
        this(policy, () -> ThreadLocalRandom.current().nextDouble());
    }

    /**
     * @param random from 0 to 1
     */
    Backoff(ReconnectPolicy policy, DoubleSupplier random) {
        this.policy = policy;
        this.random = random;
    }

    /**
     * @param addresses how many there are to try, each once before the delay grows
     * @return milliseconds
     */
    long nextMillis(int addresses) {
        int doublings = Math.min(attempts / Math.max(1, addresses), Long.SIZE - 2);
        attempts = attempts == Integer.MAX_VALUE ? attempts : attempts + 1;
        double delay = Math.min(policy.maxDelayMillis(), policy.minDelayMillis() * (double) (1L << doublings));
        return Math.max(1, (long) (delay * (1 - policy.jitter() * random.getAsDouble())));
    }

    void reset() {
        attempts = 0;
    }
}
