package org.nettyrdma.verbs;

import java.nio.ByteBuffer;

/**
 * Memory that a {@link VerbsProvider} has registered for local use. May be used from any thread.
 */
public interface MemoryRegion extends AutoCloseable {

    /**
     * The registered memory.
     *
     * @return a direct buffer of the same memory: position 0, limit and capacity that of what was registered; callers must not
     *         change its position, limit or order
     */
    ByteBuffer memory();

    /**
     * Ends the registration; does nothing if it has ended. No work request that uses this region may be outstanding.
     *
     * @throws IllegalStateException if the device does not end the registration; then the memory must not be freed
     */
    @Override
    void close();
}
