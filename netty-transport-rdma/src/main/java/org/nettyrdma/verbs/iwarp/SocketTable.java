package org.nettyrdma.verbs.iwarp;

import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.TreeSet;
import org.nettyrdma.peer.PeerAddress;

/**
 * Sockets that wait for something of their peers, and which of them goes first where they are too many: of the address that has
 * the most the one that has waited longest. So whoever has many of them pushes out his own, and a peer that does its part as soon
 * as it can is gone from here before its turn has come.
 *
 * @param <S> the sockets
 */
final class SocketTable<S extends SocketTable.Entry> {

    /** A socket that waits. */
    interface Entry {

        /** Whose it is. */
        PeerAddress peer();

        /** Larger than the numbers of all that were added to the table before. */
        long number();
    }

    /** Those of one address, oldest first. */
    private static final class Holder<S extends Entry> {

        private final LinkedHashSet<S> sockets = new LinkedHashSet<>();

        private S oldest() {
            return sockets.iterator().next();
        }

        private int count() {
            return sockets.size();
        }

        private long oldestNumber() {
            return oldest().number();
        }
    }

    private final int maxSockets;
    private final int maxSocketsOfAddress;
    private final LinkedHashSet<S> all = new LinkedHashSet<>(); // oldest first
    private final Map<PeerAddress, Holder<S>> holders = new HashMap<>();
    /** Who has most comes last; of those that have as much, the one whose oldest socket is older. */
    private final TreeSet<Holder<S>> bySize = new TreeSet<>(Comparator.<Holder<S>>comparingInt(Holder::count)
            .thenComparing(Comparator.<Holder<S>>comparingLong(Holder::oldestNumber).reversed()));

    SocketTable(int maxSockets, int maxSocketsOfAddress) {
        this.maxSockets = maxSockets;
        this.maxSocketsOfAddress = maxSocketsOfAddress;
    }

    /**
     * Adds a socket, the newest.
     *
     * @return the socket that is one too many, which the caller has to drop; {@code null} if there is none
     */
    S add(S socket) {
        Holder<S> holder = holders.computeIfAbsent(socket.peer(), address -> new Holder<>());
        all.add(socket); // whose holder remove() finds, also where there is no memory to go on
        if (holder.count() > 0) {
            bySize.remove(holder); // its place depends on what is changed now
        }
        holder.sockets.add(socket);
        bySize.add(holder);
        if (holder.count() > maxSocketsOfAddress) {
            return holder.oldest();
        }
        return all.size() > maxSockets ? firstToGo() : null;
    }

    void remove(S socket) {
        if (!all.remove(socket)) {
            return;
        }
        Holder<S> holder = holders.get(socket.peer());
        bySize.remove(holder);
        holder.sockets.remove(socket);
        if (holder.count() > 0) {
            bySize.add(holder);
        } else {
            holders.remove(socket.peer());
        }
    }

    /** The oldest socket of the address that has the most, {@code null} if there is none. */
    S firstToGo() {
        return bySize.isEmpty() ? null : bySize.last().oldest();
    }

    /** The oldest socket of all, {@code null} if there is none. */
    S oldest() {
        return all.isEmpty() ? null : all.iterator().next();
    }
}
