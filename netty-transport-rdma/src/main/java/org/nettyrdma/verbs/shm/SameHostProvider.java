package org.nettyrdma.verbs.shm;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.nettyrdma.verbs.Capabilities;
import org.nettyrdma.verbs.MemoryRegion;
import org.nettyrdma.verbs.VerbsContext;
import org.nettyrdma.verbs.VerbsProvider;
import org.nettyrdma.verbs.iwarp.IwarpProvider;

/**
 * Software iWARP to peers on other hosts, and shared memory to those on this one. A listener has one address and port of TCP, at
 * which every iWARP peer can connect; those of this provider that have the same shared directory come over shared memory. A
 * client connects over shared memory where the listener has proved, over TCP, that it sees the same directory; and over TCP where
 * it has not, or where shared memory fails. docs/shared-memory.md says how.
 *
 * <p>All memory is that of {@link ShmProvider}, as a connection's provider is not known when memory is allocated. No limit
 * is larger than with one of the two.
 */
public final class SameHostProvider implements VerbsProvider {

    private final IwarpProvider iwarp = new IwarpProvider();
    private final ShmProvider shm;

    /**
     * Creates a provider with statistics of its own. {@link java.util.ServiceLoader} does so.
     */
    public SameHostProvider() {
        shm = new ShmProvider();
    }

    SameHostProvider(ShmSettings settings) {
        shm = new ShmProvider(settings);
    }

    @Override
    public String name() {
        return "iwarp-shm";
    }

    @Override
    public Throwable unavailabilityCause() {
        return shm.unavailabilityCause();
    }

    @Override
    public Capabilities capabilities() {
        Capabilities one = iwarp.capabilities();
        Capabilities other = shm.capabilities();
        return new Capabilities(Math.min(one.maxGatherElements(), other.maxGatherElements()),
                Math.min(one.maxReadScatterElements(), other.maxReadScatterElements()),
                Math.min(one.maxQueueDepth(), other.maxQueueDepth()), Math.min(one.maxReadDepth(), other.maxReadDepth()),
                Math.min(one.maxMessageBytes(), other.maxMessageBytes()),
                Math.min(one.maxPrivateDataBytes(), other.maxPrivateDataBytes()), true, false,
                Capabilities.Exposure.PER_CALL, true,
                Math.min(one.maxSharedReceives(), other.maxSharedReceives()));
    }

    @Override
    public int longestPreferredSendBytes() {
        return Math.min(iwarp.longestPreferredSendBytes(), shm.longestPreferredSendBytes());
    }

    @Override
    public ByteBuffer allocate(int bytes) throws IOException {
        return shm.allocate(bytes);
    }

    @Override
    public void free(ByteBuffer memory) {
        shm.free(memory);
    }

    @Override
    public MemoryRegion registerMemory(ByteBuffer memory) {
        return shm.registerMemory(memory);
    }

    @Override
    public VerbsContext openContext() throws IOException {
        return new SameHostContext(this);
    }

    /**
     * What carries connections over TCP.
     *
     * @return used by this provider only; its statistics count those connections
     */
    public IwarpProvider iwarp() {
        return iwarp;
    }

    /**
     * What carries connections over shared memory, and has all the memory.
     *
     * @return used by this provider only; its statistics count those connections
     */
    public ShmProvider shm() {
        return shm;
    }
}
