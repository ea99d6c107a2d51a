package org.nettyrdma.verbs.disni;

import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.impl.NativeDispatcher;
import io.netty.util.internal.PlatformDependent;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The verbs as this provider calls them: objects come and go by DiSNI's own methods, and what our library does otherwise than
 * upstream's is left to the two subclasses. One instance belongs to one thread at a time, because it has scratch memory. Tests
 * put another device in the place of all this.
 *
 * <p>It sits on DiSNI's {@link NativeDispatcher}, below {@code RdmaCm} and {@code RdmaVerbs}. Those cannot be used:
 * <ul>
 * <li>they reach into {@code sun.nio.ch}, which the module system forbids
 * <li>their event channel keeps every identifier that it has ever seen
 * <li>a stateful receive call cannot be changed once made, so that each receive would be a new one
 * <li>a polled completion loses the vendor's error
 * </ul>
 * As they do, it marshals requests into native memory that is used again and again.
 */
abstract class NativeVerbs {

    private static final short PORT_SPACE_TCP = 0x0106;
    private static final int FIRST_COMPLETION_VECTOR = 0;
    /** Of what the network loses. */
    static final byte MAX_RETRIES = 7;
    /** Where the peer has no receive: for ever. */
    static final byte RECEIVER_NOT_READY_RETRIES = 7;

    /** Made once: its constructor compares the sizes of structures and says so in the log. */
    private static final class Dispatcher {

        static final NativeDispatcher INSTANCE = create();

        private static NativeDispatcher create() {
            try {
                // The constructor is visible to its package only, and a class of ours must not be in that package.
                Constructor<NativeDispatcher> constructor = NativeDispatcher.class.getDeclaredConstructor();
                constructor.setAccessible(true);
                return constructor.newInstance();
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException("DiSNI does not start: " + e, e);
            }
        }
    }

    final NativeDispatcher dispatcher;
    private final ByteBuffer keys = newMemory(3 * Integer.BYTES);

    NativeVerbs(NativeDispatcher dispatcher) {
        this.dispatcher = dispatcher;
    }

    /** An instance for one more thread, on whichever library there is. */
    static NativeVerbs open() {
        return NativeLibrary.hasExtensions() ? new ExtendedVerbs(Dispatcher.INSTANCE) : new UpstreamVerbs(Dispatcher.INSTANCE);
    }

    static ByteBuffer newMemory(int bytes) {
        return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
    }

    static long address(ByteBuffer memory) {
        return PlatformDependent.directBufferAddress(memory);
    }

    // ---- Objects

    long createEventChannel() throws IOException {
        return require(dispatcher._createEventChannel(), "an event channel");
    }

    void destroyEventChannel(long channel) {
        dispatcher._destroyEventChannel(channel);
    }

    long createId(long channel) throws IOException {
        return require(dispatcher._createId(channel, PORT_SPACE_TCP), "a connection identifier");
    }

    void destroyId(long id) {
        dispatcher._destroyCmId(id);
    }

    void listen(long id, int backlog) throws IOException {
        dispatcher._listen(id, backlog);
    }

    void resolveRoute(long id, int timeoutMillis) throws IOException {
        dispatcher._resolveRoute(id, timeoutMillis);
    }

    /** The device that an identifier is bound to, 0 if it is bound to none. */
    long context(long id) throws IOException {
        return Math.max(0, dispatcher._getContext(id));
    }

    /** Closes the device, when nothing that was created from it is left. */
    abstract void closeContext(long context) throws IOException;

    long allocateProtectionDomain(long context) throws IOException {
        return require(dispatcher._allocPd(context), "a protection domain");
    }

    void deallocateProtectionDomain(long protectionDomain) {
        dispatcher._deallocPd(protectionDomain);
    }

    long createCompletionChannel(long context) throws IOException {
        return require(dispatcher._createCompChannel(context), "a completion channel");
    }

    void destroyCompletionChannel(long channel) {
        dispatcher._destroyCompChannel(channel);
    }

    long createCompletionQueue(long context, long channel, int entries) throws IOException {
        return require(dispatcher._createCQ(context, channel, entries, FIRST_COMPLETION_VECTOR),
                "a completion queue of " + entries + " entries");
    }

    void destroyCompletionQueue(long completionQueue) {
        dispatcher._destroyCQ(completionQueue);
    }

    /** Asks for an event on the queue's channel when the next completion arrives. */
    void requestNotification(long completionQueue) throws IOException {
        if (dispatcher._reqNotifyCQ(completionQueue, 0) != 0) {
            throw new IOException("the completion queue cannot be armed");
        }
    }

    long createQueuePair(long id, long protectionDomain, long completionQueue, int sendDepth, int receiveDepth, int inlineBytes)
            throws IOException {
        return require(dispatcher._createQP(id, protectionDomain, completionQueue, completionQueue, IbvQP.IBV_QPT_RC, sendDepth,
                receiveDepth, inlineBytes), "a queue pair");
    }

    /**
     * Destroys the queue pair of an identifier. From here on the device touches none of its memory; not so with {@code false},
     * where that failed.
     */
    boolean destroyQueuePair(long id) {
        return dispatcher._destroyQP(id) >= 0;
    }

    /** Makes a queue pair give back what it has and take part in no connection any more; {@code false} if that cannot be done. */
    abstract boolean moveToError(long queuePair);

    /** Starts to end a connection; {@code false} if there is none. */
    boolean disconnect(long id) {
        return dispatcher._disconnect(id) == 0;
    }

    /** Registers a part of direct memory; {@code access} is made of the {@code ACCESS} constants. */
    Registration register(long protectionDomain, ByteBuffer memory, int offset, int length, int access) throws IOException {
        long keysAddress = address(keys);
        long handle = require(dispatcher._regMr(protectionDomain, address(memory) + offset, length, access, keysAddress,
                keysAddress + Integer.BYTES, keysAddress + 2 * Integer.BYTES), "a memory region of " + length + " bytes");
        return new Registration(handle, address(memory) + offset, keys.getInt(0), keys.getInt(Integer.BYTES));
    }

    void deregister(Registration registration) throws IOException {
        dispatcher._deregMr(registration.handle());
    }

    /** Some methods of upstream's library answer -1 where they should throw. */
    static long require(long handle, String what) throws IOException {
        if (handle == 0 || handle == -1) {
            throw new IOException("the device refuses " + what);
        }
        return handle;
    }

    // ---- What the libraries do differently

    /** What the device behind an identifier can do. */
    abstract DeviceLimits limits(long context) throws IOException;

    /** The most bytes that a queue pair copies when they are posted, of those that were asked for. */
    abstract int grantedInlineBytes(long queuePair, int askedFor) throws IOException;

    /** Sets how many pieces of memory the work requests can have of the queue pair that is created next. */
    abstract void setElementLimits(long id, int sendElements) throws IOException;

    abstract void bindAddress(long id, SocketAddress address) throws IOException;

    abstract void resolveAddress(long id, SocketAddress source, SocketAddress destination, int timeoutMillis) throws IOException;

    abstract InetSocketAddress localAddress(long id) throws IOException;

    abstract InetSocketAddress remoteAddress(long id) throws IOException;

    abstract void connect(long id, byte[] privateData, int inboundReadDepth, int outboundReadDepth) throws IOException;

    abstract void accept(long id, byte[] privateData, int inboundReadDepth, int outboundReadDepth) throws IOException;

    /** Refuses a request; the identifier must be destroyed then, which alone tells the peer where the library cannot do more. */
    abstract void reject(long id, byte[] privateData) throws IOException;

    /** Takes an event, written as {@link NativeExtensions} says; {@code false} if there is none. */
    abstract boolean nextConnectionEvent(long channel, ByteBuffer event) throws IOException;

    /**
     * Takes an asynchronous event of the device, as {@link NativeExtensions#nextAsyncEvent} says; {@code null} if there is none.
     */
    abstract long[] nextDeviceEvent(long context) throws IOException;

    /** Writes a piece of memory into a work request. */
    abstract void putElement(ByteBuffer requests, int index, Registration registration, int offset, int length);

    /** Posts work requests in the form of {@link NativeExtensions}; the number that was posted, at least 1. */
    abstract int postSend(long queuePair, ByteBuffer requests, int offset, int count) throws IOException;

    /** Posts receives in the form of {@link NativeExtensions}; the number that was posted, at least 1. */
    abstract int postReceive(long queuePair, ByteBuffer requests, int count) throws IOException;

    /** Takes completions, written as {@link NativeExtensions} says; returns how many. */
    abstract int poll(long completionQueue, ByteBuffer completions, int max) throws IOException;

    /** Whether several completion queues can share a channel; otherwise there can be one only. */
    abstract boolean tellsCompletionQueuesApart();

    /** Takes the events off a completion channel. */
    abstract void drainCompletionEvents(long channel, long completionQueue) throws IOException;

    /** Sleeps until one of the sources has something, the sleeper is woken, or the time is over. */
    abstract void await(Sleeper sleeper, long timeoutNanos) throws IOException;

    /** Creates what {@link #wake} ends the sleep of; 0 where none is needed. */
    abstract long createWakeup() throws IOException;

    abstract void wake(long wakeup);

    abstract void destroyWakeup(long wakeup);
}
