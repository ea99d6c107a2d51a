package org.nettyrdma.verbs.disni;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.nettyrdma.verbs.support.Closing;
import org.nettyrdma.verbs.support.DeliveryRing;
import org.nettyrdma.verbs.support.TimerQueue;

/** What the connections of one event loop share. Event loop only. */
final class DisniLoopParts implements AutoCloseable {

    private final Device device;
    private final NativeVerbs verbs;
    private final DeliveryRing deliveries = new DeliveryRing();
    private final TimerQueue timers = new TimerQueue(System::nanoTime);
    private final Batch batch;
    private final Registration[] registrations = new Registration[Batch.MAX_ELEMENTS];
    private final ByteBuffer receiveMemory =
            NativeVerbs.newMemory(Batch.MAX_REQUESTS * (NativeExtensions.RECEIVE_HEADER_BYTES + NativeExtensions.ELEMENT_BYTES));
    private final MemoryWindows windows;
    private final CompletionQueues completionQueues;

    DisniLoopParts(Device device, CompletionQueues.Consumer consumer) throws IOException {
        this.device = device;
        verbs = device.newVerbs();
        batch = new Batch(verbs);
        windows = new MemoryWindows(device.protectionDomain());
        completionQueues = new CompletionQueues(verbs, device, consumer);
    }

    Device device() {
        return device;
    }

    NativeVerbs verbs() {
        return verbs;
    }

    CompletionQueues completionQueues() {
        return completionQueues;
    }

    DeliveryRing deliveries() {
        return deliveries;
    }

    TimerQueue timers() {
        return timers;
    }

    Batch batch() {
        return batch;
    }

    /** Room for the registrations of one work request while it is being posted. */
    Registration[] registrations() {
        return registrations;
    }

    ByteBuffer receiveMemory() {
        return receiveMemory;
    }

    MemoryWindows windows() {
        return windows;
    }

    @Override
    public void close() {
        Closing closing = new Closing();
        closing.step(windows, MemoryWindows::close);
        closing.step(completionQueues, CompletionQueues::close);
        closing.end();
    }
}
