package org.nettyrdma.channel;

/**
 * The sizes of pooled blocks: 256 bytes, and from there two sizes per doubling (256, 384, 512, 768, 1024, ...) up to
 * 16 MiB, so that at most a third of a block is lost. From 64 KiB on there is a third one, a sixteenth above the power of two
 * (64, 68, 96, 128, 136, ... KiB): so long is a message with so much data, and a third of its memory would be much.
 */
final class SizeClasses {

    static final int SMALLEST = 256;
    static final int LARGEST = 16 << 20;
    static final int COUNT = of(LARGEST) + 1;

    private static final int SMALLEST_LOG2 = 8;
    private static final int LARGE_LOG2 = 16; // from here there are three per doubling
    private static final int FIRST_LARGE = 2 * (LARGE_LOG2 - SMALLEST_LOG2);

    private SizeClasses() {
    }

    /** The number of the smallest size that holds {@code bytes}, which is at most {@link #LARGEST}. */
    static int of(int bytes) {
        if (bytes <= SMALLEST) {
            return 0;
        }
        int log2 = Integer.SIZE - 1 - Integer.numberOfLeadingZeros(bytes - 1); // 2^log2 < bytes <= 2^(log2 + 1)
        boolean fitsBetween = bytes <= 3 << log2 - 1;
        if (log2 < LARGE_LOG2) {
            return 2 * (log2 - SMALLEST_LOG2) + (fitsBetween ? 1 : 2);
        }
        return FIRST_LARGE + 3 * (log2 - LARGE_LOG2) + (bytes <= 17 << log2 - 4 ? 1 : fitsBetween ? 2 : 3);
    }

    static int sizeOf(int sizeClass) {
        if (sizeClass < FIRST_LARGE) {
            int doubling = sizeClass >> 1;
            return (sizeClass & 1) == 0 ? SMALLEST << doubling : SMALLEST / 2 * 3 << doubling;
        }
        int log2 = LARGE_LOG2 + (sizeClass - FIRST_LARGE) / 3;
        return switch ((sizeClass - FIRST_LARGE) % 3) {
            case 0 -> 1 << log2;
            case 1 -> 17 << log2 - 4;
            default -> 3 << log2 - 1;
        };
    }
}
