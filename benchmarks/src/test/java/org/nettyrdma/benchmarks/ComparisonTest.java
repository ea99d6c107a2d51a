package org.nettyrdma.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Peers with nobody to take turns with, which are started as those of a run. */
class ComparisonTest {

    @Test
    void shouldMeasureThosePeersAloneThatHaveTheCase() throws IOException {
        try (Comparison comparison = new Comparison(EnumSet.of(Peer.RDMA, Peer.NIO_ECHO), Placement.ONE_PROCESS, 1, 0.05, 0.05)) {
            CaseResult frames = comparison.run(Case.ECHO_64K);
            assertEquals(Set.of(Peer.NIO_ECHO), frames.windows().keySet());
            assertTrue(frames.windows().get(Peer.NIO_ECHO).get(0).calls() > 0);
            assertEquals(Set.of(Peer.RDMA, Peer.NIO_ECHO), comparison.run(Case.PING_PONG).windows().keySet());
        }
    }
}
