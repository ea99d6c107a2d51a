package org.nettyrdma.verbs.disni;

import com.ibm.disni.verbs.impl.NativeDispatcher;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;

/**
 * On our library, which has {@link NativeExtensions}.
 */
final class ExtendedVerbs extends NativeVerbs {

    private static final int FIRST_PORT = 1;
    /** The private data of a request in the TCP port space, the smallest of the messages that carry any. */
    private static final int INFINIBAND_PRIVATE_DATA_BYTES = 56;
    /**
     * The driver siw of Linux counts these bytes and the four that MPA revision 2 puts before them (RFC 6581, section 6) in one
     * byte. The kernel takes 252 from a peer.
     */
    private static final int IWARP_PRIVATE_DATA_BYTES = 251;
    private static final int MAX_READ_DEPTH = 255; // connection parameters have 8 bits for it
    private static final int RECEIVE_ELEMENTS = 1;

    ExtendedVerbs(NativeDispatcher dispatcher) {
        super(dispatcher);
    }

    @Override
    DeviceLimits limits(long context) throws IOException {
        long[] attributes = NativeExtensions.deviceAttributes(context, FIRST_PORT);
        boolean iwarp = attributes[NativeExtensions.DEVICE_TRANSPORT] == NativeExtensions.TRANSPORT_IWARP;
        long flags = attributes[NativeExtensions.DEVICE_FLAGS];
        long windows = NativeExtensions.DEVICE_MEMORY_MANAGEMENT_EXTENSIONS | NativeExtensions.DEVICE_MEMORY_WINDOW_TYPE_2B;
        return new DeviceLimits(NativeExtensions.deviceName(context), iwarp,
                clamp(attributes[NativeExtensions.DEVICE_MAX_QUEUE_DEPTH]),
                clamp(attributes[NativeExtensions.DEVICE_MAX_ELEMENTS]),
                Math.max(1, clamp(attributes[NativeExtensions.DEVICE_MAX_READ_ELEMENTS])),
                (int) Math.min(MAX_READ_DEPTH, Math.min(attributes[NativeExtensions.DEVICE_MAX_RESPONDER_RESOURCES],
                        attributes[NativeExtensions.DEVICE_MAX_INITIATOR_DEPTH])),
                clamp(attributes[NativeExtensions.DEVICE_MAX_COMPLETIONS]),
                clamp(attributes[NativeExtensions.DEVICE_MAX_MESSAGE_BYTES]),
                iwarp ? IWARP_PRIVATE_DATA_BYTES : INFINIBAND_PRIVATE_DATA_BYTES,
                (flags & windows) == windows);
    }

    @Override
    boolean moveToError(long queuePair) {
        try {
            NativeExtensions.moveToError(queuePair);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    @Override
    void closeContext(long context) throws IOException {
        NativeExtensions.closeContext(context);
    }

    private static int clamp(long value) {
        return (int) Math.min(value, Integer.MAX_VALUE);
    }

    @Override
    int grantedInlineBytes(long queuePair, int askedFor) throws IOException {
        return Math.min(askedFor, NativeExtensions.queuePairLimits(queuePair)[NativeExtensions.LIMIT_INLINE_BYTES]);
    }

    @Override
    void setElementLimits(long id, int sendElements) throws IOException {
        NativeExtensions.setElementLimits(id, sendElements, RECEIVE_ELEMENTS);
    }

    @Override
    void bindAddress(long id, SocketAddress address) throws IOException {
        NativeExtensions.bindAddress(id, SocketAddresses.encode(address));
    }

    @Override
    void resolveAddress(long id, SocketAddress source, SocketAddress destination, int timeoutMillis) throws IOException {
        NativeExtensions.resolveAddress(id, source == null ? null : SocketAddresses.encode(source),
                SocketAddresses.encode(destination), timeoutMillis);
    }

    @Override
    InetSocketAddress localAddress(long id) throws IOException {
        return SocketAddresses.decode(NativeExtensions.localAddress(id));
    }

    @Override
    InetSocketAddress remoteAddress(long id) throws IOException {
        return SocketAddresses.decode(NativeExtensions.remoteAddress(id));
    }

    @Override
    void connect(long id, byte[] privateData, int inboundReadDepth, int outboundReadDepth) throws IOException {
        NativeExtensions.connect(id, privateData, inboundReadDepth, outboundReadDepth, MAX_RETRIES, RECEIVER_NOT_READY_RETRIES);
    }

    @Override
    void accept(long id, byte[] privateData, int inboundReadDepth, int outboundReadDepth) throws IOException {
        NativeExtensions.accept(id, privateData, inboundReadDepth, outboundReadDepth, MAX_RETRIES, RECEIVER_NOT_READY_RETRIES);
    }

    @Override
    void reject(long id, byte[] privateData) throws IOException {
        NativeExtensions.reject(id, privateData);
    }

    @Override
    boolean nextConnectionEvent(long channel, ByteBuffer event) throws IOException {
        return NativeExtensions.nextConnectionEvent(channel, event);
    }

    @Override
    long[] nextDeviceEvent(long context) throws IOException {
        return NativeExtensions.nextAsyncEvent(context);
    }

    @Override
    void putElement(ByteBuffer requests, int index, Registration registration, int offset, int length) {
        requests.putLong(index + NativeExtensions.ELEMENT_REGION, registration.handle())
                .putInt(index + NativeExtensions.ELEMENT_OFFSET, offset)
                .putInt(index + NativeExtensions.ELEMENT_LENGTH, length);
    }

    @Override
    int postSend(long queuePair, ByteBuffer requests, int offset, int count) throws IOException {
        return NativeExtensions.postSend(queuePair, requests, offset, count);
    }

    @Override
    int postReceive(long queuePair, ByteBuffer requests, int count) throws IOException {
        return NativeExtensions.postReceive(queuePair, requests, 0, count);
    }

    @Override
    int poll(long completionQueue, ByteBuffer completions, int max) throws IOException {
        return NativeExtensions.pollCompletionQueue(completionQueue, completions, max);
    }

    @Override
    boolean tellsCompletionQueuesApart() {
        return true;
    }

    @Override
    void drainCompletionEvents(long channel, long completionQueue) throws IOException {
        NativeExtensions.drainCompletionEvents(channel);
    }

    @Override
    void await(Sleeper sleeper, long timeoutNanos) throws IOException {
        NativeExtensions.await(sleeper.sources(), sleeper.sources().length, timeoutNanos);
    }

    @Override
    long createWakeup() throws IOException {
        return NativeExtensions.createWakeup();
    }

    @Override
    void wake(long wakeup) {
        try {
            NativeExtensions.wakeup(wakeup);
        } catch (IOException e) {
            // The loop has gone: nobody sleeps.
            return;
        }
    }

    @Override
    void destroyWakeup(long wakeup) {
        while (true) {
            try {
                NativeExtensions.destroyWakeup(wakeup);
                return;
            } catch (IOException e) {
                Thread.onSpinWait(); // another thread is just waking this loop
            }
        }
    }
}
