package org.nettyrdma.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** A library's contestant in two processes, which are started as those of a run. */
class ContestantTest {

    private static final int CONNECTIONS = 20;
    private static final Load LOAD = new Load(Operation.ECHO, 64, 1);

    @Test
    void shouldTellTheMemoryOfItsConnections() throws Exception {
        Setup setup = Setup.of(Peer.RDMA).withCredits(64);
        try (Contestant contestant = new Contestant(setup, Placement.TWO_PROCESSES, 1)) {
            assertTrue(contestant.measure(LOAD, 0.05).calls() > 0);
            contestant.reopen(setup, CONNECTIONS);
            long receiveBytes = CONNECTIONS * setup.receiveBufferBytes();
            assertIncludes(receiveBytes, contestant.memory());
            assertIncludes(receiveBytes, contestant.memoryUnderLoad(LOAD, 0.2));
            assertTrue(contestant.openNanos() > 0);
            assertTrue(contestant.closeConnections() > 0);
        }
    }

    private static void assertIncludes(long bytes, EndsMemory memory) {
        assertTrue(memory.clientBytes() > bytes && memory.serverBytes() > bytes, memory.toString());
    }

    @Test
    void shouldMoveTheSmallestDataInChunksWhereReceiveBuffersAreSmall() throws Exception {
        try (Contestant contestant = new Contestant(Setup.of(Peer.RDMA).withSmallBuffers(), Placement.ONE_PROCESS, 1)) {
            Window read = contestant.measure(new Load(Operation.READ, 1024, 2), 0.05);
            assertEquals(1024, read.perCall(read.counters().writtenBytes()));
            Window write = contestant.measure(new Load(Operation.WRITE, 1024, 2), 0.05);
            assertEquals(1024, write.perCall(write.counters().readBytes()));
        }
    }
}
