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
    void shouldDivideNeighbours() {
        assertArrayEquals(new double[] {0.5, 3}, Statistics.ratios(new double[] {1, 6}, new double[] {2, 2}));
    }

    @Test
    void shouldRefuseWindowsWithoutNeighbours() {
        assertThrows(IllegalArgumentException.class, () -> Statistics.ratios(new double[2], new double[3]));
    }
}
