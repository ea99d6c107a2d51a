package org.nettyrdma.channel;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.nettyrdma.verbs.Capabilities;
import org.nettyrdma.verbs.MemoryRegion;
import org.nettyrdma.verbs.VerbsContext;
import org.nettyrdma.verbs.VerbsProvider;

/** Registers memory and does nothing else: enough to test the allocator, and to be unavailable. */
final class MemoryOnlyProvider implements VerbsProvider {

    private final String name;
    private final Throwable unavailabilityCause;
    private long maxBytes = Long.MAX_VALUE;

    MemoryOnlyProvider() {
        this("memory-only", null);
    }

    MemoryOnlyProvider(String name, Throwable unavailabilityCause) {
        this.name = name;
        this.unavailabilityCause = unavailabilityCause;
    }

    /** Lets the device refuse more than this, as when the limit of locked memory is reached. */
    MemoryOnlyProvider refusingMoreThan(long bytes) {
        maxBytes = bytes;
        return this;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Throwable unavailabilityCause() {
        return unavailabilityCause;
    }

    @Override
    public Capabilities capabilities() {
        return new Capabilities(4, 4, 1024, 16, 1 << 20, 64, true, Capabilities.Exposure.PER_CALL, true);
    }

    @Override
    public synchronized MemoryRegion registerMemory(ByteBuffer memory) throws IOException {
        if (!memory.isDirect()) {
            throw new IllegalArgumentException("not direct");
        }
        if (memory.capacity() > maxBytes) {
            throw new IOException("limit of locked memory");
        }
        maxBytes -= memory.capacity();
        return new Region(memory);
    }

    @Override
    public VerbsContext openContext() throws IOException {
        throw new IOException("has no device");
    }

    private record Region(ByteBuffer memory) implements MemoryRegion {

        @Override
        public long address() {
            return 0;
        }

        @Override
        public int localKey() {
            return 0;
        }

        @Override
        public void close() {
            // Memory is freed by the garbage collector.
        }
    }
}
