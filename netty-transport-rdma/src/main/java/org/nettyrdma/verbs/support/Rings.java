package org.nettyrdma.verbs.support;

import java.util.Arrays;

/**
 * Rings that grow with use: entry {@code n} of a sequence stands at {@code n} modulo the length, a power of two. Most connections
 * have little under way, and many have nothing, whatever they may have. A ring is grown when it is full, so that it never gets
 * longer than the power of two that the bound of its entries needs. It is not made smaller again: what was needed once is needed
 * again.
 */
public final class Rings {

    private Rings() {
    }

    /**
     * A ring of twice the length, with the same entries.
     *
     * @param ring   a full one; its length is a power of two
     * @param oldest number of the oldest entry
     * @param <T>    what the ring holds
     * @return a new array
     */
    public static <T> T[] doubled(T[] ring, long oldest) {
        T[] doubled = Arrays.copyOf(ring, 2 * ring.length);
        Arrays.fill(doubled, 0, ring.length, null);
        for (int i = 0; i < ring.length; i++) {
            long number = oldest + i;
            doubled[(int) number & doubled.length - 1] = ring[(int) number & ring.length - 1];
        }
        return doubled;
    }

    /**
     * The same for a ring of numbers.
     *
     * @param ring   a full one; its length is a power of two
     * @param oldest number of the oldest entry
     * @return a new array
     */
    public static int[] doubled(int[] ring, long oldest) {
        int[] doubled = new int[2 * ring.length];
        for (int i = 0; i < ring.length; i++) {
            long number = oldest + i;
            doubled[(int) number & doubled.length - 1] = ring[(int) number & ring.length - 1];
        }
        return doubled;
    }
}
