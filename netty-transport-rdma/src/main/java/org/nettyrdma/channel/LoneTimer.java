package org.nettyrdma.channel;

import io.netty.util.concurrent.EventExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Something that an event loop does later, for which there is one timer at most. Event loop only. */
final class LoneTimer {

    private static final Logger LOGGER = LoggerFactory.getLogger(LoneTimer.class);

    private final EventExecutor loop;
    private final long delayMillis;
    private final Runnable task;
    private boolean set;

    LoneTimer(EventExecutor loop, long delayMillis, Runnable task) {
        this.loop = loop;
        this.delayMillis = delayMillis;
        this.task = task;
    }

    boolean isSet() {
        return set;
    }

    /** Sets the timer unless it is set; {@code false} if it could not be set, for want of memory, and is to be set again. */
    boolean set() {
        if (!set) {
            try {
                loop.schedule(this::run, delayMillis, TimeUnit.MILLISECONDS);
                set = true; // not before there is something that takes it back
            } catch (OutOfMemoryError e) {
                LOGGER.debug("A timer cannot be set", e);
            }
        }
        return set;
    }

    private void run() {
        set = false;
        task.run();
    }
}
