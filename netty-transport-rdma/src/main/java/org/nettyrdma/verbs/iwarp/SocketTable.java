package org.nettyrdma.verbs.iwarp;

import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
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
final class SocketTable<S> {

    /** Those of one address. */
    private static final class Holder<S> {

        private final PeerAddress address;
        private final Map<S, Long> numbers = new LinkedHashMap<>(); // of the sockets, as they came to the table; oldest first

        private Holder(PeerAddress address) {
            this.address = address;
        }

        private S oldest() {
            return numbers.keySet().iterator().next();
        }

        private int count() {
            return numbers.size();
        }

        private long oldestNumber() {
            return numbers.values().iterator().next();
        }
    }

    private final int maxSockets;
    private final int maxSocketsOfAddress;
    private final Map<S, Holder<S>> all = new LinkedHashMap<>(); // oldest first
    private final Map<PeerAddress, Holder<S>> holders = new HashMap<>();
    /** Who has most comes last; of those that have as much, the one whose oldest socket is older. */
    private final TreeSet<Holder<S>> bySize = new TreeSet<>(Comparator.<Holder<S>>comparingInt(Holder::count)
            .thenComparing(Comparator.<Holder<S>>comparingLong(Holder::oldestNumber).reversed()));
    private long lastNumber;

    SocketTable(int maxSockets, int maxSocketsOfAddress) {
        this.maxSockets = maxSockets;
        this.maxSocketsOfAddress = maxSocketsOfAddress;
    }

    /**
     * Adds a socket, the newest.
     *
     * @param peer whose it is
     * @return the socket that is one too many, which the caller has to drop; {@code null} if there is none
     */
    S add(S socket, PeerAddress peer) {
        Holder<S> holder = holders.computeIfAbsent(peer, Holder::new);
        all.put(socket, holder); // whose holder remove() finds, also where there is no memory to go on
        if (holder.count() > 0) {
            bySize.remove(holder); // its place depends on what is changed now
        }
        holder.numbers.put(socket, ++lastNumber);
        bySize.add(holder);
        if (holder.count() > maxSocketsOfAddress) {
            return holder.oldest();
        }
        return all.size() > maxSockets ? firstToGo() : null;
    }

    void remove(S socket) {
        Holder<S> holder = all.remove(socket);
        if (holder == null) {
            return;
        }
        bySize.remove(holder);
        holder.numbers.remove(socket);
        if (holder.count() > 0) {
            bySize.add(holder);
        } else {
            holders.remove(holder.address, holder); // not another one, see add()
        }
    }

    /** The oldest socket of the address that has the most, {@code null} if there is none. */
    S firstToGo() {
        return bySize.isEmpty() ? null : bySize.last().oldest();
    }

    /** The oldest socket of all, {@code null} if there is none. */
    S oldest() {
        return all.isEmpty() ? null : all.keySet().iterator().next();
    }
}
