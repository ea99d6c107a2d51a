package org.nettyrdma.channel;

import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds the streams of an event loop whose ring has grown, and of whose ring the peer has filled no part for a while. One timer
 * serves all of them, and none while there are none; where there is no memory for it, it is set when a ring is used again. Event
 * loop only.
 */
final class IdleRings {

    /** A ring is idle after one to two of these. */
    static final int PERIOD_SECONDS = 10;

    /** Whoever has a ring. */
    interface Owner {

        /** The ring was not used for a while. */
        void shrink();
    }

    private static final Logger LOGGER = LoggerFactory.getLogger(IdleRings.class);

    private final EventExecutor loop;
    /** Looks again and again, for which it takes no memory; {@code null} before the first ring. */
    private Future<?> timer;
    private Set<Owner> recent = new HashSet<>();
    private Set<Owner> earlier = new HashSet<>();

    IdleRings(EventExecutor loop) {
        this.loop = loop;
    }

    /** The peer has filled a part of a ring. */
    void used(Owner owner) {
        recent.add(owner);
        if (timer == null || timer.isDone()) {
            try {
                timer = loop.scheduleWithFixedDelay(this::look, PERIOD_SECONDS, PERIOD_SECONDS, TimeUnit.SECONDS);
            } catch (OutOfMemoryError e) {
                LOGGER.debug("The timer for idle rings cannot be set", e);
            }
        }
    }

    void ended(Owner owner) {
        recent.remove(owner);
        earlier.remove(owner);
    }

    /** Has those shrink that were not used since the last time. Those for which there is no memory are left to the next time. */
    void look() {
        try {
            earlier.removeAll(recent);
            for (Iterator<Owner> idle = earlier.iterator(); idle.hasNext(); idle.remove()) {
                idle.next().shrink();
            }
        } catch (OutOfMemoryError e) {
            return;
        }
        Set<Owner> none = earlier;
        earlier = recent;
        recent = none;
        if (earlier.isEmpty() && timer != null) {
            timer.cancel(false);
        }
    }
}
