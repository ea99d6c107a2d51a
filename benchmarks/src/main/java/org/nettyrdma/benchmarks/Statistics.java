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
