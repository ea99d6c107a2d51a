package org.nettyrdma.verbs.support;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;

/**
 * What a context in software is made of: sockets, timers, what is to be delivered and to be done, and its sleep. Contexts of two
 * kinds can stand on one, and are then one to their event loop. Used by one event loop only, but for {@link #wakeup} and
 * {@link #execute}.
 */
public final class LoopCore {

    /** About half a megabyte, and more work requests than a busy loop has under way. */
    private static final int MAX_IDLE_SLOTS = 4096;

    private final TimerQueue timers;
    private final DeliveryRing deliveries = new DeliveryRing();
    private final DeferredTasks deferred = new DeferredTasks();
    private final Pool<SendSlot> slotPool = new Pool<>(SendSlot::new, MAX_IDLE_SLOTS);
    private final WakeState wakeState = new WakeState();
    private final IntSupplier steeringTagGenerator;
    /** Whether the last progress was to deliver only. */
    private boolean socketsSkipped;
    private final List<Runnable> closers = new ArrayList<>();
    /** Made before there is no memory for it. */
    private final Closing closing = new Closing();
    private final ReadySockets sockets;

    /**
     * Opens the selector.
     *
     * @param nanoClock            as {@link System#nanoTime}
     * @param steeringTagGenerator makes tags that no peer can guess, never 0
     * @throws IOException if the system has no descriptor for the selector
     */
    public LoopCore(LongSupplier nanoClock, IntSupplier steeringTagGenerator) throws IOException {
        timers = new TimerQueue(nanoClock);
        this.steeringTagGenerator = steeringTagGenerator;
        DirectMemory.prepare();
        sockets = new ReadySockets(); // last, since it has to be closed
    }

    /**
     * The sockets.
     *
     * @return always the same
     */
    public ReadySockets sockets() {
        return sockets;
    }

    /**
     * What is to happen later.
     *
     * @return always the same
     */
    public TimerQueue timers() {
        return timers;
    }

    /**
     * What the user is to be told.
     *
     * @return always the same
     */
    public DeliveryRing deliveries() {
        return deliveries;
    }

    /**
     * What is to run at the start of the next poll.
     *
     * @return always the same
     */
    public DeferredTasks deferred() {
        return deferred;
    }

    /**
     * Room for work requests.
     *
     * @return always the same
     */
    public Pool<SendSlot> slotPool() {
        return slotPool;
    }

    /**
     * Makes steering tags.
     *
     * @return always the same
     */
    public IntSupplier steeringTagGenerator() {
        return steeringTagGenerator;
    }

    /**
     * Sleeps, as {@link org.nettyrdma.verbs.VerbsContext#await} says.
     *
     * @param timeoutNanos longest time to sleep; negative for no limit
     * @param fallAsleep   asked directly before; {@code false} if there is something to do after all
     * @throws IOException if the selector fails
     */
    public void await(long timeoutNanos, BooleanSupplier fallAsleep) throws IOException {
        if (hasWork()) {
            return;
        }
        if (wakeState.beginSleep()) {
            long limitNanos = timers.limitNanos(timeoutNanos);
            if (limitNanos > 0 && fallAsleep.getAsBoolean()) {
                sockets.await(limitNanos == Long.MAX_VALUE ? 0 : 1 + TimeUnit.NANOSECONDS.toMillis(limitNanos - 1));
            }
        }
        wakeState.endSleep();
    }

    /**
     * Lets ready sockets make progress. Every other time it leaves them out where there is something to deliver: what was posted
     * since the last round is often done already, and its completions take no system call then.
     *
     * @return the amount of progress made
     * @throws IOException if the selector fails
     */
    public int progress() throws IOException {
        socketsSkipped = !socketsSkipped && !deliveries.isEmpty();
        return socketsSkipped ? 0 : sockets.progress();
    }

    /**
     * Whether there is something to do without looking for ready sockets.
     *
     * @return {@code true} if so
     */
    public boolean hasWork() {
        return !deliveries.isEmpty() || !deferred.isEmpty() || sockets.hasWork();
    }

    /** Ends the current or the next sleep. Any thread. */
    public void wakeup() {
        if (wakeState.wake()) {
            sockets.wakeup();
        }
    }

    /**
     * Has something done by the event loop of this, soon; not at all if it ends before. Any thread.
     *
     * @param task what to do
     */
    public void execute(Runnable task) {
        sockets.atNextProgress(task);
        wakeup();
    }

    /**
     * Has something done before the sockets are closed.
     *
     * @param closer closes what stands on the sockets
     */
    public void beforeClose(Runnable closer) {
        closers.add(closer);
    }

    /** Closes what stands on the sockets, and then these; does nothing if that was done. */
    public void close() {
        if (sockets.isOpen()) {
            closing.all(closers, Runnable::run);
            closing.step(sockets, ReadySockets::close);
            closing.end();
        }
    }
}
