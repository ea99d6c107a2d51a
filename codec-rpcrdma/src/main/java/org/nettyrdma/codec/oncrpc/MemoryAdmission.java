package org.nettyrdma.codec.oncrpc;

import java.net.SocketAddress;
import java.util.LinkedList;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.nettyrdma.handler.credit.support.WaitTimes;

/**
 * Admits the calls of one connection as memory allows: first the memory of the connection, then its share of the memory of all
 * connections. Calls wait in order. Only the first of them waits for the memory of all connections, so that a connection with
 * many calls gets no more turns than one with few. Event loop only.
 *
 * <p>A call that alone is larger than the memory of the connection is admitted when no other call is in progress. So too small a
 * value makes a connection slow, but does not stop it.
 */
public final class MemoryAdmission {

    /** A call that needs memory. */
    public interface Candidate {

        /**
         * How much it needs.
         *
         * @return bytes, constant
         */
        long bytes();

        /** It has the memory; {@link MemoryAdmission#release} has to follow. */
        void admitted();

        /** It will never be admitted: the connection has ended. */
        void dropped();
    }

    private final MemoryBudget total;
    private final long maxBytes;
    private final Executor executor;
    private final Supplier<SocketAddress> peer;
    private final Runnable admittedLate;
    /** Not an array: where one cannot grow for want of memory, it loses what is in it. */
    private final Queue<Waiting> waiting = new LinkedList<>();
    private long usedBytes;

    /** A candidate, and since when it waits. */
    private record Waiting(Candidate candidate, WaitTimes.Wait time) {
    }

    /** {@code null} before the first call, as the peer of a connection need not be known earlier. */
    private MemoryBudget.Share share;
    /** The call that the share waits for, or {@code null} if it waits for nothing. */
    private Candidate claimant;
    private boolean admitting;
    private boolean closed;

    /**
     * Creates the admission of one connection, which {@link #close} ends.
     *
     * @param total        the memory of all connections
     * @param maxBytes     the memory of this connection
     * @param executor     the connection's event loop
     * @param peer         tells the peer's address when the first call comes
     * @param admittedLate runs after calls that waited were admitted, for example to flush
     */
    public MemoryAdmission(MemoryBudget total, long maxBytes, Executor executor, Supplier<SocketAddress> peer,
                         Runnable admittedLate) {
        this.total = total;
        this.maxBytes = maxBytes;
        this.executor = executor;
        this.peer = peer;
        this.admittedLate = admittedLate;
    }

    /**
     * Whether a call of that size can ever be admitted.
     *
     * @param bytes what a call needs
     * @return whether it is no more than all memory
     */
    public boolean isPossible(long bytes) {
        return bytes <= total.maxBytes();
    }

    /**
     * Memory of the connection that no call holds. All connections together may have less left.
     *
     * @return bytes, less than 0 while a call is in progress that alone has more
     */
    public long leftBytes() {
        return maxBytes - usedBytes;
    }

    /**
     * Whether a call has memory.
     *
     * @return whether there is something to give back
     */
    public boolean holdsMemory() {
        return usedBytes > 0;
    }

    /**
     * How many calls wait.
     *
     * @return their number
     */
    public int waiting() {
        return waiting.size();
    }

    /**
     * Admits a call now or later, or drops it if the connection has ended. Its size must be {@linkplain #isPossible possible}.
     *
     * @param candidate the call; it does not wait where this method throws
     * @return whether it was admitted before this method returned
     */
    public boolean admit(Candidate candidate) {
        if (closed) {
            candidate.dropped();
            return false;
        }
        if (tryAdmit(candidate.bytes())) {
            candidate.admitted();
            return true;
        }
        waiting.add(new Waiting(candidate, total.waitTimes().begin()));
        try {
            admitWaiting();
        } catch (Throwable t) { // of a call before it, for instance; this one is its caller's again
            forget(candidate);
            throw t;
        }
        return false;
    }

    /**
     * Admits a call at once if it need not wait.
     *
     * @param bytes what it needs
     * @return whether it has the memory, and {@link #release} has to follow
     */
    public boolean tryAdmit(long bytes) {
        if (closed || !waiting.isEmpty() || !hasRoom(bytes) || !share().tryTake(bytes)) {
            return false;
        }
        usedBytes += bytes;
        return true;
    }

    private MemoryBudget.Share share() {
        if (share == null) {
            share = total.open(peer.get(), executor, this::granted);
        }
        return share;
    }

    /**
     * Takes back a call that waits.
     *
     * @param candidate the call
     * @return whether it was still waiting; it is neither admitted nor dropped then
     */
    public boolean remove(Candidate candidate) {
        if (!forget(candidate)) {
            return false;
        }
        admitWaiting();
        return true;
    }

    private boolean forget(Candidate candidate) {
        if (!waiting.removeIf(each -> each.candidate == candidate && ended(each))) {
            return false;
        }
        if (candidate == claimant && share.withdraw()) {
            claimant = null;
        }
        return true;
    }

    /**
     * Gives back the memory of an admitted call that has ended.
     *
     * @param bytes what it had; nothing happens for none
     */
    public void release(long bytes) {
        if (closed || bytes == 0) {
            return; // all was given back at once
        }
        usedBytes -= bytes;
        share.release(bytes);
        admitWaiting();
    }

    private boolean ended(Waiting each) {
        each.time.end(peer);
        return true;
    }

    private Candidate poll() {
        Waiting first = waiting.poll();
        if (first == null) {
            return null;
        }
        ended(first);
        return first.candidate;
    }

    private Candidate peek() {
        Waiting first = waiting.peek();
        return first == null ? null : first.candidate;
    }

    private boolean hasRoom(long bytes) {
        return usedBytes == 0 || usedBytes + bytes <= maxBytes;
    }

    private void start(Candidate candidate) {
        usedBytes += candidate.bytes();
        candidate.admitted(); // last: it may end at once, and then comes back to release()
    }

    private void admitWaiting() {
        if (admitting) {
            return; // called from within the loop below, which sees what has changed
        }
        boolean late = false;
        admitting = true;
        try {
            for (Candidate first = peek(); first != null && claimant == null && hasRoom(first.bytes());
                    first = peek()) {
                if (share().tryTake(first.bytes())) {
                    poll();
                    start(first);
                    late = true;
                } else {
                    claimant = first; // before, as it may be granted at once; then the next one is looked at
                    share.claim(first.bytes());
                }
            }
        } finally {
            admitting = false;
        }
        if (late) {
            admittedLate.run();
        }
    }

    private void granted() {
        if (closed) {
            return;
        }
        Candidate candidate = claimant;
        claimant = null;
        if (peek() == candidate) {
            poll();
            start(candidate);
            admittedLate.run();
        } else { // it was taken back when its turn had come
            share.release(candidate.bytes());
        }
        admitWaiting();
    }

    /** Ends the admission with its connection: gives back the memory of its calls, and drops the calls that wait. */
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        if (share != null) {
            share.close();
        }
        usedBytes = 0;
        for (Candidate candidate = poll(); candidate != null; candidate = poll()) {
            candidate.dropped();
        }
    }
}
