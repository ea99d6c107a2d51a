package org.nettyrdma.codec.oncrpc;

import static io.netty.util.internal.ObjectUtil.checkPositive;
import static io.netty.util.internal.ObjectUtil.checkPositiveOrZero;

/**
 * How slowly a peer may send or take data before it loses the connection: the transfers that had begun a time-out ago have ended,
 * or bytes have moved at the least rate since. Immutable.
 *
 * @param timeoutMillis     the time over which progress is measured, in milliseconds, more than 0
 * @param minBytesPerSecond the least rate over that time, in bytes per second; with 0 a single byte is enough. Too large a
 *                          value ends connections over slow networks
 */
public record TransferLimits(long timeoutMillis, long minBytesPerSecond) {

    /** One minute, and 16 KiB per second. */
    public static final TransferLimits DEFAULT = new TransferLimits(60_000, 16 << 10);

    /**
     * Checks the limits.
     *
     * @param timeoutMillis     the time over which progress is measured
     * @param minBytesPerSecond the least rate
     * @throws IllegalArgumentException if one is out of its range; the message names it
     */
    public TransferLimits {
        checkPositive(timeoutMillis, "timeoutMillis");
        checkPositiveOrZero(minBytesPerSecond, "minBytesPerSecond");
    }
}
