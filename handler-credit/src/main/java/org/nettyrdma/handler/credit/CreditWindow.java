package org.nettyrdma.handler.credit;

import static io.netty.util.internal.ObjectUtil.checkPositive;

/**
 * Counts credits: how many there are and how many are in use. Not thread safe.
 *
 * <p>The limit starts at 1: before the first response nothing is granted but a single request (RFC 8166, section 3.3.3). It
 * may fall below what is in use; then nothing can be taken until enough was given back.
 */
public final class CreditWindow {

    private final int maxLimit;
    private int limit = 1;
    private int inUse;

    /**
     * Creates a window of one credit.
     *
     * @param maxLimit most credits that there can ever be, 1 or more
     * @throws IllegalArgumentException if it is not positive
     */
    public CreditWindow(int maxLimit) {
        this.maxLimit = checkPositive(maxLimit, "maxLimit");
    }

    /**
     * Takes a credit if there is one.
     *
     * @return whether one was taken
     */
    public boolean tryAcquire() {
        if (inUse >= limit) {
            return false;
        }
        inUse++;
        return true;
    }

    /**
     * Gives a credit back.
     *
     * @throws IllegalStateException if none is in use
     */
    public void release() {
        if (inUse == 0) {
            throw new IllegalStateException("no credit is in use");
        }
        inUse--;
    }

    /**
     * Sets how many credits there are.
     *
     * @param credits any number, for instance one that the peer sent
     * @return the limit from now on, see {@link #clamp}
     */
    public int setLimit(long credits) {
        limit = clamp(credits);
        return limit;
    }

    /**
     * Brings a number of credits into the range that is allowed: 0 would stop both peers for good, and more than the maximum
     * is more than this end is built for.
     *
     * @param credits any number
     * @return the nearest number from 1 to the maximum
     */
    public int clamp(long credits) {
        return (int) Math.max(1, Math.min(credits, maxLimit));
    }

    /**
     * How many credits there can ever be.
     *
     * @return 1 or more
     */
    public int maxLimit() {
        return maxLimit;
    }

    /**
     * How many credits there are.
     *
     * @return 1 to the maximum
     */
    public int limit() {
        return limit;
    }

    /**
     * How many credits are in use.
     *
     * @return 0 to the maximum; more than {@link #limit} after the limit has fallen
     */
    public int inUse() {
        return inUse;
    }

    /**
     * Whether {@link #tryAcquire} would succeed.
     *
     * @return {@code true} if so
     */
    public boolean isAvailable() {
        return inUse < limit;
    }

    @Override
    public String toString() {
        return "CreditWindow(" + inUse + " of " + limit + " in use, at most " + maxLimit + ')';
    }
}
