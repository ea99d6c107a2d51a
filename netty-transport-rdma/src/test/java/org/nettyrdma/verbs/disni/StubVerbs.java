package org.nettyrdma.verbs.disni;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** A device that takes what is posted and notes the keys; it completes what a test tells it to, and nothing by itself. */
class StubVerbs extends NativeVerbs {

    static final int SUCCESS = 0;
    static final int FLUSHED = 5;
    static final int MAX_COMPLETIONS = 65_536;

    private record Completion(long key, int status) {
    }

    /** The sends that were taken, in the order of posting: the queue pair and the key. */
    final List<String> posted = new ArrayList<>();
    /** The keys of the same. */
    final List<Long> postedKeys = new ArrayList<>();
    /** The key of the first of the receives posted last. */
    long postedReceiveKey;
    final List<Long> destroyedIds = new ArrayList<>();
    boolean iwarp;
    boolean refusesQueuePairs;
    boolean refusesReceives;
    /** Sends that are taken before one is refused. */
    int sendsToTake = Integer.MAX_VALUE;
    Error sendFailure;
    Error rejectFailure;
    int disconnects;
    int queuePairs;
    int completionQueues;
    int contextsClosed;
    private final Deque<Completion> completed = new ArrayDeque<>();
    private long lastHandle;

    StubVerbs() {
        super(null);
    }

    static String entry(long queuePair, long key) {
        return queuePair + " " + Long.toHexString(key);
    }

    /** The next poll finds this. */
    void complete(long key, int status) {
        completed.add(new Completion(key, status));
    }

    @Override
    int postSend(long queuePair, ByteBuffer requests, int offset, int count) throws IOException {
        if (sendFailure != null) {
            throw sendFailure;
        }
        if (sendsToTake == 0) {
            throw new IOException("no more sends");
        }
        int taken = Math.min(count, sendsToTake);
        sendsToTake -= taken;
        int at = offset;
        for (int i = 0; i < taken; i++) {
            long key = requests.getLong(at + NativeExtensions.SEND_ID);
            posted.add(entry(queuePair, key));
            postedKeys.add(key);
            at += NativeExtensions.SEND_HEADER_BYTES
                    + requests.getInt(at + NativeExtensions.SEND_ELEMENTS) * NativeExtensions.ELEMENT_BYTES;
        }
        return taken;
    }

    @Override
    int postReceive(long queuePair, ByteBuffer requests, int count) throws IOException {
        if (refusesReceives) {
            throw new IOException("no more receives");
        }
        postedReceiveKey = requests.getLong(NativeExtensions.RECEIVE_ID);
        return count;
    }

    @Override
    void putElement(ByteBuffer requests, int index, Registration registration, int offset, int length) { }

    @Override
    int poll(long completionQueue, ByteBuffer completions, int max) {
        int count = 0;
        for (; count < max && !completed.isEmpty(); count++) {
            Completion completion = completed.remove();
            int at = count * NativeExtensions.COMPLETION_BYTES;
            completions.putLong(at + NativeExtensions.COMPLETION_ID, completion.key())
                    .putInt(at + NativeExtensions.COMPLETION_STATUS, completion.status());
        }
        return count;
    }

    @Override
    void closeContext(long context) {
        contextsClosed++;
    }

    @Override
    boolean moveToError(long queuePair) {
        return true;
    }

    @Override
    DeviceLimits limits(long context) throws IOException {
        return new DeviceLimits("stub0", iwarp, 1024, 16, 16, 16, MAX_COMPLETIONS, 1 << 30, 56, true);
    }

    @Override
    int grantedInlineBytes(long queuePair, int askedFor) throws IOException {
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
    void reject(long id, byte[] privateData) {
        if (rejectFailure != null) {
            throw rejectFailure;
        }
    }

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

    @Override
    long createEventChannel() {
        return ++lastHandle;
    }

    @Override
    void destroyEventChannel(long channel) { }

    @Override
    long createId(long channel) {
        return ++lastHandle;
    }

    @Override
    void destroyId(long id) {
        destroyedIds.add(id);
    }

    @Override
    void listen(long id, int backlog) { }

    @Override
    void resolveRoute(long id, int timeoutMillis) { }

    @Override
    long context(long id) throws IOException {
        return 1;
    }

    @Override
    long allocateProtectionDomain(long context) throws IOException {
        return ++lastHandle;
    }

    @Override
    void deallocateProtectionDomain(long protectionDomain) { }

    @Override
    long createCompletionChannel(long context) {
        return ++lastHandle;
    }

    @Override
    void destroyCompletionChannel(long channel) { }

    @Override
    long createCompletionQueue(long context, long channel, int entries) {
        completionQueues++;
        return ++lastHandle;
    }

    @Override
    void destroyCompletionQueue(long completionQueue) {
        completionQueues--;
    }

    @Override
    void requestNotification(long completionQueue) { }

    @Override
    long createQueuePair(long id, long protectionDomain, long completionQueue, int sendDepth, int receiveDepth, int inlineBytes)
            throws IOException {
        if (refusesQueuePairs) {
            throw new IOException("no more queue pairs");
        }
        queuePairs++;
        return ++lastHandle;
    }

    @Override
    boolean destroyQueuePair(long id) {
        queuePairs--;
        return true;
    }

    @Override
    boolean disconnect(long id) {
        disconnects++;
        return true;
    }

    @Override
    Registration register(long protectionDomain, ByteBuffer memory, int offset, int length, int access) {
        return new Registration(++lastHandle, address(memory) + offset, 0, 0);
    }

    @Override
    void deregister(Registration registration) { }
}
