package org.nettyrdma.verbs;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class QueuePairAttributesTest {

    @ParameterizedTest
    @CsvSource({
        "0, 1, 0, 0, 0, sendQueueDepth: 0 (expected: 1..2147483647)",
        "1, -1, 0, 0, 0, receiveQueueDepth: -1 (expected: 1..2147483647)",
        "1, 1, -1, 0, 0, inboundReadDepth: -1 (expected: 0..16383)",
        "1, 1, 16384, 0, 0, inboundReadDepth: 16384 (expected: 0..16383)",
        "1, 1, 0, -1, 0, outboundReadDepth: -1 (expected: 0..16383)",
        "1, 1, 0, 16384, 0, outboundReadDepth: 16384 (expected: 0..16383)",
        "1, 1, 0, 0, -1, closeTimeoutMillis: -1 (expected: 0..2147483647)",
    })
    void shouldRefuse(int sends, int receives, int inbound, int outbound, int closeTimeoutMillis, String message) {
        assertEquals(message, assertThrows(IllegalArgumentException.class,
                () -> new QueuePairAttributes(sends, receives, inbound, outbound, false, closeTimeoutMillis)).getMessage());
    }

    @Test
    void shouldTakeTheEndsOfTheRanges() {
        assertDoesNotThrow(() -> new QueuePairAttributes(1, 1, 0, 0, false, 0));
        assertDoesNotThrow(() -> new QueuePairAttributes(16_384, 16_384, 16_383, 16_383, true, Integer.MAX_VALUE));
    }
}
