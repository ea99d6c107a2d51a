package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class ConnectionMemoryTest {

    private static final int MESSAGE_BYTES = 4096;
    private static final int RECEIVES_BYTES = 128 * MESSAGE_BYTES;

    private final ConnectionMemory memory = new ConnectionMemory(320 << 20);

    @Test
    void shouldLeaveHalfOfTheMemoryToOthersThanReceives() throws Exception {
        int channels = (160 << 20) / RECEIVES_BYTES;
        for (int i = 0; i < channels; i++) {
            memory.open(RECEIVES_BYTES);
        }
        String refusal = assertThrows(RdmaException.class, () -> memory.open(RECEIVES_BYTES)).getMessage();
        assertTrue(refusal.contains("half of org.nettyrdma.maxRegisteredBytes"), refusal);
        memory.close(RECEIVES_BYTES);
        memory.open(RECEIVES_BYTES);
    }

    @Test
    void shouldCountReceivesOfAnotherSize() throws Exception {
        memory.open(1 << 20);
        memory.resize(1 << 20, 160 << 20);
        assertThrows(RdmaException.class, () -> memory.open(1));
        memory.close(160 << 20);
        memory.open(160 << 20);
    }

    @Test
    void shouldDivideASixteenthOfTheMemoryBetweenTheChannels() throws Exception {
        assertEquals((20 << 20) / MESSAGE_BYTES, memory.shareOf(MESSAGE_BYTES));
        for (int i = 0; i < 100; i++) {
            memory.open(RECEIVES_BYTES);
        }
        assertEquals((20 << 20) / 100 / MESSAGE_BYTES, memory.shareOf(MESSAGE_BYTES));
        assertEquals(ConnectionMemory.FEWEST_MESSAGES, memory.shareOf(16 << 20));
        for (int i = 0; i < 99; i++) {
            memory.close(RECEIVES_BYTES);
        }
        assertEquals((20 << 20) / MESSAGE_BYTES, memory.shareOf(MESSAGE_BYTES));
    }
}
