package org.nettyrdma.codec.rpcrdma;

import io.netty.util.concurrent.EventExecutor;
import java.util.ArrayDeque;
import java.util.Queue;

/**
 * Admits the calls of one connection as memory allows: first that of the connection, then that of all connections. Calls
 * wait in order, and only the first of them waits for the memory of all, so that a connection with many calls gets no more
 * turns than one with few. A call that waits holds no memory but its message. Event loop only.
 *
 * <p>A call that alone is larger than the connection's memory is admitted when no other one is in progress: too small a
 * value makes a connection slow, and does not stop it.
 */
final class CallAdmission {

    /** A call that needs memory. */
    interface Candidate {

        /** How much it needs, in bytes; constant. */
        long bytes();

        /** It has the memory; {@link CallAdmission#release} has to follow. */
        void admitted();

        /** It will never be admitted: the connection has ended. */
        void dropped();
    }

    private final MemoryBudget total;
    private final long maxBytes;
    private final EventExecutor executor;
    private final Runnable admittedLate;
    private final Queue<Candidate> waiting = new ArrayDeque<>();
    private long usedBytes;
    /** The place in the line for {@link #claimant}, or {@code null} if nobody stands there. */
    private MemoryBudget.Claim claim;
    private Candidate claimant;
    private boolean admitting;
    private boolean closed;

    /**
     * @param total        the memory of all connections
     * @param maxBytes     the memory of this connection
     * @param executor     the connection's event loop
     * @param admittedLate runs after calls that waited were admitted, for example to flush
     */
    CallAdmission(MemoryBudget total, long maxBytes, EventExecutor executor, Runnable admittedLate) {
        this.total = total;
        this.maxBytes = maxBytes;
        this.executor = executor;
        this.admittedLate = admittedLate;
    }

    /** Whether that much can ever be had. */
    boolean isPossible(long bytes) {
        return bytes <= total.maxBytes();
    }

    /** How many calls wait. */
    int waiting() {
        return waiting.size();
    }

    /**
     * Admits a call now or later, or drops it if the connection has ended. What it needs must be
     * {@linkplain #isPossible possible}.
     *
     * @return whether it was admitted before this method returned
     */
    boolean admit(Candidate candidate) {
        if (closed) {
            candidate.dropped();
            return false;
        }
        if (tryAdmit(candidate.bytes())) {
            candidate.admitted();
            return true;
        }
        waiting.add(candidate);
        admitWaiting();
        return false;
    }

    /**
     * Admits a call at once if it need not wait.
     *
     * @return whether it has the memory, and {@link #release} has to follow
     */
    boolean tryAdmit(long bytes) {
        if (closed || !waiting.isEmpty() || !hasRoom(bytes) || !total.tryTake(bytes)) {
            return false;
        }
        usedBytes += bytes;
        return true;
    }

    /**
     * Takes back a call that waits.
     *
     * @return whether it was still waiting; it is neither admitted nor dropped then
     */
    boolean remove(Candidate candidate) {
        if (!waiting.remove(candidate)) {
            return false;
        }
        if (candidate == claimant && claim.withdraw()) {
            forgetClaim();
        }
        admitWaiting();
        return true;
    }

    /** A call that was admitted has ended, and its memory is free. */
    void release(long bytes) {
        if (closed || bytes == 0) {
            return; // all was given back at once
        }
        usedBytes -= bytes;
        total.release(bytes);
        admitWaiting();
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
            for (Candidate first = waiting.peek(); first != null && claim == null && hasRoom(first.bytes()); first = waiting.peek()) {
                if (!total.tryTake(first.bytes())) {
                    claimant = first;
                    claim = total.claim(first.bytes(), executor, this::claimMet);
                    break;
                }
                waiting.remove();
                start(first);
                late = true;
            }
        } finally {
            admitting = false;
        }
        if (late) {
            admittedLate.run();
        }
    }

    private void claimMet() {
        long bytes = claim.bytes();
        Candidate candidate = claimant;
        forgetClaim();
        if (closed || waiting.peek() != candidate) { // it was taken back when its turn had come
            total.release(bytes);
        } else {
            waiting.remove();
            start(candidate);
            admittedLate.run();
        }
        admitWaiting();
    }

    private void forgetClaim() {
        claim = null;
        claimant = null;
    }

    /** The connection has ended: gives back what its calls have, and drops those that wait. */
    void close() {
        if (closed) {
            return;
        }
        closed = true;
        if (claim != null && claim.withdraw()) {
            forgetClaim();
        }
        total.release(usedBytes);
        usedBytes = 0;
        for (Candidate candidate = waiting.poll(); candidate != null; candidate = waiting.poll()) {
            candidate.dropped();
        }
    }
}
