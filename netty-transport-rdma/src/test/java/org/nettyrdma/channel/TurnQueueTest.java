package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.util.ArrayDeque;
import java.util.Random;
import org.junit.jupiter.api.Test;

class TurnQueueTest {

    private final TurnQueue turns = new TurnQueue();

    @Test
    void shouldGiveEachChannelOneTurnHoweverOftenItAsks() {
        QueuePairChannel first = new RdmaChannel();
        QueuePairChannel second = new RdmaChannel();
        turns.add(first);
        turns.add(second);
        turns.add(first);
        assertEquals(2, turns.size());
        assertSame(first, turns.remove());
        turns.add(first);
        assertSame(second, turns.remove());
        assertSame(first, turns.remove());
        assertEquals(0, turns.size());
    }

    @Test
    void shouldKeepTheOrderWhileItGrows() {
        Random random = new Random(1);
        ArrayDeque<QueuePairChannel> expected = new ArrayDeque<>();
        for (int step = 0; step < 2000; step++) {
            if (expected.isEmpty() || random.nextInt(5) < 3) {
                QueuePairChannel channel = new RdmaChannel();
                turns.add(channel);
                expected.add(channel);
            } else {
                assertSame(expected.remove(), turns.remove());
            }
            assertEquals(expected.size(), turns.size());
        }
    }

    @Test
    void shouldKeepWhoWaitsWhenRoomIsMadeForOthers() {
        QueuePairChannel channel = new RdmaChannel();
        turns.add(channel);
        for (int channels = 1; channels <= 100; channels++) {
            turns.reserve(channels);
        }
        assertSame(channel, turns.remove());
    }
}
