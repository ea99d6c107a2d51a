package org.nettyrdma.verbs.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.SocketAddress;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nettyrdma.verbs.QueuePair;

/** What a connection takes in one turn, and when it wakes the peer for it. */
class ExchangeTurnTest {

    private static final int SEND = 1;
    private static final int WRITE = 3;
    private static final int WRITE_BYTES = 2 * HostileShmPeer.BLOCK_BYTES;
    private static final int WRITES_PER_TURN = Exchange.MAX_BYTES_PER_TURN / WRITE_BYTES;
    private static final int TARGET_OFFSET = 256 * 1024;

    @TempDir
    private Path temporary;
    private ShmSide side;
    private HostileShmPeer peer;
    private int tag;

    @BeforeEach
    void connect() throws IOException {
        ShmSettings settings = new ShmSettings(temporary.resolve("shm"), Set.of());
        side = new ShmSide(new ShmProvider(settings));
        SocketAddress address = side.listen();
        peer = new HostileShmPeer(settings, address);
        side.accept(16);
        assertTrue(side.established);
        tag = side.queuePair.expose(side.region, TARGET_OFFSET, 2 * Exchange.MAX_BYTES_PER_TURN, QueuePair.ACCESS_REMOTE_WRITE);
        peer.entry(SEND, 1, 0, 0, 10, peer.block, 0, 10); // so that its block is mapped
        side.awaitTrue(() -> side.received == 1);
        side.context.poll(side, 64); // what was due for it is done
        side.received = 0;
        peer.takeSocketBytes();
    }

    @AfterEach
    void close() throws IOException {
        peer.close();
        side.close();
    }

    /** Two times: as many RDMA Writes as a turn takes, and the message that says so. */
    private void writeTwice() {
        for (int i = 0; i < 2 * WRITES_PER_TURN; i++) {
            peer.entry(WRITE, 2, tag, (long) i * WRITE_BYTES, WRITE_BYTES, peer.block, 0, HostileShmPeer.BLOCK_BYTES,
                    peer.block, 0, HostileShmPeer.BLOCK_BYTES);
            if ((i + 1) % WRITES_PER_TURN == 0) {
                peer.entry(SEND, 1, 0, 0, 10, peer.block, 0, 10);
            }
        }
    }

    private byte lastByteOf(int turn) {
        return side.memory.get(TARGET_OFFSET + turn * Exchange.MAX_BYTES_PER_TURN - 1);
    }

    @Test
    void shouldPassOnWhatHasComeBeforeItCopiesTheRest() throws IOException {
        writeTwice();
        side.context.poll(side, 64);
        assertEquals(HostileShmPeer.SENTINEL, lastByteOf(1));
        assertEquals(0, lastByteOf(2));
        side.awaitTrue(() -> side.received == 1);
        side.awaitTrue(() -> side.received == 2);
        assertEquals(HostileShmPeer.SENTINEL, lastByteOf(2));
    }

    @Test
    void shouldMapFewBlocksBeforeItPassesOnWhatHasCome() throws IOException {
        int inTurn = Exchange.MAX_BYTES_PER_TURN / Exchange.BYTES_PER_MAPPING;
        for (int i = 0; i < 2 * inTurn; i++) {
            peer.entryWithoutWakeUp(SEND, 1, 0, 0, 10, peer.anotherBlock(), 0, 10);
        }
        peer.ring();
        side.context.poll(side, 64);
        assertEquals(inTurn, side.received);
        side.awaitTrue(() -> side.received == 2 * inTurn);
    }

    @Test
    void shouldWakeThePeerOnceAllIsTaken() throws IOException {
        writeTwice();
        peer.control.putInt(ControlLayout.ASLEEP_OFFSET, 1);
        side.awaitTrue(() -> side.received == 1);
        side.send(100); // an answer to the first, for a peer that sleeps
        assertEquals(0, peer.takeSocketBytes());
        side.awaitTrue(() -> side.received == 2);
        side.context.poll(side, 64);
        assertEquals(1, peer.takeSocketBytes());
    }

    @Test
    void shouldWakeThePeerBeforeItCloses() throws IOException {
        writeTwice();
        peer.control.putInt(ControlLayout.ASLEEP_OFFSET, 1);
        side.awaitTrue(() -> side.received == 1);
        side.send(100);
        assertEquals(0, peer.takeSocketBytes());
        side.queuePair.moveToError(); // waits for the peer to take what was sent
        assertEquals(1, peer.takeSocketBytes());
    }
}
