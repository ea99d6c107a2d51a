package org.nettyrdma.verbs.disni;

import io.netty.util.internal.PlatformDependent;
import io.netty.util.internal.SystemPropertyUtil;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.List;
import org.nettyrdma.verbs.Capabilities;
import org.nettyrdma.verbs.MemoryRegion;
import org.nettyrdma.verbs.VerbsContext;
import org.nettyrdma.verbs.VerbsProvider;

/**
 * RDMA hardware, through the verbs of DiSNI: InfiniBand, RoCE and iWARP cards, and the Linux kernel's software devices.
 *
 * <p>It needs the jar {@code com.ibm.disni:disni}, a native library, and a device; what is missing,
 * {@link #unavailabilityCause()} says. The library is the file that the system property {@code org.nettyrdma.disni.library} names
 * by its absolute path, else {@code libdisni.so} on {@code java.library.path}, else the one in this project's jar with the
 * classifier {@code linux-x86_64}. On the library path upstream's works, too, with fewer
 * {@link #capabilities() capabilities}. The provider uses one device: that of the first address of this machine that has
 * one, or of the address that the system property {@code org.nettyrdma.disni.address} names.
 *
 * <p>When the device is removed all connections end, and it is closed. Once it is back, the next channel that is asked for opens
 * it again.
 *
 * <p>Memory is opened to a peer for one call: by a memory window where the device has them, otherwise by a registration of its
 * own. The system property {@code org.nettyrdma.disni.persistentRegions=true} opens all memory for good instead. That saves a
 * system call for each, and means that every peer that was ever told of a buffer can read and write all registered memory as long
 * as its connection lasts: for closed networks of trusted machines only.
 */
public final class DisniProvider implements VerbsProvider {

    private static final String ADDRESS_PROPERTY = "org.nettyrdma.disni.address";
    private static final String PERSISTENT_PROPERTY = "org.nettyrdma.disni.persistentRegions";
    private static final String DISNI_CLASS = "com.ibm.disni.verbs.impl.NativeDispatcher";

    private static final int MAX_QUEUE_DEPTH = 16384;

    private Device device;
    private Throwable unavailabilityCause;
    private volatile Capabilities capabilities; // known since the device was opened for the first time

    /**
     * Creates a provider; {@link java.util.ServiceLoader} does so. Nothing is opened before it is asked for.
     */
    public DisniProvider() {
        // See open().
    }

    @Override
    public String name() {
        return "disni";
    }

    @Override
    public synchronized Throwable unavailabilityCause() {
        if (device != null && device.isRemoved()) {
            if (!device.isClosed()) {
                return new IOException(device.removal() + ", and not all event loops have noticed yet");
            }
            device = null;
        }
        if (device == null && (unavailabilityCause == null || capabilities != null)) {
            open();
        }
        return unavailabilityCause;
    }

    private void open() {
        unavailabilityCause = missing();
        if (unavailabilityCause == null) {
            try {
                boolean persistent = SystemPropertyUtil.getBoolean(PERSISTENT_PROPERTY, false);
                takeUp(Device.open(NativeVerbs::open, wantedAddress(), persistent));
            } catch (IOException | RuntimeException | LinkageError e) {
                unavailabilityCause = new IOException("the RDMA devices " + SystemDevices.names() + " cannot be used: "
                        + e.getMessage() + ". Give the network interface of one an address, load the module rdma_ucm, and see "
                        + "whether 'rping -s' runs", e);
            }
        }
    }

    /** What users know of the provider's abilities must not change when a device comes back. */
    private void takeUp(Device opened) throws IOException {
        Capabilities found = capabilitiesOf(opened);
        if (capabilities != null && !capabilities.equals(found)) {
            opened.close();
            throw new IOException("another device has taken the place of the one that was removed, and this process must be "
                    + "started again to use it");
        }
        capabilities = found;
        device = opened;
    }

    /** What this machine lacks, the cheapest question first. */
    private static Throwable missing() {
        List<String> devices = SystemDevices.names();
        if (devices.isEmpty()) {
            return new IOException("this machine has no RDMA device: 'rdma link' lists none. Install the driver of the card, "
                    + "or add a software device with 'rdma link add rxe0 type rxe netdev <interface>'");
        }
        if (!PlatformDependent.hasUnsafe()) {
            return new IOException("the addresses of direct buffers are not known: do not set io.netty.noUnsafe, and on JDK 23 "
                    + "and newer set --sun-misc-unsafe-memory-access=allow");
        }
        try {
            Class.forName(DISNI_CLASS, false, DisniProvider.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            return new IOException("DiSNI is not on the class path, but there are RDMA devices " + devices
                    + ": add the dependency com.ibm.disni:disni:2.1", e);
        }
        return NativeLibrary.unavailabilityCause();
    }

    private static InetAddress wantedAddress() throws UnknownHostException {
        String wanted = SystemPropertyUtil.get(ADDRESS_PROPERTY);
        return wanted == null ? null : InetAddress.getByName(wanted);
    }

    /** The device, of which it is known that there was one. */
    private synchronized Device presentDevice() throws IOException {
        if (capabilities != null) {
            Throwable cause = unavailabilityCause();
            if (cause != null) {
                throw new IOException(cause.getMessage(), cause);
            }
        }
        return device();
    }

    private synchronized Device device() {
        Throwable cause = unavailabilityCause();
        if (cause != null) {
            throw new IllegalStateException(cause.getMessage(), cause);
        }
        return device;
    }

    @Override
    public Capabilities capabilities() {
        Capabilities known = capabilities; // asked for on hot paths
        if (known == null) {
            device();
            known = capabilities;
        }
        return known;
    }

    private static Capabilities capabilitiesOf(Device device) {
        DeviceLimits limits = device.limits();
        MemoryExposureMode mode = device.exposureMode();
        return new Capabilities(Math.min(limits.maxElements(), Batch.MAX_ELEMENTS),
                Math.min(limits.maxReadElements(), Batch.MAX_ELEMENTS),
                Math.min(limits.maxQueueDepth() / WorkQueues.ENTRIES_PER_SEND, MAX_QUEUE_DEPTH), limits.maxReadDepth(),
                limits.maxMessageBytes(), limits.maxPrivateDataBytes(), mode == MemoryExposureMode.WINDOW, !limits.iwarp(),
                mode.exposure(), !limits.iwarp());
    }

    @Override
    public MemoryRegion registerMemory(ByteBuffer memory) throws IOException {
        if (!memory.isDirect() || memory.isReadOnly()) {
            throw new IllegalArgumentException("memory: " + memory + " (expected: a direct buffer that can be written)");
        }
        return new DisniMemoryRegion(presentDevice(), memory.duplicate().clear());
    }

    @Override
    public VerbsContext openContext() throws IOException {
        return new DisniContext(presentDevice());
    }
}
