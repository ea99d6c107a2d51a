package org.nettyrdma.verbs.disni;

import com.ibm.disni.verbs.impl.NativeDispatcher;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.TimeUnit;

/**
 * On upstream's library, with what it can do: IPv4, no private data that could be read, no reason of a rejection, no limits of
 * the device, no memory windows, and no way to sleep on more than one thing. So a loop looks for connection events and
 * wake-ups every {@link #NAP_MILLIS}, and everything that the library does not tell is assumed to be small.
 */
final class UpstreamVerbs extends NativeVerbs {

    /** A sleeping loop uses about one percent of a processor with this. */
    static final int NAP_MILLIS = 1;

    // What every device of the last ten years can do.
    private static final int QUEUE_DEPTH = 2048;
    private static final int READ_DEPTH = 16;
    private static final int COMPLETIONS = 32767;
    private static final int MESSAGE_BYTES = 1 << 30;
    /** The library creates every queue pair with this. */
    private static final int ELEMENTS = 4;

    private static final short ADDRESS_FAMILY_IPV4 = 2;
    private static final int ADDRESS_BYTES = 28;

    // struct ibv_send_wr
    private static final int WR_NEXT = 8;
    private static final int WR_ELEMENT_LIST = 16;
    private static final int WR_ELEMENT_COUNT = 24;
    private static final int SEND_WR_OPCODE = 28;
    private static final int SEND_WR_FLAGS = 32;
    private static final int SEND_WR_IMMEDIATE = 36;
    private static final int SEND_WR_REMOTE_ADDRESS = 40;
    private static final int SEND_WR_REMOTE_KEY = 48;
    private static final int SEND_WR_BYTES = 128;
    // struct ibv_recv_wr begins alike
    private static final int RECEIVE_WR_BYTES = 32;

    private final ByteBuffer scratch = newMemory(ADDRESS_BYTES);
    private final ByteBuffer requestMemory = newMemory(Batch.MAX_REQUESTS * SEND_WR_BYTES);

    UpstreamVerbs(NativeDispatcher dispatcher) {
        super(dispatcher);
    }

    @Override
    DeviceLimits limits(long context) {
        return new DeviceLimits("of unknown name", SystemDevices.anyIsIwarp(), QUEUE_DEPTH, ELEMENTS, 1, READ_DEPTH, COMPLETIONS,
                MESSAGE_BYTES, 0, false);
    }

    @Override
    boolean moveToError(long queuePair) {
        return false; // there is no such call
    }

    @Override
    void closeContext(long context) {
        // There is no such call: the device stays open until the process ends.
    }

    @Override
    int grantedInlineBytes(long queuePair, int askedFor) {
        return 0; // the library does not tell, and a device may grant less than was asked for
    }

    @Override
    void setElementLimits(long id, int sendElements) {
        // They are what they are.
    }

    // ---- Connections

    @Override
    void bindAddress(long id, SocketAddress address) throws IOException {
        putAddress(address);
        dispatcher._bindAddr(id, address(scratch));
    }

    @Override
    void resolveAddress(long id, SocketAddress source, SocketAddress destination, int timeoutMillis) throws IOException {
        if (source != null) {
            bindAddress(id, source); // the library ignores the source that it is given here
        }
        putAddress(destination);
        dispatcher._resolveAddr(id, 0, address(scratch), timeoutMillis);
    }

    private void putAddress(SocketAddress socketAddress) throws IOException {
        if (!(socketAddress instanceof InetSocketAddress address) || !(address.getAddress() instanceof Inet4Address host)) {
            throw new IOException("upstream's library takes IPv4 addresses only: " + socketAddress);
        }
        scratch.putShort(0, ADDRESS_FAMILY_IPV4);
        ByteBuffer networkOrder = scratch.duplicate().order(ByteOrder.BIG_ENDIAN);
        networkOrder.putShort(2, (short) address.getPort()).put(4, host.getAddress()).putLong(8, 0);
    }

    @Override
    InetSocketAddress localAddress(long id) throws IOException {
        dispatcher._getSrcAddr(id, address(scratch));
        return readAddress();
    }

    @Override
    InetSocketAddress remoteAddress(long id) throws IOException {
        dispatcher._getDstAddr(id, address(scratch));
        return readAddress();
    }

    private InetSocketAddress readAddress() throws IOException {
        byte[] host = new byte[4];
        scratch.get(4, host);
        int port = Short.toUnsignedInt(scratch.duplicate().order(ByteOrder.BIG_ENDIAN).getShort(2));
        return new InetSocketAddress(InetAddress.getByAddress(host), port);
    }

    @Override
    void connect(long id, byte[] privateData, int inboundReadDepth, int outboundReadDepth) throws IOException {
        dispatcher._connect(id, MAX_RETRIES, RECEIVER_NOT_READY_RETRIES, 0, (byte) 0); // read depths are the device's limits
    }

    @Override
    void accept(long id, byte[] privateData, int inboundReadDepth, int outboundReadDepth) throws IOException {
        dispatcher._accept(id, MAX_RETRIES, RECEIVER_NOT_READY_RETRIES);
    }

    @Override
    void reject(long id, byte[] privateData) {
        // There is no such call; the end of the identifier rejects.
    }

    @Override
    boolean nextConnectionEvent(long channel, ByteBuffer event) {
        long eventAddress = address(event);
        int type = dispatcher._getCmEvent(channel, eventAddress + NativeExtensions.EVENT_LISTEN_ID,
                eventAddress + NativeExtensions.EVENT_ID, 0);
        event.putInt(NativeExtensions.EVENT_TYPE, type).putInt(NativeExtensions.EVENT_STATUS, 0)
                .putInt(NativeExtensions.EVENT_RESPONDER_RESOURCES, READ_DEPTH)
                .putInt(NativeExtensions.EVENT_INITIATOR_DEPTH, READ_DEPTH)
                .putInt(NativeExtensions.EVENT_PRIVATE_DATA_LENGTH, 0);
        return type >= 0;
    }

    @Override
    long[] nextDeviceEvent(long context) {
        return null;
    }

    // ---- Work requests

    @Override
    void putElement(ByteBuffer requests, int index, Registration registration, int offset, int length) {
        requests.putLong(index, registration.address() + offset).putInt(index + 8, length)
                .putInt(index + 12, registration.localKey()); // struct ibv_sge, as large as an element of ours
    }

    @Override
    int postSend(long queuePair, ByteBuffer requests, int offset, int count) throws IOException {
        int in = offset;
        for (int i = 0; i < count; i++) {
            int elements = requests.getInt(in + NativeExtensions.SEND_ELEMENTS);
            int out = i * SEND_WR_BYTES;
            begin(out, SEND_WR_BYTES, requests.getLong(in + NativeExtensions.SEND_ID), i + 1 < count,
                    address(requests) + in + NativeExtensions.SEND_HEADER_BYTES, elements);
            requestMemory.putInt(out + SEND_WR_OPCODE, requests.getInt(in + NativeExtensions.SEND_OPCODE))
                    .putInt(out + SEND_WR_FLAGS, requests.getInt(in + NativeExtensions.SEND_FLAGS))
                    .putInt(out + SEND_WR_IMMEDIATE, requests.getInt(in + NativeExtensions.SEND_IMMEDIATE))
                    .putLong(out + SEND_WR_REMOTE_ADDRESS, requests.getLong(in + NativeExtensions.SEND_REMOTE_ADDRESS))
                    .putInt(out + SEND_WR_REMOTE_KEY, requests.getInt(in + NativeExtensions.SEND_KEY));
            in += NativeExtensions.SEND_HEADER_BYTES + elements * NativeExtensions.ELEMENT_BYTES;
        }
        dispatcher._postSend(queuePair, address(requestMemory));
        return count;
    }

    @Override
    int postReceive(long queuePair, ByteBuffer requests, int count) throws IOException {
        int in = 0;
        for (int i = 0; i < count; i++) {
            int elements = requests.getInt(in + NativeExtensions.RECEIVE_ELEMENTS);
            begin(i * RECEIVE_WR_BYTES, RECEIVE_WR_BYTES, requests.getLong(in + NativeExtensions.RECEIVE_ID), i + 1 < count,
                    address(requests) + in + NativeExtensions.RECEIVE_HEADER_BYTES, elements);
            in += NativeExtensions.RECEIVE_HEADER_BYTES + elements * NativeExtensions.ELEMENT_BYTES;
        }
        dispatcher._postRecv(queuePair, address(requestMemory));
        return count;
    }

    private void begin(int at, int bytes, long id, boolean hasNext, long elementList, int elementCount) {
        requestMemory.putLong(at, id)
                .putLong(at + WR_NEXT, hasNext ? address(requestMemory) + at + bytes : 0)
                .putLong(at + WR_ELEMENT_LIST, elementList)
                .putInt(at + WR_ELEMENT_COUNT, elementCount);
    }

    // ---- Completions

    @Override
    int poll(long completionQueue, ByteBuffer completions, int max) throws IOException {
        int count = dispatcher._pollCQ(completionQueue, max, address(completions)); // struct ibv_wc is what is expected
        if (count < 0) {
            throw new IOException("the completion queue cannot be polled");
        }
        return count;
    }

    @Override
    boolean tellsCompletionQueuesApart() {
        return false;
    }

    @Override
    void drainCompletionEvents(long channel, long completionQueue) throws IOException {
        int events = 0;
        while (dispatcher._getCqEvent(channel, 0) == 0) {
            events++;
        }
        if (events > 0) {
            dispatcher._ackCqEvent(completionQueue, events);
        }
    }

    @Override
    void await(Sleeper sleeper, long timeoutNanos) throws IOException {
        int nap = timeoutNanos < 0 ? NAP_MILLIS : (int) Math.min(NAP_MILLIS, 1 + TimeUnit.NANOSECONDS.toMillis(timeoutNanos));
        if (dispatcher._getCqEvent(sleeper.completionChannel(), nap) == 0) {
            dispatcher._ackCqEvent(sleeper.completionQueue(), 1);
        }
    }

    @Override
    long createWakeup() {
        return 0;
    }

    @Override
    void wake(long wakeup) {
        // The nap will be over soon.
    }

    @Override
    void destroyWakeup(long wakeup) {
        // Nothing was created.
    }
}
