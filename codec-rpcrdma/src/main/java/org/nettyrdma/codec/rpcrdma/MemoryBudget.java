package org.nettyrdma.codec.rpcrdma;

import io.netty.util.concurrent.EventExecutor;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A number of bytes that the connections of all event loops share. Whoever finds too few left makes a {@link Claim}; claims
 * are met strictly in the order in which they were made, so that a large one is not overtaken for ever by small ones. Any
 * thread; nobody ever blocks.
 */
final class MemoryBudget {

    private final long maxBytes;
    private final AtomicLong usedBytes = new AtomicLong();
    private final Queue<Claim> waiting = new ConcurrentLinkedQueue<>();
    /** Requests to look at the queue; whoever raises it from 0 looks, also on behalf of those who come meanwhile. */
    private final AtomicInteger wakeUps = new AtomicInteger();

    /**
     * @param maxBytes how much there is, more than 0
     */
    MemoryBudget(long maxBytes) {
        this.maxBytes = maxBytes;
    }

    long maxBytes() {
        return maxBytes;
    }

    /** Bytes that are taken now. */
    long usedBytes() {
        return usedBytes.get();
    }

    /** Claims that wait now. */
    int waiting() {
        return waiting.size();
    }

    /**
     * Takes bytes if there are enough and nobody waits for some.
     *
     * @return whether they were taken; then {@link #release} has to follow
     */
    boolean tryTake(long bytes) {
        return waiting.isEmpty() && take(bytes);
    }

    private boolean take(long bytes) {
        long used = usedBytes.get();
        while (used + bytes <= maxBytes) {
            if (usedBytes.compareAndSet(used, used + bytes)) {
                return true;
            }
            used = usedBytes.get();
        }
        return false;
    }

    /** Gives bytes back. */
    void release(long bytes) {
        usedBytes.addAndGet(-bytes);
        meetClaims();
    }

    /**
     * Waits in line.
     *
     * @param bytes    how many, at most {@link #maxBytes()}
     * @param executor runs {@code met}, never before this method returns
     * @param met      is run once, when the bytes were taken, unless the claim was withdrawn; {@link #release} has to follow
     */
    Claim claim(long bytes, EventExecutor executor, Runnable met) {
        Claim claim = new Claim(this, bytes, executor, met);
        waiting.add(claim);
        meetClaims(); // what was released after the caller had looked would wake nobody else
        return claim;
    }

    private void meetClaims() {
        if (wakeUps.getAndIncrement() != 0) {
            return;
        }
        int seen = 1;
        do {
            for (Claim first = waiting.peek(); first != null && take(first.bytes); first = waiting.peek()) {
                waiting.remove(first); // by name: it may have been withdrawn, and another be the first
                if (!first.meet()) {
                    usedBytes.addAndGet(-first.bytes);
                }
            }
            seen = wakeUps.addAndGet(-seen);
        } while (seen != 0);
    }

    /** A place in the line. */
    static final class Claim {

        private enum State { WAITING, MET, WITHDRAWN }

        private final AtomicReference<State> state = new AtomicReference<>(State.WAITING);
        private final MemoryBudget budget;
        private final long bytes;
        private final EventExecutor executor;
        private final Runnable met;

        private Claim(MemoryBudget budget, long bytes, EventExecutor executor, Runnable met) {
            this.budget = budget;
            this.bytes = bytes;
            this.executor = executor;
            this.met = met;
        }

        long bytes() {
            return bytes;
        }

        /** Returns whether the bytes have found an owner. */
        private boolean meet() {
            if (!state.compareAndSet(State.WAITING, State.MET)) {
                return false;
            }
            try {
                executor.execute(met);
                return true;
            } catch (RejectedExecutionException e) {
                return false; // the event loop has shut down, and its connections are closed
            }
        }

        /**
         * Leaves the line.
         *
         * @return {@code false} if it is too late: the task runs, or has run
         */
        boolean withdraw() {
            if (!state.compareAndSet(State.WAITING, State.WITHDRAWN)) {
                return false;
            }
            budget.waiting.remove(this);
            budget.meetClaims(); // the next one may need less
            return true;
        }
    }
}
