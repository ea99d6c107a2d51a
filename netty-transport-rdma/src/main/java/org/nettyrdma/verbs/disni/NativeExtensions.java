package org.nettyrdma.verbs.disni;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * What our {@code libdisni.so} offers beyond the methods that DiSNI declares. Upstream's library of the same name has none of
 * it: ask {@link NativeLibrary#hasExtensions()} before the first call.
 *
 * <p>A {@code long} that names an object is the number that DiSNI's objects return from {@code getObjId()}. It is a handle,
 * never an address: one that is 0, made up, of the wrong kind, or of an object that was destroyed is refused. Buffers must be
 * direct and in native byte order; the native side checks every access against their capacity, and works from index 0 where
 * no offset is named, whatever their position.
 *
 * <p>Every method throws an {@link IOException} whose message names the verb, the text of the error and its number. Any thread
 * may call any method; destroying an object that another thread uses at that moment, or that others were created from, fails
 * with EBUSY and changes nothing. See {@code src/main/c/README.md}.
 */
final class NativeExtensions {

    /** The revision of this class that the library must have been built for. */
    static final int ABI_VERSION = 3;

    // A connection event, as nextConnectionEvent and lastConnectionEvent write it.
    /** Number of the event, in the order of {@code enum rdma_cm_event_type}: an {@code int}. */
    static final int EVENT_TYPE = 0;
    /** 0, or why it failed: a negative errno; for a rejection the reason that the transport gives: an {@code int}. */
    static final int EVENT_STATUS = 4;
    /** The identifier that the event is about; for a connection request a new one: a {@code long}. */
    static final int EVENT_ID = 8;
    /** For a connection request, the identifier that listens, else 0: a {@code long}. */
    static final int EVENT_LISTEN_ID = 16;
    /** RDMA Reads that the peer may direct at this side, as the event says: an {@code int}. */
    static final int EVENT_RESPONDER_RESOURCES = 24;
    /** RDMA Reads that this side may direct at the peer, as the event says: an {@code int}. */
    static final int EVENT_INITIATOR_DEPTH = 28;
    /** Bytes of private data: an {@code int}. The transport may have padded them with zeros. */
    static final int EVENT_PRIVATE_DATA_LENGTH = 32;
    /** The private data. */
    static final int EVENT_PRIVATE_DATA = 40;
    /** Bytes that a buffer for events must have. */
    static final int EVENT_BYTES = EVENT_PRIVATE_DATA + 256;

    // A work request of the send side, as postSend reads it: a header, then its scatter/gather elements, then the next.
    /** Returned with the completion: a {@code long}. */
    static final int SEND_ID = 0;
    /** One of the {@code OPCODE} constants: an {@code int}. */
    static final int SEND_OPCODE = 8;
    /** The {@code FLAG} constants that apply: an {@code int}. */
    static final int SEND_FLAGS = 12;
    /** Number of elements that follow the header: an {@code int}. A bind has exactly one, the memory that it opens. */
    static final int SEND_ELEMENTS = 16;
    /** The key to read, to write or to invalidate. For a bind, {@code postSend} writes the window's new key here. */
    static final int SEND_KEY = 20;
    /** The address in the peer's memory to read or to write; for a bind, the handle of the window: a {@code long}. */
    static final int SEND_REMOTE_ADDRESS = 24;
    /** For a bind, the {@code ACCESS} constants of the rights that the peer gets: an {@code int}. */
    static final int SEND_ACCESS = 32;
    /** The immediate data, in network byte order: an {@code int}. */
    static final int SEND_IMMEDIATE = 36;
    /** Bytes of the header. */
    static final int SEND_HEADER_BYTES = 40;

    // A receive, as postReceive reads it.
    /** Returned with the completion: a {@code long}. */
    static final int RECEIVE_ID = 0;
    /** Number of elements that follow the header: an {@code int}, and an unused one. */
    static final int RECEIVE_ELEMENTS = 8;
    /** Bytes of the header. */
    static final int RECEIVE_HEADER_BYTES = 16;

    // A scatter/gather element.
    /** The handle of a memory region, not its key: a {@code long}. */
    static final int ELEMENT_REGION = 0;
    /** First byte within the region: an {@code int}, not negative. */
    static final int ELEMENT_OFFSET = 8;
    /** Size in bytes: an {@code int}, not negative. */
    static final int ELEMENT_LENGTH = 12;
    /** Bytes of one element. */
    static final int ELEMENT_BYTES = 16;

    // A completion, as pollCompletionQueue writes it. Only the first two are valid if the status is not 0.
    /** The id of the work request: a {@code long}. */
    static final int COMPLETION_ID = 0;
    /** 0, or why it failed, in the order of {@code enum ibv_wc_status}: an {@code int}. */
    static final int COMPLETION_STATUS = 8;
    /** What was completed, as {@code enum ibv_wc_opcode}: an {@code int}. */
    static final int COMPLETION_OPCODE = 12;
    /** The device's own description of an error; valid on error, too: an {@code int}. */
    static final int COMPLETION_VENDOR_ERROR = 16;
    /** Bytes received or read: an {@code int}. */
    static final int COMPLETION_LENGTH = 20;
    /** The key that the peer's Send invalidated, if {@link #COMPLETION_FLAGS} has {@link #WITH_INVALIDATE}. */
    static final int COMPLETION_INVALIDATED_KEY = 24;
    /** The immediate data in network byte order, in the same place, if {@link #COMPLETION_OPCODE} says so. */
    static final int COMPLETION_IMMEDIATE = COMPLETION_INVALIDATED_KEY;
    /** Number of the queue pair; valid on error, too: an {@code int}. */
    static final int COMPLETION_QUEUE_PAIR = 28;
    /** Flags: an {@code int}. */
    static final int COMPLETION_FLAGS = 36;
    /** Bytes of one completion. */
    static final int COMPLETION_BYTES = 48;
    /** In {@link #COMPLETION_FLAGS}: the message invalidated a key of this side. */
    static final int WITH_INVALIDATE = 1 << 3;
    /** In {@link #COMPLETION_OPCODE}: an RDMA Write with immediate data has used up a receive. */
    static final int COMPLETED_IMMEDIATE = 129;

    static final int OPCODE_WRITE = 0;
    static final int OPCODE_WRITE_WITH_IMMEDIATE = 1;
    static final int OPCODE_SEND = 2;
    static final int OPCODE_READ = 4;
    static final int OPCODE_LOCAL_INVALIDATE = 7;
    static final int OPCODE_BIND = 8;
    static final int OPCODE_SEND_WITH_INVALIDATE = 9;

    static final int FLAG_FENCE = 1;
    static final int FLAG_SIGNALED = 1 << 1;
    static final int FLAG_SOLICITED = 1 << 2;
    static final int FLAG_INLINE = 1 << 3;

    static final int ACCESS_LOCAL_WRITE = 1;
    static final int ACCESS_REMOTE_WRITE = 1 << 1;
    static final int ACCESS_REMOTE_READ = 1 << 2;
    static final int ACCESS_WINDOW_BIND = 1 << 4;

    // Indexes into what deviceAttributes returns.
    static final int DEVICE_TRANSPORT = 0;
    static final int DEVICE_LINK_LAYER = 1;
    static final int DEVICE_FLAGS = 2;
    static final int DEVICE_MAX_QUEUE_DEPTH = 3;
    static final int DEVICE_MAX_ELEMENTS = 4;
    static final int DEVICE_MAX_READ_ELEMENTS = 5;
    static final int DEVICE_MAX_RESPONDER_RESOURCES = 6;
    static final int DEVICE_MAX_INITIATOR_DEPTH = 7;
    static final int DEVICE_MAX_REGION_BYTES = 8;
    static final int DEVICE_MAX_REGIONS = 9;
    static final int DEVICE_MAX_WINDOWS = 10;
    static final int DEVICE_MAX_QUEUE_PAIRS = 11;
    static final int DEVICE_MAX_COMPLETION_QUEUES = 12;
    static final int DEVICE_MAX_COMPLETIONS = 13;
    static final int DEVICE_MAX_MESSAGE_BYTES = 14;
    static final int DEVICE_COMPLETION_VECTORS = 15;
    static final int DEVICE_ATTRIBUTES = 16;

    /** In {@link #DEVICE_TRANSPORT}: InfiniBand, also over Ethernet (RoCE). */
    static final int TRANSPORT_INFINIBAND = 0;
    /** In {@link #DEVICE_TRANSPORT}: iWARP. */
    static final int TRANSPORT_IWARP = 1;
    /** In {@link #DEVICE_LINK_LAYER}: Ethernet. */
    static final int LINK_LAYER_ETHERNET = 2;

    /** In {@link #DEVICE_FLAGS}: local invalidate, Send with Invalidate. */
    static final long DEVICE_MEMORY_MANAGEMENT_EXTENSIONS = 1L << 21;
    /** In {@link #DEVICE_FLAGS}: memory windows of type 2A. */
    static final long DEVICE_MEMORY_WINDOW_TYPE_2A = 1L << 23;
    /** In {@link #DEVICE_FLAGS}: memory windows of type 2B, which belong to one queue pair. */
    static final long DEVICE_MEMORY_WINDOW_TYPE_2B = 1L << 24;

    // Indexes into what queuePairLimits returns.
    static final int LIMIT_SEND_QUEUE_DEPTH = 0;
    static final int LIMIT_RECEIVE_QUEUE_DEPTH = 1;
    static final int LIMIT_SEND_ELEMENTS = 2;
    static final int LIMIT_RECEIVE_ELEMENTS = 3;
    static final int LIMIT_INLINE_BYTES = 4;

    private NativeExtensions() {
    }

    /** Returns the {@link #ABI_VERSION} that the library was built for. */
    static native int abiVersion();

    /**
     * Makes DiSNI's {@code System.loadLibrary("disni")} find this library, wherever it was loaded from. DiSNI must be in the same
     * class loader, and must not have been used yet. Not needed where the library is on the library path.
     *
     * @return {@code false} if the library of another class loader is found instead
     */
    static native boolean offerToDisni() throws IOException;

    /** Returns how many handles are valid in this process; for tests that look for leaks. */
    static native int liveHandles();

    // Connections. An address is the port in 2 bytes and then 4 bytes of IPv4 address, or 16 of IPv6 address and 4 of scope, all
    // in network byte order: see SocketAddresses.

    /** Binds an identifier to a local address, IPv4 or IPv6. */
    static native void bindAddress(long id, byte[] address) throws IOException;

    /** Starts to resolve an address; an event tells the outcome. {@code source} is {@code null} if the system shall choose. */
    static native void resolveAddress(long id, byte[] source, byte[] destination, int timeoutMillis) throws IOException;

    /** Returns this side's address. */
    static native byte[] localAddress(long id) throws IOException;

    /** Returns the peer's address. */
    static native byte[] remoteAddress(long id) throws IOException;

    /**
     * Asks the peer for a connection; an event tells the outcome.
     *
     * @param privateData        at most 56 bytes for InfiniBand and RoCE (TCP port space); librdmacm takes 255 for iWARP
     * @param responderResources RDMA Reads that the peer may direct at this side, 0 to 255
     * @param initiatorDepth     RDMA Reads that this side will direct at the peer, 0 to 255
     * @param retryCount         0 to 7; ignored by iWARP
     * @param rnrRetryCount      0 to 7, where 7 is for ever; ignored by iWARP
     */
    static native void connect(long id, byte[] privateData, int responderResources, int initiatorDepth, int retryCount,
                               int rnrRetryCount) throws IOException;

    /** Accepts the connection request that {@code id} stands for; the numbers are those of {@link #connect}. */
    static native void accept(long id, byte[] privateData, int responderResources, int initiatorDepth, int retryCount,
                              int rnrRetryCount) throws IOException;

    /** Rejects the connection request that {@code id} stands for, which must then be destroyed. */
    static native void reject(long id, byte[] privateData) throws IOException;

    /** Moves an identifier to another event channel, which delivers its events from now on. */
    static native void migrate(long id, long channel) throws IOException;

    /**
     * Takes the next event, without waiting, and acknowledges it. This replaces DiSNI's {@code getCmEvent} for callers that
     * keep their own map of identifiers.
     *
     * @param event written as the {@code EVENT} constants say, {@link #EVENT_BYTES} long
     * @return {@code false} if there is none
     */
    static native boolean nextConnectionEvent(long channel, ByteBuffer event) throws IOException;

    /**
     * Tells all of the event that DiSNI's {@code getCmEvent} returned last from this channel.
     *
     * @param event written as the {@code EVENT} constants say, {@link #EVENT_BYTES} long
     * @return {@code false} if there was none yet
     */
    static native boolean lastConnectionEvent(long channel, ByteBuffer event) throws IOException;

    // Devices and queue pairs.

    /** Releases the context that DiSNI's {@code getVerbs} opened, when nothing that was created from it is left. */
    static native void closeContext(long context) throws IOException;

    /** Returns the name of the device, for example {@code siw0}. */
    static native String deviceName(long context) throws IOException;

    /** Returns the limits and features of a device, to be read with the {@code DEVICE} constants; ports count from 1. */
    static native long[] deviceAttributes(long context, int port) throws IOException;

    /**
     * Takes the next asynchronous event of a device, without waiting, and acknowledges it.
     *
     * @return the number of the event in {@code enum ibv_event_type} and the handle of the queue pair or completion queue that
     *         it is about, or 0; {@code null} if there is no event
     */
    static native long[] nextAsyncEvent(long context) throws IOException;

    /**
     * Sets how many scatter/gather elements the work requests of the queue pair will have that is created for {@code id} next.
     * Both are lowered to what the device takes. Without this call it is 4.
     */
    static native void setElementLimits(long id, int sendElements, int receiveElements) throws IOException;

    /**
     * Returns what the device granted, to be read with the {@code LIMIT} constants. Inline data is what was asked for at most: a
     * device that refuses so much is asked for half of it, again and again.
     */
    static native int[] queuePairLimits(long queuePair) throws IOException;

    /** Moves a queue pair to the error state: what is outstanding is flushed, the peer is not told. */
    static native void moveToError(long queuePair) throws IOException;

    // Memory windows of type 2.

    /** Allocates a window that opens nothing yet; {@link #OPCODE_BIND} opens memory through it. */
    static native long allocateMemoryWindow(long protectionDomain) throws IOException;

    /** Returns the key that the window has now. */
    static native int memoryWindowKey(long window) throws IOException;

    /** Frees a window; what it opened is closed. */
    static native void deallocateMemoryWindow(long window) throws IOException;

    // Work requests and completions; nothing is allocated.

    /**
     * Posts work requests of the send side in order, until one is refused.
     *
     * @param requests written as the {@code SEND} and {@code ELEMENT} constants say
     * @param offset   where the first starts, a multiple of 8
     * @param count    how many there are
     * @return how many were posted; the next call tells what is wrong with the one that was refused
     * @throws IOException if the first one was refused
     */
    static native int postSend(long queuePair, ByteBuffer requests, int offset, int count) throws IOException;

    /** Posts receives in order, until one is refused; like {@link #postSend}. */
    static native int postReceive(long queuePair, ByteBuffer requests, int offset, int count) throws IOException;

    /**
     * Takes completions.
     *
     * @param completions written as the {@code COMPLETION} constants say
     * @return how many were taken: at most {@code max}, and what {@code completions} has room for
     */
    static native int pollCompletionQueue(long completionQueue, ByteBuffer completions, int max) throws IOException;

    /** Takes and acknowledges all events of a completion channel, without waiting; returns how many there were. */
    static native int drainCompletionEvents(long completionChannel) throws IOException;

    // Sleeping.

    /** Creates something that {@link #await} can be woken with from another thread. */
    static native long createWakeup() throws IOException;

    /** Ends the current or the next {@link #await} that names it. Any thread. */
    static native void wakeup(long wakeup) throws IOException;

    /** Destroys a wake-up; fails with EBUSY while another thread uses it. */
    static native void destroyWakeup(long wakeup) throws IOException;

    /**
     * Sleeps until one of several sources has something to say. Events stay where they are, but a wake-up is used up.
     *
     * @param sources      handles of event channels, completion channels, contexts (their asynchronous events) and wake-ups
     * @param count        how many of {@code sources} to watch, 1 to 31
     * @param timeoutNanos longest time to sleep in nanoseconds; negative for no limit
     * @return a set of bits, bit 0 for the first source; 0 when the time is over or a signal came
     */
    static native int await(long[] sources, int count, long timeoutNanos) throws IOException;
}
