package org.nettyrdma.benchmarks;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Processor time of a connection that has nothing to do, both of its ends in one process.
 *
 * @param peer    whose connection
 * @param percent of one CPU
 */
record IdleCost(Peer peer, double percent) {

    /** Bars of the library, in percent of one CPU. */
    private static final Map<Peer, Double> MOST_PERCENT = Map.of(Peer.RDMA, 0.5, Peer.SHM, 0.3);

    private static final Set<Peer> PEERS = Set.of(Peer.RDMA, Peer.SHM, Peer.NIO, Peer.EPOLL, Peer.DOMAIN);

    boolean holds() {
        return percent <= MOST_PERCENT.getOrDefault(peer, Double.MAX_VALUE);
    }

    /**
     * Measures one peer after the other.
     *
     * @param seconds how long each is idle, after calls have been made
     */
    static List<IdleCost> measure(Set<Peer> peers, double seconds, double warmUpSeconds) throws IOException {
        List<IdleCost> costs = new ArrayList<>();
        for (Peer peer : peers) {
            if (PEERS.contains(peer)) {
                try (Contestant contestant = new Contestant(Setup.of(peer), Placement.ONE_PROCESS, 1)) {
                    contestant.warmUp(Case.PING_PONG.load(), warmUpSeconds);
                    costs.add(new IdleCost(peer, contestant.idleNanos(seconds) / seconds / 1e9 * 100));
                }
            }
        }
        return costs;
    }
}
