package org.nettyrdma.channel;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.nettyrdma.verbs.Capabilities;
import org.nettyrdma.verbs.MemoryRegion;
import org.nettyrdma.verbs.VerbsContext;
import org.nettyrdma.verbs.VerbsProvider;

/** Registers memory and does nothing else: enough to test the allocator, and to be unavailable. */
class MemoryOnlyProvider implements VerbsProvider {

    private final String name;
    private final Throwable unavailabilityCause;
    private long maxBytes = Long.MAX_VALUE / 2;
    private long registeredBytes;
    private boolean refusesToClose;
    private Throwable allocationFailure;
    private Throwable registrationFailure;
    private int lookupsUntilFailure;
    private volatile CyclicBarrier allocations;
    private final Set<ByteBuffer> allocated = Collections.newSetFromMap(new IdentityHashMap<>());

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
        return new Capabilities(4, 4, 1024, 16, 1 << 20, 64, true, false, Capabilities.Exposure.PER_CALL, true);
    }

    /** Lets every allocation fail with an {@link IOException} or an unchecked exception; {@code null} ends that. */
    synchronized void failAllocations(Throwable failure) {
        allocationFailure = failure;
    }

    /** Lets every registration fail. */
    synchronized void failRegistrations(Throwable failure) {
        registrationFailure = failure;
    }

    /** Lets the n-th look at the memory of a region fail for want of memory, and no other. */
    synchronized void failLookup(int n) {
        lookupsUntilFailure = n;
    }

    private synchronized void lookedUp() {
        if (lookupsUntilFailure > 0 && --lookupsUntilFailure == 0) {
            throw new OutOfMemoryError("expected");
        }
    }

    private static void fail(Throwable failure) throws IOException {
        if (failure instanceof Error error) {
            throw error;
        }
        if (failure instanceof RuntimeException e) {
            throw e;
        }
        if (failure instanceof IOException e) {
            throw e;
        }
    }

    /** Lets allocations wait for each other until so many are under way; {@code null} ends that. */
    void gatherAllocations(CyclicBarrier barrier) {
        allocations = barrier;
    }

    @Override
    public ByteBuffer allocate(int bytes) throws IOException {
        CyclicBarrier barrier = allocations;
        if (barrier != null) {
            try {
                barrier.await(60, TimeUnit.SECONDS);
            } catch (InterruptedException | BrokenBarrierException | TimeoutException e) {
                throw new IOException(e);
            }
        }
        return allocateNow(bytes);
    }

    private synchronized ByteBuffer allocateNow(int bytes) throws IOException {
        fail(allocationFailure);
        ByteBuffer memory = VerbsProvider.super.allocate(bytes);
        allocated.add(memory);
        return memory;
    }

    @Override
    public synchronized void free(ByteBuffer memory) {
        if (!allocated.remove(memory)) {
            throw new IllegalArgumentException("not of this provider: " + memory);
        }
        VerbsProvider.super.free(memory);
    }

    /** Pieces of memory that were not given back. */
    synchronized int allocated() {
        return allocated.size();
    }

    @Override
    public synchronized MemoryRegion registerMemory(ByteBuffer memory) throws IOException {
        fail(registrationFailure);
        if (!allocated.contains(memory)) {
            throw new IllegalArgumentException("not of this provider: " + memory);
        }
        if (!memory.isDirect()) {
            throw new IllegalArgumentException("not direct");
        }
        if (memory.capacity() > maxBytes) {
            throw new IOException("limit of locked memory");
        }
        maxBytes -= memory.capacity();
        registeredBytes += memory.capacity();
        return new Region(memory);
    }

    @Override
    public VerbsContext openContext() throws IOException {
        throw new IOException("has no device");
    }

    /** How much is registered, and not closed. */
    synchronized long registeredBytes() {
        return registeredBytes;
    }

    /** Lets no registration be ended. */
    MemoryOnlyProvider refusingToClose() {
        refusesToClose = true;
        return this;
    }

    private synchronized void close(Region region) {
        if (refusesToClose) {
            throw new IllegalStateException("the device refuses");
        }
        maxBytes += region.memory().capacity();
        registeredBytes -= region.memory().capacity();
    }

    private final class Region implements MemoryRegion {

        private final ByteBuffer memory;

        Region(ByteBuffer memory) {
            this.memory = memory;
        }

        @Override
        public ByteBuffer memory() {
            lookedUp();
            return memory;
        }

        @Override
        public void close() {
            MemoryOnlyProvider.this.close(this);
        }
    }
}
