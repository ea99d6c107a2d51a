package org.nettyrdma.channel;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.util.IllegalReferenceCountException;
import java.io.IOException;
import org.nettyrdma.channel.RdmaChannelStatistics.Counter;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.SendWorkRequest;
import org.nettyrdma.verbs.support.Rings;

/**
 * The Sends, RDMA Writes and RDMA Reads of one channel that the device has not completed. They complete in the order in
 * which they were posted, so that they are the first of the {@link ChannelOutboundBuffer}, where they stay until then, and which
 * has a reference on each. Netty drops these at once when a channel is closed, while the device may still read or write the
 * memory. So {@link #hold} is called before, also where the end of the connection fails them. Event loop only.
 */
final class SendQueue {

    private static final int INITIAL_ENTRIES = 8;

    private final PostingTools tools;
    private final QueuePair queuePair;
    private final int channelId;
    private final RdmaChannelStatistics statistics;
    private final int depth;
    /** A ring for those that are held. It grows earlier, when something is posted, so that it needs no memory at the end. */
    private Object[] messages = new Object[INITIAL_ENTRIES];
    /** Where the reads go: a {@link Pin} on a sink that is registered, or else a buffer. {@code null} before the first read. */
    private Object[] sinks;
    private int head; // counts up; the device knows its lower bits, the slot
    private int outstanding;
    private int reserved; // entries of the device's queue that are used for invalidations
    private boolean full;
    private boolean mayRead;
    private int failed; // before the ones that are outstanding, in the outbound buffer
    private int toSkip;
    private int kept; // while the messages are being held
    /** This has a reference of its own on each message. */
    private boolean held;
    private ChannelOutboundBuffer outbound; // null before the first message
    private final ChannelOutboundBuffer.MessageProcessor visitor = this::visit;

    SendQueue(PostingTools tools, QueuePair queuePair, int channelId, RdmaChannelConfig config,
              RdmaChannelStatistics statistics) {
        this.tools = tools;
        this.queuePair = queuePair;
        this.channelId = channelId;
        this.statistics = statistics;
        depth = config.getSendQueueDepth();
    }

    /**
     * Posts the flushed messages that are not posted yet, in order, until none is left or the queue is full.
     *
     * @param readsAllowed whether there can be RDMA Reads on this connection; those written before that was known fail in their
     *                     turn
     */
    void postFlushed(ChannelOutboundBuffer in, boolean readsAllowed) throws Exception {
        if (outbound == null) {
            outbound = in;
        }
        mayRead = readsAllowed;
        removeCancelled();
        while (outstanding == 0 && isRefused(in.current())) {
            in.remove(OutboundFilter.noReads());
            removeCancelled();
        }
        toSkip = failed + outstanding; // exactly the first ones, not counting what was cancelled before it was flushed
        full = false;
        in.forEachFlushedMessage(visitor);
        if (full && !hasRoom()) {
            statistics.increment(Counter.FULL_SEND_QUEUES);
        }
    }

    private boolean visit(Object message) throws IOException {
        if (toSkip > 0) {
            toSkip--;
            return true;
        }
        return held ? keep(message) : postIfPossible(message);
    }

    private boolean postIfPossible(Object message) throws IOException {
        if (!hasRoom() || isRefused(message)) { // which waits for those before it: only the oldest can be taken out
            full = true;
            return false;
        }
        post(message);
        return true;
    }

    private boolean isRefused(Object message) {
        return !mayRead && message instanceof RdmaRead;
    }

    private void post(Object message) throws IOException {
        if (outstanding == messages.length) {
            grow();
        }
        int number = head + outstanding;
        Object sink = null;
        try {
            SendWorkRequest request = tools.workRequest();
            if (message instanceof RdmaRead read) {
                read.requireFit(); // what is beyond the sink may be memory of other buffers
                if (sinks == null) {
                    sinks = new Object[messages.length];
                }
                sink = tools.findSink(read) ? Pin.of(read.content(), true) : newBounce(read.length());
            }
            describe(message, WorkRequestId.encode(channelId, WorkRequestId.SEND, slot(number)), request);
            tools.pieces().addTo(request);
            queuePair.postSend(request);
        } catch (Throwable t) {
            releaseSink(sink); // not posted, so that no completion will come
            throw t;
        }
        if (sink != null) {
            sinks[index(number)] = sink;
        }
        outstanding++;
    }

    private void grow() {
        Object[] grown = Rings.doubled(messages, head);
        if (sinks != null) {
            sinks = Rings.doubled(sinks, head);
        }
        messages = grown; // last: without memory for both, nothing has changed
    }

    private int index(int number) {
        return number & messages.length - 1;
    }

    private static int slot(int number) {
        return number & WorkRequestId.MAX_SLOT;
    }

    private ByteBuf newBounce(int length) throws RdmaException {
        RegisteredByteBuf bounce = tools.registeredAllocator().newRegistered(length, "an RDMA Read");
        tools.pieces().find(bounce, 0, length);
        return RegisteredByteBufAllocator.track(bounce);
    }

    /** Says what to do; the pieces of memory are those that were found last. */
    private void describe(Object message, long id, SendWorkRequest request) throws RdmaException {
        if (message instanceof RdmaRead read) {
            request.read(id, read.source().steeringTag(), read.source().offset());
        } else if (message instanceof RdmaWrite write) {
            write.requireFit();
            findReadable(write.content());
            request.write(id, write.target().steeringTag(), write.target().offset());
        } else if (message instanceof RdmaSend send) {
            findReadable(send.content());
            if (send.isInvalidating()) {
                request.sendWithInvalidate(id, send.steeringTag());
            } else {
                request.send(id);
            }
        } else {
            findReadable((ByteBuf) message);
            request.send(id);
        }
    }

    private void findReadable(ByteBuf buffer) throws RdmaException {
        if (!tools.pieces().find(buffer, buffer.readerIndex(), buffer.readableBytes())) {
            throw new RdmaException("a message was changed between write and flush: its memory is not registered any more");
        }
    }

    /** The outbound buffer is about to be emptied, and nothing more is posted: keeps what the device may still use. */
    void hold() {
        if (held) {
            return;
        }
        held = true;
        toSkip = failed;
        if (outstanding > 0) {
            try {
                outbound.forEachFlushedMessage(visitor);
            } catch (Exception e) {
                throw new AssertionError(e); // keep() throws none
            }
        }
    }

    private boolean keep(Object message) {
        int index = index(head + kept);
        messages[index] = message;
        try {
            retain(message);
        } catch (IllegalReferenceCountException e) { // released once too often by its owner; the others are kept all the same
            messages[index] = Unpooled.EMPTY_BUFFER;
        }
        kept++;
        return kept < outstanding;
    }

    /**
     * The device has finished with the oldest message. With success it is taken out of the outbound buffer, unless it was held,
     * which succeeds its promise.
     */
    void complete(int slot, boolean success) {
        if (outstanding == 0 || slot != slot(head)) {
            throw new IllegalStateException("completion for send slot " + slot + ", expected " + slot(head) + ", " + outstanding
                    + " outstanding");
        }
        removeCancelled();
        Object message = held ? messages[index(head)] : outbound.current();
        boolean isDone = false;
        try {
            if (success) {
                if (message instanceof RdmaRead read) {
                    finishRead(read, sinks[index(head)]);
                }
                count(message);
                isDone = true;
            }
        } finally {
            freeOldest();
            failed += isDone ? 0 : 1;
        }
        if (isDone && !held) {
            outbound.remove();
            removeCancelled(); // no later completion may be due
        }
    }

    /**
     * Entries that were cancelled before they were flushed have become empty buffers. They are never posted, but count until they
     * are taken out.
     */
    private void removeCancelled() {
        // What is written empty is another object: see OutboundFilter.
        while (!held && outbound.current() == Unpooled.EMPTY_BUFFER) {
            outbound.remove();
        }
    }

    // Messages are told apart by their classes, never by an interface such as ReferenceCounted: the JVM remembers the last
    // interface asked for per class, in one place for all threads, which makes such questions slow between event loops.

    private static void retain(Object message) {
        if (message instanceof ByteBuf buffer) {
            buffer.retain();
        } else {
            ((RdmaOperation<?>) message).retain();
        }
    }

    private static void releaseSink(Object sink) {
        if (sink instanceof ByteBuf bounce) {
            bounce.release();
        } else {
            Pin.release((Pin) sink);
        }
    }

    private static void release(Object message) {
        if (message instanceof ByteBuf buffer) {
            buffer.release();
        } else {
            ((RdmaOperation<?>) message).release();
        }
    }

    private void freeOldest() {
        int index = index(head);
        Object sink = sinks == null ? null : sinks[index];
        if (sink != null) {
            releaseSink(sink);
            sinks[index] = null;
        }
        if (held) {
            release(messages[index]);
            messages[index] = null;
        }
        head++;
        outstanding--;
    }

    private void finishRead(RdmaRead read, Object sink) {
        ByteBuf content = read.content();
        if (sink instanceof ByteBuf bounce) {
            content.writeBytes(bounce, 0, read.length());
            statistics.add(Counter.COPIED_BYTES, read.length());
        } else {
            content.writerIndex(content.writerIndex() + read.length());
        }
    }

    private void count(Object message) {
        if (message instanceof RdmaRead read) {
            statistics.increment(Counter.READS);
            statistics.add(Counter.READ_BYTES, read.length());
        } else if (message instanceof RdmaWrite write) {
            statistics.increment(Counter.WRITES);
            statistics.add(Counter.WRITTEN_BYTES, write.content().readableBytes());
        } else {
            ByteBuf content = message instanceof ByteBuf buffer ? buffer : ((RdmaSend) message).content();
            statistics.increment(Counter.SENDS);
            statistics.add(Counter.SENT_BYTES, content.readableBytes());
            if (message instanceof RdmaSend send && send.isInvalidating()) {
                statistics.increment(Counter.REMOTE_INVALIDATIONS_SENT);
            }
        }
    }

    /** Whether messages were left waiting because there was no room. */
    boolean wasFull() {
        return full;
    }

    int outstanding() {
        return outstanding;
    }

    /** Takes one entry of the device's queue for an invalidation, if there is one; to be given back by {@link #unreserve}. */
    boolean reserve() {
        if (!hasRoom()) {
            return false;
        }
        reserved++;
        return true;
    }

    void unreserve() {
        reserved--;
    }

    boolean hasRoom() {
        return outstanding + reserved < depth;
    }

    /** Forgets all that is posted: the device has lost all access to the memory. */
    void releasePosted() {
        while (outstanding > 0) {
            freeOldest();
        }
    }
}
