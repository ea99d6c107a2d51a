package org.nettyrdma.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.unix.DomainSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A library's contestant in two processes, which are started as those of a run. */
class ContestantTest {

    private static final int CONNECTIONS = 20;
    private static final int CREDITS = 64;
    private static final Load LOAD = new Load(Operation.ECHO, 64, 1);

    @Test
    void shouldTellTheMemoryOfItsConnections() throws Exception {
        Setup setup = Setup.of(Peer.RDMA).withCredits(CREDITS);
        try (Contestant contestant = new Contestant(setup, Placement.TWO_PROCESSES, 1)) {
            assertTrue(contestant.measure(LOAD, 0.05).calls() > 0);
            contestant.reopen(setup, CONNECTIONS);
            // Receives are shared and posted with use: a reserve, however many connections and credits promise more.
            long reserveBytes = 1 << 20;
            long promisedBytes = (long) CONNECTIONS * CREDITS * setup.inlineThresholdBytes();
            EndsMemory idle = contestant.memory();
            assertTrue(idle.clientBytes() > reserveBytes && idle.clientBytes() < promisedBytes, idle::toString);
            assertTrue(idle.serverBytes() > 0, idle::toString);
            EndsMemory active = contestant.memoryUnderLoad(LOAD, 0.2);
            // On a busy machine not every connection has had its first reply, and with it its grant, by half time.
            for (double seconds = 0.4; active.serverBytes() <= reserveBytes && seconds < 20; seconds *= 2) {
                active = contestant.memoryUnderLoad(LOAD, seconds);
            }
            assertTrue(active.clientBytes() > reserveBytes && active.serverBytes() > reserveBytes, active::toString);
            assertTrue(contestant.openNanos() > 0);
            assertTrue(contestant.closeConnections() > 0);
        }
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

    @Test
    void shouldLeaveNoFileOfADomainSocket() throws Exception {
        Setup setup = Setup.of(Peer.DOMAIN);
        Path file;
        try (AgentProcess agent = AgentProcess.start(Map.of(), false, List.of())) {
            int port = agent.serve(setup);
            file = Path.of(((DomainSocketAddress) new NettyTransport(setup).address(port)).path());
            assertTrue(Files.exists(file));
        }
        assertFalse(Files.exists(file));
    }
}
