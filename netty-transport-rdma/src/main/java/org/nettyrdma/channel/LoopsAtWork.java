package org.nettyrdma.channel;

import io.netty.util.NettyRuntime;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Counts the event loops that are at work, that is neither asleep nor polling for work; those that never sleep always are.
 * While there are as many as processors, who polls takes a processor from one of them.
 *
 * <p>Nothing is counted while there are no more loops than processors, since each wait would pay for a line of memory that all
 * loops write.
 */
final class LoopsAtWork {

    /** The event loops of this process. */
    static final LoopsAtWork OF_PROCESS = new LoopsAtWork(NettyRuntime.availableProcessors());

    private final int processors;
    private final AtomicInteger loops = new AtomicInteger();
    private final AtomicInteger atWork = new AtomicInteger();

    LoopsAtWork(int processors) {
        this.processors = processors;
    }

    /** An event loop, which is at work from its first wait on. The thread of that loop only. */
    final class Loop {

        private boolean begun;
        private boolean counted;

        /** Is about to wait. Returns whether as many other loops as there are processors are at work. */
        boolean rests() {
            begin();
            if (counted) {
                counted = false;
                atWork.decrementAndGet();
            }
            return atWork.get() >= processors;
        }

        /** Has waited. */
        void works() {
            begin();
            if (!counted && loops.get() > processors) {
                counted = true;
                atWork.incrementAndGet();
            }
        }

        private void begin() {
            if (!begun) {
                begun = true;
                loops.incrementAndGet();
            }
        }

        /** Has ended. */
        void ends() {
            rests();
            begun = false;
            loops.decrementAndGet();
        }
    }
}
