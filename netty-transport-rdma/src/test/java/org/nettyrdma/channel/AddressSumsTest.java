package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.nettyrdma.peer.PeerAddress;

/** What is counted by address, also where there is no memory to count more. */
class AddressSumsTest {

    private static final PeerAddress FIRST = new PeerAddress("first");

    /** Found so many times, and then there is no memory. */
    private static final class Exhausted {

        private int left;

        Exhausted(int left) {
            this.left = left;
        }

        @Override
        public int hashCode() {
            if (left-- == 0) {
                throw new OutOfMemoryError("expected");
            }
            return 0;
        }

        @Override
        public boolean equals(Object other) {
            return this == other;
        }
    }

    @Test
    void shouldAddUpWhatIsOfOneAddress() {
        AddressSums sums = new AddressSums();
        sums.add(FIRST, 1L << 40);
        sums.add(FIRST, 3);
        sums.add(new PeerAddress("second"), 5);
        sums.add(FIRST, -2);
        assertEquals((1L << 40) + 1, sums.of(new PeerAddress("first")));
        sums.add(FIRST, -(1L << 40) - 1);
        assertEquals(0, sums.of(FIRST));
        assertEquals(5, sums.of(new PeerAddress("second")));
    }

    @Test
    void shouldNotCountAConnectionThatThereIsNoMemoryToCount() {
        ConnectionCounts connections = new ConnectionCounts(1, 1);
        assertNull(connections.refusalOf(FIRST));
        connections.ended(FIRST);
        assertThrows(OutOfMemoryError.class, () -> connections.refusalOf(new PeerAddress(new Exhausted(1))));
        assertNull(connections.refusalOf(FIRST));
        assertNotNull(connections.refusalOf(FIRST));
    }

    @Test
    void shouldNotCountReceivesThatThereIsNoMemoryToCount() throws Exception {
        ConnectionMemory memory = new ConnectionMemory(1 << 20);
        memory.open(FIRST, 4096);
        memory.close(FIRST, 4096);
        assertThrows(OutOfMemoryError.class, () -> memory.open(new PeerAddress(new Exhausted(1)), 4096));
        assertEquals(0, memory.receiveBytes());
        memory.open(FIRST, 4096);
        assertEquals(4096, memory.receiveBytes());
    }
}
