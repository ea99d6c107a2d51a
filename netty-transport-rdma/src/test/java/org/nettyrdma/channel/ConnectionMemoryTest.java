package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.nettyrdma.peer.PeerAddress;

class ConnectionMemoryTest {

    private static final int MESSAGE_BYTES = 4096;
    private static final int RECEIVES_BYTES = 128 * MESSAGE_BYTES;

    private final ConnectionMemory memory = new ConnectionMemory(320 << 20);

    @Test
    void shouldLeaveHalfOfTheMemoryToOthersThanReceives() throws Exception {
        int channels = (160 << 20) / RECEIVES_BYTES;
        for (int i = 0; i < channels; i++) {
            memory.open(null, RECEIVES_BYTES);
        }
        String refusal = assertThrows(RdmaException.class, () -> memory.open(null, RECEIVES_BYTES)).getMessage();
        assertTrue(refusal.contains("half of org.nettyrdma.maxRegisteredBytes"), refusal);
        memory.close(null, RECEIVES_BYTES);
        memory.open(null, RECEIVES_BYTES);
    }

    @Test
    void shouldCountReceivesOfAnotherSize() throws Exception {
        memory.open(null, 1 << 20);
        memory.resize(null, 159 << 20);
        assertThrows(RdmaException.class, () -> memory.open(null, 1));
        memory.close(null, 160 << 20);
        memory.open(null, 160 << 20);
    }

    @Test
    void shouldKeepTheLastForAddressesThatHaveLittle() throws Exception {
        PeerAddress greedy = new PeerAddress("greedy");
        int part = (160 << 20) / 16;
        for (int i = 0; i < 12; i++) {
            memory.open(greedy, part);
        }
        String refusal = assertThrows(RdmaException.class, () -> memory.open(greedy, part)).getMessage();
        assertTrue(refusal.contains("greedy: its other channels have 125829120 bytes"), refusal);
        memory.open(new PeerAddress("other"), part);
        memory.open(null, part);
        memory.close(null, part);
        memory.close(greedy, part);
        memory.resize(greedy, -3 * part);
        memory.open(greedy, part);
    }

    @Test
    void shouldDivideASixteenthOfTheMemoryBetweenTheChannels() throws Exception {
        assertEquals((20 << 20) / MESSAGE_BYTES, memory.shareOf(MESSAGE_BYTES));
        for (int i = 0; i < 100; i++) {
            memory.open(null, RECEIVES_BYTES);
        }
        assertEquals((20 << 20) / 100 / MESSAGE_BYTES, memory.shareOf(MESSAGE_BYTES));
        assertEquals(ConnectionMemory.FEWEST_MESSAGES, memory.shareOf(16 << 20));
        for (int i = 0; i < 99; i++) {
            memory.close(null, RECEIVES_BYTES);
        }
        assertEquals((20 << 20) / MESSAGE_BYTES, memory.shareOf(MESSAGE_BYTES));
    }
}
