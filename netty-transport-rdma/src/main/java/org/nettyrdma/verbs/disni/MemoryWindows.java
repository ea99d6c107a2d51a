package org.nettyrdma.verbs.disni;

import java.io.IOException;
import java.util.ArrayDeque;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Memory windows that are open to nobody, to be bound again.
 */
final class MemoryWindows implements AutoCloseable {

    private static final Logger LOGGER = LoggerFactory.getLogger(MemoryWindows.class);

    private static final int MAX_IDLE = 1024;

    private final long protectionDomain;
    private final ArrayDeque<Long> idle = new ArrayDeque<>();

    MemoryWindows(long protectionDomain) {
        this.protectionDomain = protectionDomain;
    }

    long take() throws IOException {
        Long window = idle.pollLast();
        return window != null ? window : NativeExtensions.allocateMemoryWindow(protectionDomain);
    }

    /** Takes back a window that was invalidated. */
    void give(long window) {
        if (idle.size() < MAX_IDLE) {
            idle.addLast(window);
        } else {
            free(window);
        }
    }

    /** Frees a window that may be bound: that closes it. */
    void free(long window) {
        try {
            NativeExtensions.deallocateMemoryWindow(window);
        } catch (IOException e) {
            LOGGER.debug("A memory window is not freed", e); // the device has gone
        }
    }

    @Override
    public void close() {
        while (!idle.isEmpty()) {
            free(idle.remove());
        }
    }
}
