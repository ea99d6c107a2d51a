package org.nettyrdma.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Every peer that needs nothing but Java serves every case, here without processes of its own. */
class PeersTest {

    @ParameterizedTest
    @EnumSource(names = {"RDMA", "RDMA_CRC", "RDMA_METRICS", "RDMA_CHUNKS", "STACK", "NIO", "NIO_256K", "EPOLL", "EPOLL_256K",
        "SHM", "DOMAIN", "ONCRPC4J"})
    void shouldServeEveryCase(Peer peer) throws Exception {
        Setup setup = Setup.of(peer);
        try (ServerEnd server = Ends.serve(setup); ClientEnd client = Ends.connect(setup, server.port(), 1)) {
            for (Case scenario : Case.values()) {
                client.verify(scenario.load());
                LoadResult result = client.run(scenario.load(), TimeUnit.MILLISECONDS.toNanos(1));
                assertTrue(result.latencies().getTotalCount() >= scenario.load().outstanding());
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldBeFoundByItsName(Peer peer) {
        assertEquals(peer, Peer.named(peer.toString()));
    }
}
