package org.nettyrdma.verbs.support;

/** Rounding to powers of two. */
public final class PowerOfTwo {

    private PowerOfTwo() {
    }

    /**
     * The smallest power of two that is not below {@code value}.
     *
     * @param value 1 to 2^30
     * @return the power of two
     */
    public static int atLeast(int value) {
        return value <= 1 ? 1 : Integer.highestOneBit(value - 1) << 1;
    }

    /**
     * The largest power of two that is not above {@code value}; 0 stays 0.
     *
     * @param value not negative
     * @return the power of two, or 0
     */
    public static int atMost(int value) {
        return Integer.highestOneBit(value);
    }
}
