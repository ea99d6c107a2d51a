package org.nettyrdma.handler.credit;

import static io.netty.util.internal.ObjectUtil.checkPositive;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Counts credits: how many there are and how many are in use. One thread changes the window. Other threads may ask for
 * {@link #limit} and {@link #inUse}, and may see values of a moment ago.
 *
 * <p>The limit starts at 1: before the first response one request is granted (RFC 8166, section 3.3.3). The limit may fall below
 * the number in use. Then no credit can be taken until enough were given back.
 */
final class CreditWindow {

    private static final VarHandle LIMIT = handleOf("limit");
    private static final VarHandle IN_USE = handleOf("inUse");

    private final int maxLimit;
    // Written and read opaquely where another thread may look: that costs the one that counts nothing.
    private int limit = 1;
    private int inUse;

    private static VarHandle handleOf(String field) {
        try {
            return MethodHandles.lookup().findVarHandle(CreditWindow.class, field, int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /**
     * Creates a window of one credit.
     *
     * @param maxLimit most credits that there can ever be, 1 or more
     * @throws IllegalArgumentException if it is not positive
     */
    CreditWindow(int maxLimit) {
        this.maxLimit = checkPositive(maxLimit, "maxLimit");
    }

    /** Takes a credit if there is one. Returns whether one was taken. */
    boolean tryAcquire() {
        if (inUse >= limit) {
            return false;
        }
        IN_USE.setOpaque(this, inUse + 1);
        return true;
    }

    /**
     * Gives a credit back.
     *
     * @throws IllegalStateException if none is in use
     */
    void release() {
        if (inUse == 0) {
            throw new IllegalStateException("no credit is in use");
        }
        IN_USE.setOpaque(this, inUse - 1);
    }

    /**
     * Sets how many credits there are, within what is {@linkplain #clamp allowed}.
     *
     * @param credits any number, for instance one that the peer sent
     */
    void setLimit(long credits) {
        LIMIT.setOpaque(this, clamp(credits));
    }

    /**
     * Brings a number of credits into the allowed range. 0 would stop both peers for good, and is not allowed (RFC 8166, section
     * 3.3.1). This end has no receives for more than the maximum.
     *
     * @param credits any number
     * @return the nearest number from 1 to the maximum
     */
    int clamp(long credits) {
        return (int) Math.max(1, Math.min(credits, maxLimit));
    }

    /** How many credits there can ever be, 1 or more. */
    int maxLimit() {
        return maxLimit;
    }

    /** How many credits there are, 1 to the maximum. Any thread. */
    int limit() {
        return (int) LIMIT.getOpaque(this);
    }

    /** How many credits are in use, 0 to the maximum; more than {@link #limit} after that has fallen. Any thread. */
    int inUse() {
        return (int) IN_USE.getOpaque(this);
    }

    /**
     * Whether {@link #tryAcquire} would succeed.
     *
     * @return {@code true} if so
     */
    boolean isAvailable() {
        return inUse < limit;
    }

    @Override
    public String toString() {
        return "CreditWindow(" + inUse + " of " + limit + " in use, at most " + maxLimit + ')';
    }
}
