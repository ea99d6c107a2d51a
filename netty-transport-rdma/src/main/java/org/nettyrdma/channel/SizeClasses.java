package org.nettyrdma.channel;

/**
 * The sizes of pooled blocks: 256 bytes, and from there two sizes per doubling (256, 384, 512, 768, 1024, ...) up to
 * 16 MiB, so that at most a third of a block is lost.
 */
final class SizeClasses {

    static final int SMALLEST = 256;
    static final int LARGEST = 16 << 20;
    static final int COUNT = of(LARGEST) + 1;

    private static final int SMALLEST_LOG2 = 8;

    private SizeClasses() {
    }

    /** The number of the smallest size that holds {@code bytes}, which is at most {@link #LARGEST}. */
    static int of(int bytes) {
        if (bytes <= SMALLEST) {
            return 0;
        }
        int log2 = Integer.SIZE - 1 - Integer.numberOfLeadingZeros(bytes - 1); // 2^log2 < bytes <= 2^(log2 + 1)
        int doubling = log2 - SMALLEST_LOG2;
        boolean fitsBetween = bytes <= 3 << log2 - 1;
        return 2 * doubling + (fitsBetween ? 1 : 2);
    }

    static int sizeOf(int sizeClass) {
        int doubling = sizeClass >> 1;
        return (sizeClass & 1) == 0 ? SMALLEST << doubling : SMALLEST / 2 * 3 << doubling;
    }
}
