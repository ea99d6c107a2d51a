package org.nettyrdma.benchmarks;

import java.util.Arrays;

/** What is said of several windows. */
final class Statistics {

    private Statistics() {
    }

    /**
     * The value in the middle, or the mean of the two there.
     *
     * @param values at least one; stays as it is
     */
    static double median(double... values) {
        if (values.length == 0) {
            throw new IllegalArgumentException("no value has no median");
        }
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    /**
     * The value below which a part of the values lies, interpolated between neighbours.
     *
     * @param part   0 to 1
     * @param values at least one; stays as it is
     */
    static double quantile(double part, double... values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        double position = part * (sorted.length - 1);
        int below = (int) position;
        double above = sorted[Math.min(below + 1, sorted.length - 1)];
        return sorted[below] + (position - below) * (above - sorted[below]);
    }

    /** From the lowest to the highest, as a part of the median. */
    static double spread(double... values) {
        return (Arrays.stream(values).max().orElseThrow() - Arrays.stream(values).min().orElseThrow()) / median(values);
    }

    /** Element by element; neighbouring windows have the same index. */
    static double[] ratios(double[] values, double[] baseline) {
        if (values.length != baseline.length) {
            throw new IllegalArgumentException(values.length + " windows have no " + baseline.length + " neighbours");
        }
        double[] ratios = new double[values.length];
        for (int i = 0; i < ratios.length; i++) {
            ratios[i] = values[i] / baseline[i];
        }
        return ratios;
    }
}
