package org.nettyrdma.verbs.disni;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.nettyrdma.verbs.support.Closing;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The RDMA device that the provider works on, with one protection domain for all of its memory. Any thread.
 *
 * <p>When the device is removed from the machine every context fails. The last one that is closed then closes the device, because
 * drivers wait for that; it can be opened again when it is back, as another object.
 */
final class Device implements Registrar {

    private static final Logger LOGGER = LoggerFactory.getLogger(Device.class);

    private static final int INLINE_BYTES = 256;
    private static final int PROBE_DEPTH = 16;
    /** IBV_EVENT_DEVICE_FATAL */
    private static final int DEVICE_FATAL = 8;
    // IBV_EVENT_QP_FATAL, IBV_EVENT_QP_REQ_ERR and IBV_EVENT_QP_ACCESS_ERR
    private static final int FIRST_QUEUE_PAIR_FAULT = 1;
    private static final int LAST_QUEUE_PAIR_FAULT = 3;

    private final Supplier<NativeVerbs> library;
    private final ConnectionManager connectionManager;
    private final MemoryExposureMode exposureMode;
    private final InetAddress address;
    private final long context;
    private final long protectionDomain;
    private final DeviceLimits limits;
    private final int inlineBytes;
    private final Map<Long, IdentifierOwner> owners = new ConcurrentHashMap<>();
    private volatile boolean removed;

    // Guarded by this.
    private final NativeVerbs verbs;
    private final Set<EventReceiver> contexts = new HashSet<>();
    private final RegistrationTable registrations;
    private boolean closed;

    private Device(Supplier<NativeVerbs> library, NativeVerbs verbs, long id, InetAddress address, boolean persistent)
            throws IOException {
        this.library = library;
        this.verbs = verbs;
        registrations = new RegistrationTable(verbs::deregister);
        this.address = address;
        context = NativeVerbs.require(verbs.context(id), "a context");
        long domain = 0;
        try {
            limits = verbs.limits(context);
            domain = verbs.allocateProtectionDomain(context);
            protectionDomain = domain;
            inlineBytes = probeInlineBytes(id);
            connectionManager = new ConnectionManager(newVerbs(), address, this::removed);
        } catch (Throwable t) {
            if (domain != 0) {
                verbs.deallocateProtectionDomain(domain);
            }
            verbs.closeContext(context);
            throw t;
        }
        exposureMode = persistent ? MemoryExposureMode.PERSISTENT
                : limits.windows() ? MemoryExposureMode.WINDOW : MemoryExposureMode.REGISTRATION;
        LOGGER.info("RDMA device {} at {}: {}, {} of our own, remote access by {}", limits.name(), address.getHostAddress(),
                limits.iwarp() ? "iWARP" : "InfiniBand or RoCE",
                NativeLibrary.hasExtensions() ? "native library" : "upstream's native library, no private data, nothing",
                exposureMode.description());
        warnOfWhatTheDriverDoesNotCheck();
    }

    /** Seen with Linux 6.1; a card checks all of it. */
    private void warnOfWhatTheDriverDoesNotCheck() {
        if (exposureMode == MemoryExposureMode.WINDOW && SystemDevices.isRxe(limits.name())) {
            LOGGER.warn("The rxe driver of the kernel checks the key and the rights of a memory window, but not its bounds: use "
                    + "it among trusted machines only");
        } else if (limits.name().startsWith("siw")) {
            LOGGER.warn("The siw driver of the kernel checks the key and the bounds of exposed memory, but not the right to "
                    + "read it: use it among trusted machines only");
        }
    }

    /**
     * Opens the device behind an address of this machine.
     *
     * @param library    makes the verbs, anew for each thread
     * @param wanted     the address, or {@code null} for the first that has one
     * @param persistent whether memory is to be open to peers for good
     * @throws IOException if there is none, or it cannot be used
     */
    static Device open(Supplier<NativeVerbs> library, InetAddress wanted, boolean persistent) throws IOException {
        NativeVerbs verbs = library.get();
        long channel = verbs.createEventChannel();
        try {
            IOException failure = new IOException("no address of this machine belongs to an RDMA device");
            for (InetAddress candidate : wanted != null ? List.of(wanted) : localAddresses()) {
                long id = verbs.createId(channel);
                try {
                    verbs.bindAddress(id, new InetSocketAddress(candidate, 0));
                    if (verbs.context(id) != 0) {
                        return new Device(library, verbs, id, candidate, persistent);
                    }
                } catch (IOException e) {
                    failure.addSuppressed(new IOException(candidate.getHostAddress() + ": " + e.getMessage(), e));
                } finally {
                    verbs.destroyId(id);
                }
            }
            throw failure;
        } finally {
            verbs.destroyEventChannel(channel);
        }
    }

    /** The loopback addresses come last: of those, hardly any belongs to a device. */
    private static List<InetAddress> localAddresses() throws IOException {
        List<InetAddress> addresses = new ArrayList<>();
        for (NetworkInterface card : Collections.list(NetworkInterface.getNetworkInterfaces())) {
            if (card.isUp()) {
                addresses.addAll(Collections.list(card.getInetAddresses()));
            }
        }
        addresses.sort(Comparator.comparing(InetAddress::isLoopbackAddress).thenComparing(a -> a.getAddress().length));
        return addresses;
    }

    /** Devices do not say how much they take; one tries. */
    private int probeInlineBytes(long id) throws IOException {
        long channel = verbs.createCompletionChannel(context);
        long queue = 0;
        try {
            queue = verbs.createCompletionQueue(context, channel, 2 * PROBE_DEPTH);
            int bytes = INLINE_BYTES;
            while (true) {
                try {
                    long queuePair = verbs.createQueuePair(id, protectionDomain, queue, PROBE_DEPTH, PROBE_DEPTH, bytes);
                    try {
                        return verbs.grantedInlineBytes(queuePair, bytes);
                    } finally {
                        verbs.destroyQueuePair(id);
                    }
                } catch (IOException e) {
                    if (bytes == 0) {
                        throw e;
                    }
                    bytes = bytes < 16 ? 0 : bytes / 2;
                }
            }
        } finally {
            if (queue != 0) {
                verbs.destroyCompletionQueue(queue);
            }
            verbs.destroyCompletionChannel(channel);
        }
    }

    /** The verbs for one more thread. */
    NativeVerbs newVerbs() {
        return library.get();
    }

    ConnectionManager connectionManager() {
        return connectionManager;
    }

    MemoryExposureMode exposureMode() {
        return exposureMode;
    }

    /** An address that leads to this device. */
    InetAddress address() {
        return address;
    }

    long context() {
        return context;
    }

    long protectionDomain() {
        return protectionDomain;
    }

    DeviceLimits limits() {
        return limits;
    }

    /** Messages up to this size are copied when they are posted. */
    int inlineBytes() {
        return inlineBytes;
    }

    @Override
    public synchronized Registration register(ByteBuffer memory, int offset, int length, int access) throws IOException {
        requireOpen();
        Registration registration = verbs.register(protectionDomain, memory, offset, length, access);
        try {
            registrations.add(registration, memory);
        } catch (Throwable t) { // no memory for the note
            verbs.deregister(registration);
            throw t;
        }
        return registration;
    }

    @Override
    public synchronized boolean deregister(Registration registration) {
        try {
            registrations.end(registration);
            return true;
        } catch (IOException e) {
            if (removed) {
                // all access has gone
                LOGGER.debug("Memory at {} is not deregistered", Long.toHexString(registration.address()), e);
                return true;
            }
            LOGGER.error("The device {} has not ended the registration of the memory at {}", limits.name(),
                    Long.toHexString(registration.address()), e);
            return false;
        }
    }

    /** Makes asynchronous events find a queue pair by its handle, until {@link #remove}. */
    void add(long queuePair, IdentifierOwner owner) {
        owners.put(queuePair, owner);
    }

    void remove(long queuePair) {
        owners.remove(queuePair);
    }

    /**
     * Takes what the device reports about itself, without waiting, and tells the connections that it concerns.
     *
     * @throws IOException if the device was removed
     */
    void pollEvents(EventReceiver caller) throws IOException {
        for (long[] event = nextEvent(); event != null; event = nextEvent()) {
            int type = (int) event[0];
            LOGGER.debug("Asynchronous event {} of device {}", type, limits.name());
            if (type == DEVICE_FATAL) {
                removed();
            }
            IdentifierOwner owner = type >= FIRST_QUEUE_PAIR_FAULT && type <= LAST_QUEUE_PAIR_FAULT ? owners.get(event[1]) : null;
            if (owner != null) {
                owner.context().arrived(owner, ConnectionEvent.deviceFault(type), caller);
            }
        }
        if (removed) {
            throw new IOException(removal());
        }
    }

    private synchronized long[] nextEvent() throws IOException {
        return verbs.nextDeviceEvent(context);
    }

    // ---- The end

    /** What has happened to a device that was removed. */
    String removal() {
        return "the RDMA device " + limits.name() + " was removed";
    }

    private void removed() {
        if (!removed) {
            removed = true;
            LOGGER.warn("The RDMA device {} was removed: its connections end", limits.name());
            synchronized (this) {
                contexts.forEach(EventReceiver::wakeup);
            }
        }
    }

    boolean isRemoved() {
        return removed;
    }

    synchronized boolean isClosed() {
        return closed;
    }

    private void requireOpen() throws IOException {
        if (closed) {
            throw new IOException(removal());
        }
    }

    /** A context begins to use the device, until {@link #remove(EventReceiver)}. */
    synchronized void add(EventReceiver context) throws IOException {
        requireOpen();
        contexts.add(context);
    }

    void remove(EventReceiver context) {
        synchronized (this) {
            contexts.remove(context);
            if (!removed || closed || !contexts.isEmpty()) {
                return;
            }
        }
        close();
    }

    /** Closes the device with all memory that is still registered. */
    void close() {
        Closing closing = new Closing();
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            closing.step(registrations, RegistrationTable::endAll);
        }
        closing.step(connectionManager, ConnectionManager::close);
        synchronized (this) {
            closing.step(protectionDomain, verbs::deallocateProtectionDomain);
            closing.step(this, Device::closeContext);
        }
        closing.end();
    }

    private void closeContext() {
        try {
            verbs.closeContext(context);
            LOGGER.info("RDMA device {} closed", limits.name());
        } catch (IOException e) {
            LOGGER.warn("The RDMA device {} stays open, and cannot leave the machine before this process ends", limits.name(), e);
        }
    }
}
