package org.nettyrdma.verbs.support;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Whether an event loop runs or sleeps, so that waking it takes a system call only where it sleeps. The loop calls
 * {@link #beginSleep} before it sleeps and {@link #endSleep} afterwards; any thread may call {@link #wake}.
 */
public final class WakeState {

    /** The loop runs and nobody has asked to wake it. */
    private static final int AWAKE = 0;
    /** The loop sleeps, or is about to: waking it takes a system call. */
    private static final int ASLEEP = 1;
    /** Somebody has asked to wake the loop. */
    private static final int WOKEN = 2;

    private final AtomicInteger state = new AtomicInteger(AWAKE);

    /** Creates the state of a loop that runs. */
    public WakeState() {
        // See above.
    }

    /**
     * The loop is about to sleep.
     *
     * @return {@code false} if it must not, as somebody has asked to wake it
     */
    public boolean beginSleep() {
        return state.compareAndSet(AWAKE, ASLEEP);
    }

    /** The loop runs again, also if it was not to sleep; whoever has asked to wake it has got that. */
    public void endSleep() {
        state.set(AWAKE);
    }

    /**
     * Asks to wake the loop. Any thread.
     *
     * @return whether it sleeps, so that the caller has to end that
     */
    public boolean wake() {
        return state.getAndSet(WOKEN) == ASLEEP;
    }
}
