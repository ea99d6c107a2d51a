package org.nettyrdma.verbs.disni;

import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Memory windows that are open to nobody, to be bound again. */
final class MemoryWindows implements AutoCloseable {

    private static final Logger LOGGER = LoggerFactory.getLogger(MemoryWindows.class);

    private static final int MAX_IDLE = 1024;

    /** Where windows come from and go to. */
    interface Source {

        long allocate() throws IOException;

        void deallocate(long window) throws IOException;
    }

    private final Source source;
    private final long[] idle = new long[MAX_IDLE];
    private int idleCount;

    MemoryWindows(Source source) {
        this.source = source;
    }

    MemoryWindows(long protectionDomain) {
        this(new Source() {
            @Override
            public long allocate() throws IOException {
                return NativeExtensions.allocateMemoryWindow(protectionDomain);
            }

            @Override
            public void deallocate(long window) throws IOException {
                NativeExtensions.deallocateMemoryWindow(window);
            }
        });
    }

    long take() throws IOException {
        return idleCount > 0 ? idle[--idleCount] : source.allocate();
    }

    /** Takes back a window that was invalidated, also where there is no heap. */
    void give(long window) {
        if (idleCount < MAX_IDLE) {
            idle[idleCount++] = window;
        } else {
            free(window);
        }
    }

    /** Frees a window that may be bound: that closes it, unless this returns {@code false}. */
    boolean free(long window) {
        try {
            source.deallocate(window);
            return true;
        } catch (IOException e) {
            LOGGER.debug("A memory window is not freed", e); // the device has gone, as a rule
            return false;
        }
    }

    @Override
    public void close() {
        while (idleCount > 0) {
            free(idle[--idleCount]);
        }
    }
}
