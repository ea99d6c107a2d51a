package org.nettyrdma.codec.oncrpc;

import java.net.SocketAddress;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedList;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.WeakHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.nettyrdma.peer.PeerAddress;

/**
 * The calls that wait for one executor, of all connections. The executor gets one task for each call, and the task runs the call
 * whose turn it is: of the address that has had least of the executor's time, of the connection of that address that has had
 * least, the oldest. Peers that have had the same take turns. Any thread may use it; nothing foreign is called meanwhile.
 *
 * <p>This is fair queueing by start time (Goyal, Vin and Cheng, 1996) at two levels: whoever begins to wait has had at least as
 * much as the one that was served last, so that nobody saves time up. Calls that run count for what they have taken so far, or
 * slow calls of one peer would get each thread that comes free before the first of them has ended.
 */
final class CallTurns {

    /** Whoever has had this much more than the one that was served last is treated as having had no more than that. */
    static final long MAX_AHEAD_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** The values need no executor as long as no call waits for it, so that unused ones go. */
    private static final Map<Executor, CallTurns> ALL = new WeakHashMap<>();

    // All that follows, and what is in addresses and connections, is guarded by this.
    private final Map<PeerAddress, Address> addresses = new HashMap<>();
    private final Turns<Address> turns = new Turns<>();

    private CallTurns() {
    }

    /** Those of an executor; all handlers that have this executor share them. */
    static CallTurns of(Executor executor) {
        synchronized (ALL) {
            return ALL.computeIfAbsent(executor, first -> new CallTurns());
        }
    }

    /** How many addresses have connections that have brought a call. */
    synchronized int addresses() {
        return addresses.size();
    }

    /**
     * Begins to take the calls of a connection; {@link Connection#close} has to follow.
     *
     * @param peer      whose connection it is, {@code null} if that is not known
     * @param nanoClock measures its calls
     */
    synchronized Connection open(SocketAddress peer, LongSupplier nanoClock) {
        Connection connection = new Connection(addresses.computeIfAbsent(PeerAddress.of(peer), Address::new), nanoClock);
        connection.address.connections++;
        return connection;
    }

    /**
     * The call whose turn it is, which waits no longer and runs; {@link Connection#ended} has to follow. {@code null} if none
     * waits. Makes no object, as nobody could wait on.
     */
    synchronized ServedCall next(long nowNanos) {
        Address address = turns.first(nowNanos);
        if (address == null) {
            return null;
        }
        Connection connection = address.turns.first(nowNanos);
        ServedCall call = connection.calls.poll();
        address.calls--;
        call.begun(address.begun(nowNanos), connection.begun(nowNanos));
        address.turns.taken(!connection.calls.isEmpty());
        turns.taken(address.calls > 0);
        return call;
    }

    /** Who takes turns. */
    private abstract static class Peer {

        long usedNanos;
        /** What it has had since it began to wait. */
        long addedNanos;
        long ticket;
        /** Calls that run and count; where there are any, up to when they have been counted. */
        private int running;
        private long countedNanos;
        /** How often the calls that ran have counted for as much as they may. */
        private int round;

        /** Counts what the calls that run have taken since the last time. */
        void count(long nowNanos) {
            long nanos = nowNanos - countedNanos;
            if (running > 0 && nanos > 0) { // else another thread has looked at its clock later
                addedNanos += running * nanos;
                countedNanos = nowNanos;
            }
        }

        /**
         * A call begins; those that run have been counted.
         *
         * @return to be told at its end
         */
        int begun(long nowNanos) {
            if (running++ == 0) {
                countedNanos = nowNanos;
            }
            return round;
        }

        void ended(int begunInRound, long nowNanos) {
            count(nowNanos);
            if (begunInRound == round) {
                running--;
            }
        }

        /** However long they go on, those that run count for no more. */
        void stopCounting() {
            running = 0;
            round++;
        }
    }

    /** Those that wait, who has had least first. */
    private static final class Turns<T extends Peer> {

        private final PriorityQueue<T> waiting = new PriorityQueue<>(
                Comparator.<T>comparingLong(peer -> peer.usedNanos).thenComparingLong(peer -> peer.ticket));
        /** What the one that was served last had had. */
        private long servedNanos;
        private long tickets;

        void add(T peer) {
            long usedNanos = Math.max(servedNanos, peer.usedNanos + peer.addedNanos);
            long mostNanos = servedNanos + MAX_AHEAD_NANOS;
            if (usedNanos >= mostNanos) {
                peer.stopCounting();
            }
            peer.usedNanos = Math.min(usedNanos, mostNanos);
            peer.addedNanos = 0;
            peer.ticket = tickets++;
            waiting.add(peer);
        }

        T first(long nowNanos) {
            for (T first = waiting.peek(); first != null; first = waiting.peek()) {
                first.count(nowNanos);
                if (first.addedNanos == 0) {
                    return first;
                }
                add(waiting.poll());
            }
            return null;
        }

        /** The first has had its turn. */
        void taken(boolean waitsOn) {
            T first = waiting.poll();
            servedNanos = first.usedNanos;
            if (waitsOn) {
                add(first);
            }
        }
    }

    /** The connections of one address. */
    private static final class Address extends Peer {

        private final PeerAddress key;
        private final Turns<Connection> turns = new Turns<>();
        private int connections;
        /** How many calls of it wait. */
        private int calls;

        private Address(PeerAddress key) {
            this.key = key;
        }
    }

    /** The calls of one connection that wait, oldest first. */
    final class Connection extends Peer {

        private final Address address;
        private final LongSupplier nanoClock;
        /** Not an array: where one cannot grow for want of memory, it loses what is in it. */
        private final LinkedList<ServedCall> calls = new LinkedList<>();
        private boolean closed;

        private Connection(Address address, LongSupplier nanoClock) {
            this.address = address;
            this.nanoClock = nanoClock;
        }

        CallTurns turns() {
            return CallTurns.this;
        }

        /** Lets a call wait; the executor has to get a task for it. */
        void add(ServedCall call) {
            synchronized (CallTurns.this) {
                try {
                    if (calls.isEmpty()) {
                        address.turns.add(this);
                    }
                    if (address.calls == 0) {
                        turns.add(address);
                    }
                    calls.add(call);
                    address.calls++;
                } catch (OutOfMemoryError e) {
                    removeWithoutCalls();
                    throw e;
                }
            }
        }

        long nanoTime() {
            return nanoClock.getAsLong();
        }

        /** A call of this connection has ended that began in these rounds. */
        void ended(int addressRound, int connectionRound) {
            long nowNanos = nanoTime();
            synchronized (CallTurns.this) {
                address.ended(addressRound, nowNanos);
                ended(connectionRound, nowNanos);
            }
        }

        private ServedCall removeNewest() {
            synchronized (CallTurns.this) {
                return removed(calls.pollLast());
            }
        }

        private ServedCall removeOldestIfAnswered() {
            synchronized (CallTurns.this) {
                ServedCall oldest = calls.peek();
                return oldest != null && oldest.isAnswered() ? removed(calls.poll()) : null;
            }
        }

        private ServedCall removed(ServedCall call) {
            if (call != null) {
                address.calls--;
                removeWithoutCalls();
            }
            return call;
        }

        private void removeWithoutCalls() {
            if (calls.isEmpty()) {
                address.turns.waiting.remove(this);
            }
            if (address.calls == 0) {
                turns.waiting.remove(address);
            }
        }

        /**
         * The executor has not taken the task for a call of this connection: the newest call of the connection with most calls,
         * of the address with most, which waits no longer. {@code null} if none waits.
         */
        ServedCall removeOneTooMany() {
            synchronized (CallTurns.this) {
                Address most = address;
                for (Address other : turns.waiting) {
                    most = other.calls > most.calls ? other : most;
                }
                Connection busiest = most == address ? this : most.turns.waiting.peek();
                for (Connection other : most.turns.waiting) {
                    busiest = other.calls.size() > busiest.calls.size() ? other : busiest;
                }
                return busiest.removeNewest();
            }
        }

        /** Calls that were answered while they waited, the oldest first, wait no longer; their tasks run others, or nothing. */
        void dropAnswered() {
            for (ServedCall call = removeOldestIfAnswered(); call != null; call = removeOldestIfAnswered()) {
                call.drop();
            }
        }

        /** The connection has ended. */
        void close() {
            for (ServedCall call = removeNewest(); call != null; call = removeNewest()) {
                call.drop();
            }
            synchronized (CallTurns.this) {
                if (closed) {
                    return;
                }
                closed = true;
                address.connections--;
                if (address.connections == 0) {
                    addresses.remove(address.key);
                }
            }
        }
    }
}
