package org.nettyrdma.testing.stream;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.security.MessageDigest;
import java.util.SplittableRandom;

/** Bytes to send, in pieces of any size, no two pieces alike, and their checksum. */
final class GeneratedBytes {

    private static final int LARGEST_PIECE = 200_000;
    private static final byte[] NOISE = new byte[1 << 20];

    static {
        new SplittableRandom(1).nextBytes(NOISE);
    }

    private final SplittableRandom random = new SplittableRandom();
    private final MessageDigest digest = Checksums.newDigest();
    private final long total;
    private long left;

    GeneratedBytes(long total) {
        this.total = total;
        left = total;
    }

    boolean hasMore() {
        return left > 0;
    }

    /** The next piece, which the caller owns. */
    ByteBuf next(ByteBufAllocator allocator) {
        int bytes = (int) Math.min(left, random.nextInt(1, LARGEST_PIECE));
        int start = random.nextInt(NOISE.length - bytes);
        digest.update(NOISE, start, bytes);
        left -= bytes;
        return allocator.buffer(bytes).writeBytes(NOISE, start, bytes);
    }

    /** Number and checksum of all bytes, when there are no more. */
    String describe() {
        return Checksums.describe(total, digest);
    }
}
