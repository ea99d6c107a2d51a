package org.nettyrdma.verbs.iwarp;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.nettyrdma.verbs.Capabilities;
import org.nettyrdma.verbs.MemoryRegion;
import org.nettyrdma.verbs.VerbsContext;
import org.nettyrdma.verbs.VerbsProvider;
import org.nettyrdma.verbs.support.LoopCore;
import org.nettyrdma.verbs.support.SharedReceiveStack;
import org.nettyrdma.verbs.support.SteeringTagGenerator;

/** Software iWARP over the TCP of the Java runtime. Can be used everywhere. */
public final class IwarpProvider implements VerbsProvider {

    private static final int MAX_QUEUE_DEPTH = 16384;
    private static final int MAX_READ_DEPTH = 1024;

    private static final Capabilities CAPABILITIES = new Capabilities(
            FpduBatch.MAX_PIECES, FpduBatch.MAX_PIECES, MAX_QUEUE_DEPTH, MAX_READ_DEPTH, Integer.MAX_VALUE,
            MpaFrame.MAX_PRIVATE_LENGTH - MpaFrame.READ_DEPTHS_LENGTH, true, false,
            Capabilities.Exposure.PER_CALL, true, SharedReceiveStack.MAX_DEPTH);

    /** 64 KiB of data with the headers in front of it: as far as the staging of reads and the batches of writes go. */
    private static final int LONGEST_PREFERRED_SEND_BYTES = 68 << 10;

    private final IwarpStatistics statistics = new IwarpStatistics();

    /**
     * Creates a provider with statistics of its own. {@link java.util.ServiceLoader} does so.
     */
    public IwarpProvider() {
        // Nothing is opened before it is needed.
    }

    @Override
    public String name() {
        return IwarpQueuePair.PROVIDER;
    }

    @Override
    public Throwable unavailabilityCause() {
        return null;
    }

    @Override
    public Capabilities capabilities() {
        return CAPABILITIES;
    }

    @Override
    public int longestPreferredSendBytes() {
        return LONGEST_PREFERRED_SEND_BYTES;
    }

    @Override
    public MemoryRegion registerMemory(ByteBuffer memory) {
        return new IwarpMemoryRegion(memory);
    }

    @Override
    public VerbsContext openContext() throws IOException {
        return openContext(new LoopCore(System::nanoTime, new SteeringTagGenerator()));
    }

    /**
     * Opens a context that shares its core with one of another kind. That one polls and awaits for both.
     *
     * @param core what both stand on; its close closes this context, too
     * @return the context
     */
    public VerbsContext openContext(LoopCore core) {
        return new IwarpContext(new IwarpLoopParts(core, statistics, FpduBatch::new));
    }

    /**
     * What has happened on all connections of this provider.
     *
     * @return counters that go on counting
     */
    public IwarpStatistics statistics() {
        return statistics;
    }
}
