package org.nettyrdma.benchmarks;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class MovementTest {

    private final Movement movement = new Movement(4096);

    @Test
    void shouldAcceptWhatTheLoadsSay() {
        movement.add(Case.READ_64K.load(), 3);
        movement.add(Case.WRITE_64K.load(), 2);
        movement.add(Case.PING_PONG.load(), 100);
        assertFalse(movement.lagsBehind(moved(3 * 65536, 2 * 65536)));
        assertDoesNotThrow(() -> movement.check(Peer.RDMA, moved(3 * 65536, 2 * 65536)));
    }

    @Test
    void shouldExpectSmallDataInChunksWhereReceiveBuffersAreSmall() {
        Movement small = new Movement(1024);
        small.add(new Load(Operation.READ, 1024, 1), 3);
        assertTrue(small.lagsBehind(moved(2048, 0)));
        assertDoesNotThrow(() -> small.check(Peer.RDMA, moved(3072, 0)));
        assertThrows(IllegalStateException.class, () -> small.check(Peer.RDMA, moved(0, 0)));
    }

    @Test
    void shouldRefuseBulkDataThatWentInline() {
        movement.add(Case.READ_64K.load(), 3);
        assertTrue(movement.lagsBehind(moved(2 * 65536, 0)));
        assertThrows(IllegalStateException.class, () -> movement.check(Peer.RDMA, moved(2 * 65536, 0)));
    }

    @Test
    void shouldRefuseTransfersThatNobodyAskedFor() {
        movement.add(Case.PING_PONG.load(), 3);
        assertThrows(IllegalStateException.class, () -> movement.check(Peer.RDMA, moved(0, 64)));
    }

    @Test
    void shouldBelievePeersWithoutCounters() {
        movement.add(Case.READ_64K.load(), 3);
        assertFalse(movement.lagsBehind(Counters.NONE));
        assertDoesNotThrow(() -> movement.check(Peer.NIO, Counters.NONE));
    }

    @Test
    void shouldSayNothingOfDataThatMayGoInline() {
        movement.add(new Load(Operation.READ, 1024, 1), 3);
        assertDoesNotThrow(() -> movement.check(Peer.RDMA, moved(0, 0)));
    }

    private static Counters moved(long writtenBytes, long readBytes) {
        return new Counters(ProcessorTime.NONE, 0, 0, true, 0, 0, writtenBytes, readBytes, 0, 0, 0);
    }
}
