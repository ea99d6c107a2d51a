package org.nettyrdma.verbs.disni;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** A device that takes what is posted and notes the keys; it does nothing by itself. */
class StubVerbs extends NativeVerbs {

    /** The sends that were taken, in the order of posting: the queue pair and the key. */
    final List<String> posted = new ArrayList<>();

    StubVerbs() {
        super(null);
    }

    static String entry(long queuePair, long key) {
        return queuePair + " " + Long.toHexString(key);
    }

    @Override
    int postSend(long queuePair, ByteBuffer requests, int offset, int count) throws IOException {
        int at = offset;
        for (int i = 0; i < count; i++) {
            posted.add(entry(queuePair, requests.getLong(at + NativeExtensions.SEND_ID)));
            at += NativeExtensions.SEND_HEADER_BYTES
                    + requests.getInt(at + NativeExtensions.SEND_ELEMENTS) * NativeExtensions.ELEMENT_BYTES;
        }
        return count;
    }

    @Override
    int postReceive(long queuePair, ByteBuffer requests, int offset, int count) throws IOException {
        return count;
    }

    @Override
    void putElement(ByteBuffer requests, int index, Registration registration, int offset, int length) { }

    @Override
    int poll(long completionQueue, ByteBuffer completions, int max) {
        return 0;
    }

    @Override
    void closeContext(long context) { }

    @Override
    boolean moveToError(long queuePair) {
        return true;
    }

    @Override
    DeviceLimits limits(long context) throws IOException {
        return new DeviceLimits("stub0", false, 1024, 16, 16, 16, 65_536, 1 << 30, 56, true);
    }

    @Override
    int grantedInlineBytes(long queuePair, int askedFor) {
        return 0;
    }

    @Override
    void setElementLimits(long id, int sendElements) { }

    @Override
    void bindAddress(long id, SocketAddress address) { }

    @Override
    void resolveAddress(long id, SocketAddress source, SocketAddress destination, int timeoutMillis) { }

    @Override
    InetSocketAddress localAddress(long id) {
        return new InetSocketAddress(0);
    }

    @Override
    InetSocketAddress remoteAddress(long id) {
        return new InetSocketAddress(0);
    }

    @Override
    void connect(long id, byte[] privateData, int inboundReadDepth, int outboundReadDepth) { }

    @Override
    void accept(long id, byte[] privateData, int inboundReadDepth, int outboundReadDepth) { }

    @Override
    void reject(long id, byte[] privateData) { }

    @Override
    boolean nextConnectionEvent(long channel, ByteBuffer event) {
        return false;
    }

    @Override
    long[] nextDeviceEvent(long context) {
        return null;
    }

    @Override
    boolean tellsCompletionQueuesApart() {
        return true;
    }

    @Override
    void drainCompletionEvents(long channel, long completionQueue) { }

    @Override
    void await(Sleeper sleeper, long timeoutNanos) { }

    @Override
    long createWakeup() {
        return 1;
    }

    @Override
    void wake(long wakeup) { }

    @Override
    void destroyWakeup(long wakeup) { }
}
