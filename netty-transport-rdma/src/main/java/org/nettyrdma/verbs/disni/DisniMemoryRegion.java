package org.nettyrdma.verbs.disni;

import java.nio.ByteBuffer;
import org.nettyrdma.verbs.MemoryRegion;

/**
 * Memory that the device reads and writes for this side's own work requests.
 */
final class DisniMemoryRegion implements MemoryRegion {

    private final Device device;
    private final ByteBuffer memory;
    private final Registration registration;
    private boolean closed;

    DisniMemoryRegion(Device device, ByteBuffer memory, Registration registration) {
        this.device = device;
        this.memory = memory;
        this.registration = registration;
    }

    @Override
    public ByteBuffer memory() {
        return memory;
    }

    @Override
    public long address() {
        return registration.address();
    }

    @Override
    public int localKey() {
        return registration.localKey();
    }

    Registration registration() {
        return registration;
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            device.deregister(registration);
        }
    }
}
