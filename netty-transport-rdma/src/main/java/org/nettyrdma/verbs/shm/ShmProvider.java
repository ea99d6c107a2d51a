package org.nettyrdma.verbs.shm;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.nettyrdma.verbs.Capabilities;
import org.nettyrdma.verbs.MemoryRegion;
import org.nettyrdma.verbs.VerbsContext;
import org.nettyrdma.verbs.VerbsProvider;
import org.nettyrdma.verbs.support.LoopCore;
import org.nettyrdma.verbs.support.SharedReceiveStack;
import org.nettyrdma.verbs.support.SteeringTagGenerator;

/**
 * Shared memory between processes of one host, on Linux. Every process writes only its own files; the others map them for reading
 * only, and each side copies what it ends up with. So RDMA Writes and Reads reach what was exposed, for as long as it is
 * exposed, with the rights that were given, as over a network. But a process that has mapped a block of memory in order to copy
 * from it can read all of that block: nothing in it is secret to processes that may connect.
 *
 * <p>Processes reach each other if they share a directory in a memory file system, by default {@code /dev/shm/netty-rdma-UID}.
 * The system property {@code org.nettyrdma.shm.directory} names another one. It is read when memory is first allocated or a
 * context opened. Only processes of the same user may connect, and of those listed in {@code org.nettyrdma.shm.users} by name or
 * number, separated by commas. Both fail with an {@link IOException} where the system does not know one of the names.
 *
 * <p>Addresses are IP addresses of this host, which stand for names in that directory, and paths of domain sockets
 * ({@code DomainSocketAddress} of Netty, {@link java.net.UnixDomainSocketAddress}).
 */
public final class ShmProvider implements VerbsProvider {

    private static final int MAX_QUEUE_DEPTH = 16384;

    private static final Capabilities CAPABILITIES = new Capabilities(ControlLayout.MAX_PIECES, ControlLayout.MAX_PIECES,
            MAX_QUEUE_DEPTH, SetupFrame.MAX_READ_DEPTH, Integer.MAX_VALUE, SetupFrame.MAX_PRIVATE_DATA_BYTES, true,
            false, Capabilities.Exposure.PER_CALL, true, SharedReceiveStack.MAX_DEPTH);

    /** 64 KiB of data with the headers in front of it. */
    private static final int LONGEST_PREFERRED_SEND_BYTES = 68 << 10;

    private final ShmStatistics statistics = new ShmStatistics();
    private ShmSettings settings;
    private ProcessDirectory directory;
    private OwnBlocks blocks;

    /**
     * Creates a provider with statistics of its own. {@link java.util.ServiceLoader} does so.
     */
    public ShmProvider() {
        // No file is made before it is needed.
    }

    ShmProvider(ShmSettings settings) {
        this.settings = settings;
    }

    @Override
    public String name() {
        return ShmQueuePair.PROVIDER;
    }

    @Override
    public Throwable unavailabilityCause() {
        if (!System.getProperty("os.name").equals("Linux")) {
            return new UnsupportedOperationException("shared memory is used on Linux only, this is "
                    + System.getProperty("os.name"));
        }
        return ModuleLayer.boot().findModule("jdk.net").isPresent() ? null : new UnsupportedOperationException(
                "shared memory needs to know the users of its peers, and this Java has no module jdk.net to tell them");
    }

    @Override
    public Capabilities capabilities() {
        return CAPABILITIES;
    }

    @Override
    public int longestPreferredSendBytes() {
        return LONGEST_PREFERRED_SEND_BYTES;
    }

    private synchronized OwnBlocks open() throws IOException {
        if (blocks == null) {
            if (settings == null) {
                settings = ShmSettings.ofSystem();
            }
            directory = ChannelTask.uninterrupted(() -> ProcessDirectory.of(settings));
            blocks = new OwnBlocks(directory);
        }
        return blocks;
    }

    @Override
    public ByteBuffer allocate(int bytes) throws IOException {
        return open().allocate(bytes);
    }

    @Override
    public void free(ByteBuffer memory) {
        opened().free(memory);
    }

    @Override
    public MemoryRegion registerMemory(ByteBuffer memory) {
        return opened().register(memory);
    }

    private OwnBlocks opened() {
        try {
            return open();
        } catch (IOException e) {
            throw new IllegalArgumentException("no memory was allocated: " + e.getMessage(), e);
        }
    }

    @Override
    public VerbsContext openContext() throws IOException {
        return openContext(new LoopCore(System::nanoTime, new SteeringTagGenerator()), false);
    }

    /** A context that may share its core with one of another kind; if there can be none, the core is closed. */
    ShmContext openContext(LoopCore core, boolean socketsCarryData) throws IOException {
        try {
            open();
            return new ShmContext(new ShmLoopParts(core, settings, directory, statistics), socketsCarryData);
        } catch (Throwable t) {
            core.close();
            throw t;
        }
    }

    /**
     * What has happened on all connections of this provider.
     *
     * @return counters that go on counting
     */
    public ShmStatistics statistics() {
        return statistics;
    }
}
