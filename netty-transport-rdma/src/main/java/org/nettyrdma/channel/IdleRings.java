package org.nettyrdma.channel;

import io.netty.util.concurrent.EventExecutor;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Finds the streams of an event loop whose ring has grown, and of whose ring the peer has filled no part for a while. One timer
 * serves all of them, and none while there are none. Event loop only.
 */
final class IdleRings {

    /** A ring is idle after one to two of these. */
    static final int PERIOD_SECONDS = 10;

    /** Whoever has a ring. */
    interface Owner {

        /** The ring was not used for a while. */
        void shrink();
    }

    private final EventExecutor loop;
    private Set<Owner> recent = new HashSet<>();
    private Set<Owner> earlier = new HashSet<>();
    private boolean scheduled;

    IdleRings(EventExecutor loop) {
        this.loop = loop;
    }

    /** The peer has filled a part of a ring. */
    void used(Owner owner) {
        recent.add(owner);
        schedule();
    }

    void ended(Owner owner) {
        recent.remove(owner);
        earlier.remove(owner);
    }

    private void schedule() {
        if (!scheduled) {
            scheduled = true;
            loop.schedule(this::look, PERIOD_SECONDS, TimeUnit.SECONDS);
        }
    }

    /** Has those shrink that were not used since the last time. */
    void look() {
        scheduled = false;
        earlier.removeAll(recent);
        Set<Owner> idle = earlier;
        earlier = recent;
        recent = new HashSet<>();
        if (!earlier.isEmpty()) {
            schedule();
        }
        idle.forEach(Owner::shrink);
    }
}
