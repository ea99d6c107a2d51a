package org.nettyrdma.benchmarks;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

class StatisticsTest {

    @Test
    void shouldTakeTheValueInTheMiddle() {
        assertEquals(3, Statistics.median(9, 1, 3));
        assertEquals(5, Statistics.median(5));
    }

    @Test
    void shouldTakeTheMeanOfTheTwoInTheMiddle() {
        assertEquals(2.5, Statistics.median(100, 2, 3, 1));
    }

    @Test
    void shouldLeaveTheValuesInTheirOrder() {
        double[] values = {3, 1, 2};
        Statistics.median(values);
        assertArrayEquals(new double[] {3, 1, 2}, values);
    }

    @Test
    void shouldRefuseNoValues() {
        assertThrows(IllegalArgumentException.class, Statistics::median);
    }

    @Test
    void shouldRelateTheSpreadToTheMedian() {
        assertEquals(0.75, Statistics.spread(3, 5, 4, 3.5, 6), 1e-9);
        assertEquals(0, Statistics.spread(7));
    }

    @Test
    void shouldInterpolateQuantiles() {
        assertEquals(2, Statistics.quantile(0.25, 5, 1, 2, 4, 3));
        assertEquals(3.25, Statistics.quantile(0.75, 4, 1, 2, 3), 1e-9);
        assertEquals(9, Statistics.quantile(0.75, 9));
    }

    @Test
    void shouldDivideNeighbours() {
        assertArrayEquals(new double[] {0.5, 3}, Statistics.ratios(new double[] {1, 6}, new double[] {2, 2}));
    }

    @Test
    void shouldRefuseWindowsWithoutNeighbours() {
        assertThrows(IllegalArgumentException.class, () -> Statistics.ratios(new double[2], new double[3]));
    }
}
