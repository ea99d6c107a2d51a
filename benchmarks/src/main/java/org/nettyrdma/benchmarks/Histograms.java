package org.nettyrdma.benchmarks;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Base64;
import java.util.concurrent.TimeUnit;
import java.util.zip.DataFormatException;
import org.HdrHistogram.Histogram;

/** Histograms as text. */
final class Histograms {

    /** No call takes longer: the RPC client gives up earlier. */
    private static final long MAX_NANOS = TimeUnit.MINUTES.toNanos(2);

    private Histograms() {
    }

    /** A histogram of nanoseconds with three digits, which never grows. */
    static Histogram newHistogram() {
        return new Histogram(1, MAX_NANOS, 3);
    }

    static void record(Histogram histogram, long nanos) {
        histogram.recordValue(Math.min(nanos, MAX_NANOS));
    }

    static String encode(Histogram histogram) {
        ByteBuffer buffer = ByteBuffer.allocate(histogram.getNeededByteBufferCapacity());
        int bytes = histogram.encodeIntoCompressedByteBuffer(buffer);
        return Base64.getEncoder().encodeToString(Arrays.copyOf(buffer.array(), bytes));
    }

    static Histogram decode(String text) {
        try {
            return Histogram.decodeFromCompressedByteBuffer(ByteBuffer.wrap(Base64.getDecoder().decode(text)), 0);
        } catch (DataFormatException e) {
            throw new IllegalArgumentException("not a histogram", e);
        }
    }
}
