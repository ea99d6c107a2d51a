package org.nettyrdma.verbs.disni;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.nettyrdma.verbs.MemoryRegion;

/**
 * Memory that the device reads and writes for this side's own work requests. It is registered with one device at a time: where
 * that was removed and has come back, the next use registers the memory again.
 */
final class DisniMemoryRegion implements MemoryRegion {

    private record Home(Device device, Registration registration) {
    }

    private final ByteBuffer memory;
    private volatile Home home;
    private boolean closed; // guarded by this

    /** Registers the whole capacity of direct memory. */
    DisniMemoryRegion(Device device, ByteBuffer memory) throws IOException {
        this.memory = memory;
        home = register(device);
    }

    private Home register(Device device) throws IOException {
        return new Home(device, device.register(memory, 0, memory.capacity(), device.exposureMode().regionAccess()));
    }

    @Override
    public ByteBuffer memory() {
        return memory;
    }

    /** The registration with the device that uses it. */
    Registration registration(Device user) throws IOException {
        Home known = home;
        return known.device() == user ? known.registration() : moveTo(user);
    }

    private synchronized Registration moveTo(Device user) throws IOException {
        if (closed) {
            throw new IOException("the memory region is closed");
        }
        if (home.device() != user) {
            home = register(user);
        }
        return home.registration();
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            if (!home.device().deregister(home.registration())) {
                throw new IllegalStateException("the device has not ended the registration");
            }
        }
    }
}
