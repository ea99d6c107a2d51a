package org.nettyrdma.verbs.iwarp;

import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.TreeSet;
import org.nettyrdma.peer.PeerAddress;

/**
 * The connections of a listener whose MPA request is not complete, and which of them goes first where they are too many: of the
 * address that has the most the one that has waited longest. So whoever opens many of them pushes out his own, and a peer that
 * sends its request as soon as it can is gone from here before its turn has come.
 */
final class HalfOpenTable {

    /** Those of one address, oldest first. */
    private static final class Holder {

        private final LinkedHashSet<HalfOpenConnection> connections = new LinkedHashSet<>();

        private HalfOpenConnection oldest() {
            return connections.iterator().next();
        }

        private int count() {
            return connections.size();
        }

        private long oldestNumber() {
            return oldest().number();
        }
    }

    private final int maxConnections;
    private final int maxConnectionsOfAddress;
    private final LinkedHashSet<HalfOpenConnection> all = new LinkedHashSet<>(); // oldest first
    private final Map<PeerAddress, Holder> holders = new HashMap<>();
    /** Who has most comes last; of those that have as much, the one whose oldest connection is older. */
    private final TreeSet<Holder> bySize =
            new TreeSet<>(Comparator.comparingInt(Holder::count).thenComparing(Comparator.comparingLong(Holder::oldestNumber)
            .reversed()));

    HalfOpenTable(int maxConnections, int maxConnectionsOfAddress) {
        this.maxConnections = maxConnections;
        this.maxConnectionsOfAddress = maxConnectionsOfAddress;
    }

    /**
     * Adds a connection, the newest.
     *
     * @return the connection that is one too many, which the caller has to drop; {@code null} if there is none
     */
    HalfOpenConnection add(HalfOpenConnection connection) {
        all.add(connection);
        Holder holder = holders.computeIfAbsent(connection.peer(), address -> new Holder());
        if (holder.count() > 0) {
            bySize.remove(holder); // its place depends on what is changed now
        }
        holder.connections.add(connection);
        bySize.add(holder);
        if (holder.count() > maxConnectionsOfAddress) {
            return holder.oldest();
        }
        return all.size() > maxConnections ? firstToGo() : null;
    }

    void remove(HalfOpenConnection connection) {
        if (!all.remove(connection)) {
            return;
        }
        Holder holder = holders.get(connection.peer());
        bySize.remove(holder);
        holder.connections.remove(connection);
        if (holder.count() > 0) {
            bySize.add(holder);
        } else {
            holders.remove(connection.peer());
        }
    }

    /** The oldest connection of the address that has the most, {@code null} if there is none. */
    HalfOpenConnection firstToGo() {
        return bySize.isEmpty() ? null : bySize.last().oldest();
    }

    /** The oldest connection of all, {@code null} if there is none. */
    HalfOpenConnection oldest() {
        return all.isEmpty() ? null : all.iterator().next();
    }
}
