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
 * <p>With a {@link CallExecutor}, an address that runs as many calls as it may is passed over until one has ended. Calls that
 * wait meanwhile have no task: they came then, or their task has found nothing to run. A thread that ends a call runs one of
 * them.
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
    private final int maxRunning;
    /** How many calls wait. */
    private int calls;
    /** At least how many of them there is no task for in the executor. */
    private int withoutTask;

    private CallTurns(int maxRunning) {
        this.maxRunning = maxRunning;
    }

    /** Those of an executor; all handlers that have this executor share them. */
    static CallTurns of(Executor executor) {
        synchronized (ALL) {
            return ALL.computeIfAbsent(executor, first ->
                    new CallTurns(first instanceof CallExecutor bounded ? bounded.maxCallsPerAddress() : Integer.MAX_VALUE));
        }
    }

    /** How many addresses have connections that have brought a call, or calls that run. */
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
     * For a task: the call whose turn it is, which waits no longer and runs; {@link Connection#ended} has to follow. {@code null}
     * if none waits that may run. Makes no object, as nobody could wait on.
     */
    synchronized ServedCall next(long nowNanos) {
        ServedCall call = take(nowNanos);
        if (call == null) {
            withoutTask = Math.min(withoutTask + 1, calls);
        }
        return call;
    }

    /** The same for a thread on which a call has ended, where calls wait without a task. */
    synchronized ServedCall nextWithoutTask(long nowNanos) {
        ServedCall call = withoutTask == 0 ? null : take(nowNanos);
        if (call != null) {
            withoutTask--;
        }
        return call;
    }

    private ServedCall take(long nowNanos) {
        Address address = turns.first(nowNanos);
        if (address == null) {
            return null;
        }
        Connection connection = address.turns.first(nowNanos);
        ServedCall call = connection.calls.poll();
        address.calls--;
        calls--;
        call.begun(address.begun(nowNanos), connection.begun(nowNanos));
        address.turns.taken();
        if (!connection.calls.isEmpty()) {
            address.turns.add(connection);
        }
        turns.taken();
        address.running++;
        address.full = address.running == maxRunning;
        if (address.calls > 0) {
            turns.add(address);
        }
        return call;
    }

    /** Calls go on when their connection has ended, and still count when their peer connects again. */
    private void forgetIfUnused(Address address) {
        if (address.connections == 0 && address.running == 0) {
            addresses.remove(address.key);
        }
    }

    /** Who takes turns. */
    private abstract static class Peer {

        long usedNanos;
        /** What it has had since it began to wait. */
        long addedNanos;
        long ticket;
        /** Whether it runs as many calls as it may. */
        boolean full;
        /** Calls that run and count; where there are any, up to when they have been counted. */
        private int counting;
        private long countedNanos;
        /** How often the calls that ran have counted for as much as they may. */
        private int round;

        /** Counts what the calls that run have taken since the last time. */
        void count(long nowNanos) {
            long nanos = nowNanos - countedNanos;
            if (counting > 0 && nanos > 0) { // else another thread has looked at its clock later
                addedNanos += counting * nanos;
                countedNanos = nowNanos;
            }
        }

        /** A call begins; those that run have been counted. Returns what is to be told at its end. */
        int begun(long nowNanos) {
            if (counting++ == 0) {
                countedNanos = nowNanos;
            }
            return round;
        }

        void ended(int begunInRound, long nowNanos) {
            count(nowNanos);
            if (begunInRound == round) {
                counting--;
            }
        }

        /** However long they go on, those that run count for no more. */
        void stopCounting() {
            counting = 0;
            round++;
        }
    }

    /** Those that wait, who has had least first, and behind all others who runs as many calls as it may. */
    private static final class Turns<T extends Peer> {

        private final PriorityQueue<T> waiting = new PriorityQueue<>(
                Comparator.<T>comparingInt(peer -> peer.full ? 1 : 0).thenComparingLong(peer -> peer.usedNanos)
                        .thenComparingLong(peer -> peer.ticket));
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

        /** Whose turn it is; {@code null} if none waits that may run a call. */
        T first(long nowNanos) {
            for (T first = waiting.peek(); first != null && !first.full; first = waiting.peek()) {
                first.count(nowNanos);
                if (first.addedNanos == 0) {
                    return first;
                }
                add(waiting.poll());
            }
            return null;
        }

        /** The first has had its turn, and does not wait until it is added again. */
        void taken() {
            servedNanos = waiting.poll().usedNanos;
        }
    }

    /** The connections of one address. */
    private static final class Address extends Peer {

        private final PeerAddress key;
        private final Turns<Connection> turns = new Turns<>();
        private int connections;
        /** How many calls of it wait, and how many run. */
        private int calls;
        private int running;

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

        /**
         * Lets a call wait.
         *
         * @return whether the executor has to get a task for it; else the end of another one, which runs, is enough
         */
        boolean add(ServedCall call) {
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
                    CallTurns.this.calls++;
                    withoutTask += address.full ? 1 : 0;
                    return !address.full;
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
                boolean waits = address.full && turns.waiting.remove(address);
                address.running--;
                address.full = false;
                if (waits) {
                    turns.add(address); // where there is room, as it was there
                }
                forgetIfUnused(address);
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
                CallTurns.this.calls--;
                withoutTask = Math.min(withoutTask, CallTurns.this.calls);
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
         * of the address with most, which waits no longer. {@code null} if none waits. Calls of addresses that may run no more
         * have no task that another one could run by. Where only such ones wait, a thread that was there for them has run the one
         * without a task, and the next that ends a call runs one of them instead.
         */
        ServedCall removeOneTooMany() {
            synchronized (CallTurns.this) {
                Address most = address;
                for (Address other : turns.waiting) {
                    most = !other.full && other.calls > most.calls ? other : most;
                }
                Connection busiest = most == address ? this : most.turns.waiting.peek();
                for (Connection other : most.turns.waiting) {
                    busiest = other.calls.size() > busiest.calls.size() ? other : busiest;
                }
                ServedCall refused = busiest.removeNewest();
                if (refused == null) {
                    withoutTask = Math.min(withoutTask + 1, CallTurns.this.calls);
                }
                return refused;
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
                forgetIfUnused(address);
            }
        }
    }
}
