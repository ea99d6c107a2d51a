package org.nettyrdma.channel;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** What a device or a peer may touch for ever; nobody may free it, not even the garbage collector. */
final class LostMemory {

    private static final Queue<Object> LOST = new ConcurrentLinkedQueue<>();

    private LostMemory() {
    }

    static void keep(Object memory) {
        LOST.add(memory);
    }

    /** Visible for tests: how much there is of it. */
    static int size() {
        return LOST.size();
    }
}
