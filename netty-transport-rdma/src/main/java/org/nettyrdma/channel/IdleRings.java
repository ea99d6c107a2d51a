package org.nettyrdma.channel;

import io.netty.util.concurrent.EventExecutor;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;

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

    private final LoneTimer timer;
    private Set<Owner> recent = new HashSet<>();
    private Set<Owner> earlier = new HashSet<>();

    IdleRings(EventExecutor loop) {
        timer = new LoneTimer(loop, TimeUnit.SECONDS.toMillis(PERIOD_SECONDS), this::look);
    }

    /** The peer has filled a part of a ring. */
    void used(Owner owner) {
        recent.add(owner);
        timer.set();
    }

    void ended(Owner owner) {
        recent.remove(owner);
        earlier.remove(owner);
    }

    /** Has those shrink that were not used since the last time. */
    void look() {
        Set<Owner> next = new HashSet<>(); // first, or there would be memory for a part of this
        earlier.removeAll(recent);
        Set<Owner> idle = earlier;
        earlier = recent;
        recent = next;
        if (!earlier.isEmpty()) {
            timer.set();
        }
        idle.forEach(Owner::shrink);
    }
}
