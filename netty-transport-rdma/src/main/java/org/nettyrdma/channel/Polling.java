package org.nettyrdma.channel;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicLong;
import org.nettyrdma.verbs.CompletionHandler;
import org.nettyrdma.verbs.VerbsContext;

/**
 * How an event loop polls a context for work, waits for it by its {@link IdleStrategy}, and is woken. The thread of the event
 * loop only, but where it says otherwise.
 */
final class Polling {

    /** Completions taken from the device before the channels get their turn. */
    private static final int MAX_COMPLETIONS_PER_POLL = 256;

    /** Whoever yields for longer has given the processor to another thread. Alone it takes less than a microsecond. */
    private static final long LONGEST_LONE_YIELD_NANOS = 3_000;

    private static final long AWAKE = -1;
    private static final long NO_DEADLINE = Long.MAX_VALUE;

    private final RdmaIoHost host;
    private final IdleStrategy idleStrategy;
    private final CompletionHandler completions;
    private final WaitPolicy waitPolicy = new WaitPolicy();
    private final LoopsAtWork.Loop loop;
    private long exhaustivePolls;
    private int workSinceWait;
    private long waitedNanos;
    private boolean contended; // the last time that it polled before going to sleep

    /** {@link #AWAKE}, or while the loop sleeps or is about to, when it will wake by itself. Guards against needless wake-ups. */
    private final AtomicLong nextWakeupNanos = new AtomicLong(AWAKE);

    /** Woken, perhaps for something that the event loop does not know of: a wait ends, or the next one is left out. */
    private volatile boolean woken;

    Polling(RdmaIoHost host, IdleStrategy idleStrategy, CompletionHandler completions, LoopsAtWork loopsAtWork) {
        this.host = host;
        this.idleStrategy = idleStrategy;
        this.completions = completions;
        loop = loopsAtWork.new Loop();
    }

    int poll(VerbsContext context) throws IOException {
        int work = context.poll(completions, MAX_COMPLETIONS_PER_POLL);
        workSinceWait += work;
        exhaustivePolls += work < MAX_COMPLETIONS_PER_POLL ? 1 : 0;
        return work;
    }

    /** The event loop has ended. */
    void end() {
        loop.ends();
    }

    /** How many polls have delivered everything there was. */
    long exhaustivePolls() {
        return exhaustivePolls;
    }

    /** How long it has waited in all. */
    long waitedNanos() {
        return waitedNanos;
    }

    /**
     * Waits if it may, unless the event loop has tasks, or was woken since the last call. Returns what polling has found, 0 if it
     * is still to be polled.
     */
    int await(VerbsContext context, boolean mayWait) throws IOException {
        boolean wasWoken = woken;
        if (wasWoken) {
            woken = false; // whoever wakes it behind this meets a loop that goes on
        }
        if (wasWoken || !mayWait || !host.canBlock()) {
            return 0;
        }
        int work = workSinceWait;
        workSinceWait = 0;
        int found = 0;
        long deadlineNanos = host.deadlineNanos();
        long startNanos = System.nanoTime();
        switch (idleStrategy) {
            case ADAPTIVE -> {
                waitPolicy.waits(loop.rests(), work);
                contended = false;
                if (waitPolicy.spinNanos() > 0) {
                    long delayNanos = deadlineNanos == -1 ? NO_DEADLINE : host.delayNanos();
                    found = spin(context, startNanos, Math.min(delayNanos, waitPolicy.spinNanos()));
                }
                if (found == 0 && host.canBlock()) {
                    sleep(context, deadlineNanos);
                }
            }
            case BLOCKING -> {
                loop.rests();
                sleep(context, deadlineNanos);
            }
            case BUSY_POLL -> Thread.onSpinWait();
        }
        loop.works();
        woken = false;
        long nanos = System.nanoTime() - startNanos;
        waitedNanos += nanos;
        if (idleStrategy == IdleStrategy.ADAPTIVE) {
            waitPolicy.waited(nanos, contended);
        }
        return found;
    }

    /** Polls for a while, as long as no other thread wants this processor; returns what that has found. */
    private int spin(VerbsContext context, long startNanos, long budgetNanos) throws IOException {
        int found = poll(context);
        long nowNanos = found == 0 ? System.nanoTime() : startNanos;
        while (found == 0 && !contended && !woken && host.canBlock() && nowNanos - startNanos < budgetNanos) {
            Thread.yield(); // the peer may be waiting for this very processor
            long resumedNanos = System.nanoTime();
            contended = resumedNanos - nowNanos > LONGEST_LONE_YIELD_NANOS;
            found = poll(context);
            nowNanos = System.nanoTime();
        }
        return found;
    }

    private void sleep(VerbsContext context, long deadlineNanos) throws IOException {
        nextWakeupNanos.set(deadlineNanos == -1 ? NO_DEADLINE : deadlineNanos);
        try {
            // Look again after telling that we sleep: who submits a task from now on wakes us.
            if (!woken && host.canBlock()) {
                long delayNanos = deadlineNanos == -1 ? -1 : host.delayNanos();
                if (delayNanos != 0) {
                    context.await(delayNanos);
                }
            }
        } finally {
            nextWakeupNanos.lazySet(AWAKE); // seen late it costs one needless wake-up
        }
    }

    /** Whether waits are spent polling, as far as that was found to be better, and nobody else wants the processor. */
    boolean isPreferred() {
        return switch (idleStrategy) {
            case ADAPTIVE -> waitPolicy.prefersSpinning() && !contended;
            case BLOCKING -> false;
            case BUSY_POLL -> true;
        };
    }

    /** Whether the loop sleeps or is about to, and nobody else wakes it: whoever is told so does. Any thread. */
    boolean isToBeWoken() {
        woken = true; // first: the loop looks at it when it has told that it sleeps
        return nextWakeupNanos.getAndSet(AWAKE) != AWAKE;
    }

    /** Whether the loop is awake at a time of the event loop's clock without being woken. Any thread. */
    boolean endsBefore(long deadlineNanos) {
        return deadlineNanos >= nextWakeupNanos.get(); // also right when awake
    }
}
