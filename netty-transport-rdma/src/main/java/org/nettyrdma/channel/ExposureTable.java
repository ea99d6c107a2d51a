package org.nettyrdma.channel;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import java.io.IOException;
import org.nettyrdma.channel.RdmaChannelStatistics.Counter;
import org.nettyrdma.peer.PeerLog;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.support.GrowingQueue;
import org.nettyrdma.verbs.support.IntTable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The memory that one channel has exposed, by steering tag, and the invalidations in progress. Event loop only. */
final class ExposureTable {

    private static final Logger LOGGER = LoggerFactory.getLogger(ExposureTable.class);

    private final QueuePairChannel channel;
    private final PostingTools tools;
    private final QueuePair queuePair;
    private final SendQueue sendQueue;
    private final RdmaChannelStatistics statistics;
    private final IntTable<ExposedMemory> byTag = new IntTable<>();
    /** All of it, linked, since there may be no memory to go through a collection at the end; persistent tags serve several. */
    private ExposedMemory newest;
    private final IntTable<ExposedMemory> invalidating = new IntTable<>(); // by slot of the work request id
    private final GrowingQueue<ExposedMemory> waiting = new GrowingQueue<>(2); // for room in the send queue
    private int lastSlot;

    ExposureTable(QueuePairChannel channel, PostingTools tools, QueuePair queuePair, SendQueue sendQueue) {
        this.channel = channel;
        this.tools = tools;
        this.queuePair = queuePair;
        this.sendQueue = sendQueue;
        statistics = channel.statistics();
    }

    ExposedMemory expose(ByteBuf memory, int index, int length, RemoteAccess access) throws RdmaException {
        if (length < 1 || index < 0 || index > memory.capacity() - length) {
            throw new IndexOutOfBoundsException("index: " + index + ", length: " + length + " (expected: a piece of "
                    + memory + ')');
        }
        if (access == RemoteAccess.WRITE && memory.isReadOnly()) {
            throw new IllegalArgumentException("a peer cannot write into " + memory);
        }
        RegisteredPieces pieces = tools.pieces();
        if (!pieces.find(memory, index, length) || pieces.count() != 1) {
            throw new RdmaException("memory to expose must be registered and in one piece: " + memory);
        }
        Pin pin = Pin.of(memory, access == RemoteAccess.WRITE);
        ExposedMemory exposed;
        try {
            exposed = new ExposedMemory(this, memory, pin); // first of all, so that nothing is open that nobody holds
        } catch (Throwable t) {
            Pin.release(pin);
            throw t;
        }
        try {
            exposed.tag = queuePair.expose(pieces.region(0), pieces.offset(0), length, access.right());
        } catch (IOException e) {
            exposed.invalidated();
            throw new RdmaException("memory of " + length + " bytes cannot be exposed: " + e.getMessage(), e);
        } catch (Throwable t) {
            exposed.invalidated();
            throw t;
        }
        link(exposed);
        try {
            exposed.segment = new RemoteSegment(exposed.tag, length, queuePair.remoteOffset(exposed.tag));
            byTag.put(exposed.tag, exposed);
        } catch (Throwable t) { // no memory, for instance: nobody could withdraw it, but the end of the channel does
            channel.fail(t);
            throw t;
        }
        statistics.increment(Counter.EXPOSURES);
        return exposed;
    }

    private void link(ExposedMemory exposed) {
        exposed.older = newest;
        if (newest != null) {
            newest.newer = exposed;
        }
        newest = exposed;
    }

    private void unlink(ExposedMemory exposed) {
        if (exposed == newest) {
            newest = exposed.older;
        } else {
            exposed.newer.older = exposed.older;
        }
        if (exposed.older != null) {
            exposed.older.newer = exposed.newer;
        }
    }

    /** The channel whose memory this is about. */
    Channel channel() {
        return channel;
    }

    /** The user withdraws exposed memory. Where that fails the channel ends, and all exposure with it. */
    void withdraw(ExposedMemory exposed) {
        if (!channel.isOpen()) {
            return; // done soon, when the queue pair is freed
        }
        try {
            invalidate(exposed);
        } catch (IOException | RuntimeException | Error e) { // no memory, for instance
            channel.fail(e);
        }
    }

    /** Withdraws exposed memory, now or when the send queue has room. */
    private void invalidate(ExposedMemory exposed) throws IOException {
        if (!sendQueue.reserve()) {
            waiting.add(exposed);
            return;
        }
        boolean pending = false;
        int slot = nextSlot();
        try {
            invalidating.put(slot, exposed); // first: a completion has to find it
            pending = !queuePair.invalidate(
                    WorkRequestId.encode(channel.workRequestChannelId(), WorkRequestId.INVALIDATE, slot),
                    exposed.tag);
        } finally {
            if (!pending) {
                invalidating.remove(slot);
                sendQueue.unreserve();
            }
        }
        if (pending) {
            queuePair.flush();
        } else {
            finish(exposed);
        }
    }

    private int nextSlot() {
        do {
            lastSlot = lastSlot + 1 & WorkRequestId.MAX_SLOT;
        } while (invalidating.get(lastSlot) != null);
        return lastSlot;
    }

    /** The provider has completed an invalidation; where it failed, the end of the connection withdraws the memory. */
    void completed(int slot, boolean success) {
        ExposedMemory exposed = invalidating.remove(slot);
        if (exposed == null) {
            throw new IllegalStateException("completion for invalidation " + slot + ", which is not in progress");
        }
        sendQueue.unreserve();
        if (success) {
            finish(exposed);
        }
    }

    private void finish(ExposedMemory exposed) {
        if (exposed.isInvalidated()) {
            return; // the peer was faster
        }
        unlink(exposed);
        if (byTag.get(exposed.tag) == exposed) {
            byTag.remove(exposed.tag);
        }
        statistics.increment(Counter.LOCAL_INVALIDATIONS);
        exposed.invalidated();
    }

    /** The send queue has room again. */
    void resume() throws IOException {
        while (!waiting.isEmpty() && sendQueue.hasRoom()) {
            ExposedMemory exposed = waiting.poll();
            if (!exposed.isInvalidated()) {
                invalidate(exposed);
            }
        }
    }

    /** Whether memory is still exposed that was to be withdrawn, for want of room in the send queue. */
    boolean isWaiting() {
        return !waiting.isEmpty();
    }

    /** The peer has withdrawn a tag with a Send with Invalidate. */
    void invalidatedByPeer(int tag) {
        ExposedMemory exposed = byTag.remove(tag);
        if (exposed == null) {
            return; // this side's own invalidation was under way as the message arrived
        }
        unlink(exposed);
        statistics.increment(Counter.REMOTE_INVALIDATIONS_RECEIVED);
        exposed.invalidated();
    }

    /** Invalidations that the provider has not completed. */
    int outstanding() {
        return invalidating.size();
    }

    /** The connection has ended and the peer can touch nothing any more, unless the queue pair tells otherwise. */
    void closed() {
        byTag.clear();
        invalidating.clear();
        waiting.clear();
        for (ExposedMemory each = newest; each != null; each = newest) {
            unlink(each);
            try {
                if (queuePair.mayUseExposed(each.tag)) {
                    lost(each);
                } else {
                    each.invalidated();
                }
            } catch (RuntimeException e) { // its memory was released more often than retained; that of the others was not
                PeerLog.fault(LOGGER, channel, each + " cannot be released", e);
            }
        }
    }

    private void lost(ExposedMemory exposed) {
        LostMemory.keep(exposed);
        statistics.increment(Counter.BUFFERS_LEAKED_ON_PURPOSE);
        PeerLog.warn(LOGGER, channel, "the device has not taken away the peer's access to {}; the memory is given up", exposed);
        exposed.lost(new RdmaException("the device has not taken away the peer's access to exposed memory"));
    }
}
