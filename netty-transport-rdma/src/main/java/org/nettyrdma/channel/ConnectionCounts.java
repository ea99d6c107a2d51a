package org.nettyrdma.channel;

import org.nettyrdma.peer.PeerAddress;

/**
 * How many connections a server has, in all and by the addresses of its peers. Any thread: a connection may end on another event
 * loop than the one that has taken it up.
 */
final class ConnectionCounts {

    /**
     * An address may have so many times as many connections as are left for all. One address alone gets three quarters, eight of
     * them 3/25 each, and a client at another address always finds something left, however many contend.
     */
    static final int SHARE_OF_REST = 3;

    private final int maxConnections;
    private final int maxConnectionsPerAddress;
    private final AddressSums byAddress = new AddressSums(); // this and the next are guarded by this
    private int connections;

    ConnectionCounts(int maxConnections, int maxConnectionsPerAddress) {
        this.maxConnections = maxConnections;
        this.maxConnectionsPerAddress = maxConnectionsPerAddress;
    }

    /**
     * Counts one more connection, unless there are too many.
     *
     * @return why it is refused; {@code null} if it is not, and then {@link #ended} must follow
     */
    synchronized String refusalOf(PeerAddress peer) {
        if (connections >= maxConnections) {
            return "there are " + connections + " connections already (limit: maxConnections)";
        }
        long ofAddress = byAddress.of(peer);
        if (ofAddress >= maxConnectionsPerAddress) {
            return "there are " + ofAddress + " connections from " + peer + " already (limit: maxConnectionsPerAddress)";
        }
        if (maxConnectionsPerAddress < maxConnections && ofAddress >= SHARE_OF_REST * (maxConnections - (long) connections)) {
            return "there are " + ofAddress + " connections from " + peer + " and " + connections
                    + " in all already, and the last ones (limit: maxConnections) are for addresses that have fewer";
        }
        byAddress.add(peer, 1); // first, as there may be no memory for it
        connections++;
        return null;
    }

    /** A connection that was counted has ended. */
    synchronized void ended(PeerAddress peer) {
        connections--;
        byAddress.add(peer, -1);
    }
}
