package org.nettyrdma.channel;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.FileRegion;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import org.nettyrdma.channel.RdmaChannelStatistics.Counter;
import org.nettyrdma.stream.SendCredits;
import org.nettyrdma.stream.StreamHello;
import org.nettyrdma.stream.StreamMessage;
import org.nettyrdma.stream.TargetList;

/**
 * The way out of a stream: cuts what was flushed into messages as far as the peer has room. Bytes stay in the outbound buffer
 * until the device has sent them, so that water marks measure what is under way, and promises complete in order. Registered
 * memory is sent from where it is; everything else, and what comes out of files, is copied once. Event loop only.
 */
final class StreamOutput {

    /** The most that goes with one message. The longest segment of iWARP, so that none is followed by a tiny one. */
    static final int MAX_MESSAGE_BYTES = 65472;
    /** Of a file of which less is left. */
    private static final int MIN_COPY_BYTES = 4096;
    /** In place of a number of bytes. */
    private static final int NO_MEMORY = -1;
    /** However many channels there are. */
    private static final int MIN_SHARE_BYTES = 4096;

    /** So many credits of a peer in C are left unused: its receives must also take messages that need no credit. */
    private static final int RESERVED_CREDITS = 8;

    private final RdmaChannelStatistics statistics;
    private final PostingTools tools;
    private final StreamSends sends;
    private final MessageCarrier carrier;
    private final StreamBatch batch;
    private final StreamRest rest;
    private final SendCredits credits;
    private final TargetList target;
    private final int maxPostedBytes;
    /** The most data that goes behind a message; 0 if the peer takes none there. */
    private final int maxBytesInMessage;
    private long postedBytes; // flushed, posted and not completed
    private boolean waiting;
    private boolean recalled;
    private boolean removing;
    private boolean inMessage; // how the next message goes
    /** There was no room in the ring of the peer for what was flushed. Only room changes that, and no further flush. */
    private boolean stalled;
    private boolean over;
    private Throwable regionFailure;
    private ChannelOutboundBuffer outbound; // that of the last write; null after the end

    StreamOutput(QueuePairChannel channel, StreamSends sends, MessageCarrier carrier, TargetList target, StreamHello peer,
                 int maxPostedBytes) {
        statistics = channel.statistics();
        tools = channel.io.postingTools();
        this.sends = sends;
        this.carrier = carrier;
        this.target = target;
        this.maxPostedBytes = maxPostedBytes;
        batch = new StreamBatch(tools);
        rest = new StreamRest(tools);
        boolean gathers = tools.provider().capabilities().maxGatherElements() > 1;
        maxBytesInMessage = peer.takesDataInMessages() && gathers
                ? Math.min(peer.receiveBytes(), StreamMemory.RECEIVE_BYTES) - StreamMessage.BYTES : 0;
        credits = new SendCredits(peer.credits(),
                peer.takesDataInMessages() ? 0 : Math.min(RESERVED_CREDITS, peer.credits() / 2));
    }

    /** The peer has told a new limit, and perhaps where there is room. */
    void update(int limit) throws IOException {
        credits.update(limit);
        target.update();
    }

    /** The peer wants the rest of its ring back. */
    void recalled() {
        recalled = true;
    }

    /** Gives the peer back what it has recalled, behind what was posted; returns whether anything was posted. */
    boolean returnRing() throws IOException {
        if (!recalled || !sends.hasRoomForControl(1)) {
            return false;
        }
        recalled = false;
        target.giveUp();
        carrier.send(StreamMessage.Control.RETURN);
        return true;
    }

    /** Posts what was flushed, as far as there is room. */
    void write(ChannelOutboundBuffer in) throws Exception {
        outbound = in;
        if (removing) {
            waiting = true;
            return;
        }
        if (postedBytes == 0) {
            in.removeBytes(0); // what is empty
        }
        waiting = in.current() != null;
        boolean isPosting = true;
        while (waiting && isPosting && hasRoom()) {
            isPosting = post(in);
        }
    }

    /** Looks at nothing that was flushed: a peer chooses how much of that is posted, and how often more is flushed. */
    private boolean hasRoom() {
        return postedBytes < Math.min(maxPostedBytes, shareBytes()) && credits.isAvailable() && sends.hasRoomForData()
                && !(stalled && target.remaining() == 0);
    }

    /** Peers that take nothing hold what is posted, so that it is no more than each channel may have. */
    private int shareBytes() {
        return Math.max(MIN_SHARE_BYTES, tools.connectionMemory().shareOf(1));
    }

    /** How much may go into the ring of the peer with the next message. */
    private int room() {
        return Math.min(target.remaining(), Math.min(MAX_MESSAGE_BYTES, shareBytes()));
    }

    /** Posts one message, and finds out whether more is left; {@code false} if it must wait. */
    private boolean post(ChannelOutboundBuffer in) throws Exception {
        if (postedBytes == 0 && in.current() instanceof FileRegion region) {
            boolean isPosted = postRegion(in, region);
            waiting = in.current() != null;
            return isPosted;
        }
        int bytes = collect(in);
        waiting = batch.isCut() || bytes == NO_MEMORY;
        if (bytes > 0) {
            postBatch(bytes, bytes);
            postedBytes += bytes;
        }
        return bytes > 0;
    }

    /**
     * Collects what goes with one message, of the outbound buffer or else of what is left; 0 if there is no room, and
     * {@link #NO_MEMORY} if there is no memory for a copy, and something is still to come after which this can be tried again.
     */
    private int collect(ChannelOutboundBuffer in) throws Exception {
        int room = room();
        int bytes;
        try {
            bytes = collect(in, Math.max(room, maxBytesInMessage));
        } catch (RdmaException e) {
            stalled = room == 0;
            if (!stalled && sends.outstanding() == 0) {
                throw e;
            }
            return NO_MEMORY;
        }
        // Behind a message goes what does not fill the entry: that must be filled to its end.
        inMessage = bytes <= maxBytesInMessage && (bytes < room || room == 0 && !batch.isCut());
        stalled = room == 0 && batch.isCut();
        if (!inMessage && bytes > room) {
            batch.clear();
            return room == 0 ? 0 : collect(in, room);
        }
        return bytes;
    }

    private int collect(ChannelOutboundBuffer in, int most) throws Exception {
        return in != null ? batch.collect(in, postedBytes, most) : batch.collect(rest, most);
    }

    private void postBatch(int bytes, int flushed) throws IOException {
        statistics.add(Counter.COPIED_BYTES, batch.copiedBytes());
        post(new StreamMessage.Data(bytes), bytes, batch.takePayload(), flushed);
    }

    /** The message is there before its payload is taken, which nobody would release for want of memory. */
    private void post(StreamMessage message, int bytes, Object payload, int flushed) throws IOException {
        credits.sent();
        if (inMessage) {
            carrier.sendWithData(message, payload, flushed);
            statistics.increment(Counter.SENDS);
            statistics.add(Counter.SENT_BYTES, bytes);
            return;
        }
        int key = target.key();
        long address = target.address();
        target.advance(bytes);
        carrier.write(message, key, address, payload, flushed);
        statistics.increment(Counter.WRITES);
        statistics.add(Counter.WRITTEN_BYTES, bytes);
    }

    /**
     * Sends a part of a file; {@code false} if that must wait. The file is done when it says so. A region that encrypts writes
     * more than it counts.
     */
    private boolean postRegion(ChannelOutboundBuffer in, FileRegion region) throws IOException {
        int room = room();
        long left = region.count() - region.transferred();
        if (left <= 0) {
            removeRegion(in);
            return true;
        }
        if (room == 0) {
            return false;
        }
        ByteBuf copy;
        try {
            copy = tools.newCopyOfSome((int) Math.min(room, Math.max(left, MIN_COPY_BYTES)));
        } catch (RdmaException e) {
            if (sends.outstanding() == 0) {
                throw e;
            }
            return false; // may have memory when they are sent
        }
        long progress;
        StreamMessage message;
        try {
            progress = region.transferTo(new CopyChannel(copy), region.transferred());
            if (!copy.isReadable()) {
                throw new IOException("a file region has given nothing of " + left + " bytes that are left of it");
            }
            message = new StreamMessage.Data(copy.readableBytes());
        } catch (Throwable t) {
            copy.release();
            regionFailure = t;
            throw t;
        }
        int bytes = copy.readableBytes();
        tools.pieces().find(copy, 0, bytes);
        statistics.add(Counter.COPIED_BYTES, bytes);
        inMessage = false;
        post(message, bytes, copy, 0);
        in.progress(progress);
        if (region.transferred() >= region.count()) {
            removeRegion(in);
        }
        return true;
    }

    /** Together with what is empty behind it: no completion would remove that. */
    private static void removeRegion(ChannelOutboundBuffer in) {
        in.remove();
        in.removeBytes(0);
    }

    /** What a region has thrown: nothing of the stream is missing then. {@code null} if none has. */
    Throwable regionFailure() {
        return regionFailure;
    }

    /**
     * Work requests have completed.
     *
     * @param flushed so many bytes that were flushed are sent
     * @param in      {@code null} if there is none any more: then Netty has failed its promises already
     */
    void completed(int flushed, ChannelOutboundBuffer in) {
        if (in == null) {
            return;
        }
        // Promises and water marks make handlers write, flush, end and close in the middle of this. So what is counted is right
        // whenever one of them is told, and nothing is posted before the end.
        removing = true;
        try {
            int left = flushed;
            while (left > 0 && outbound == in && in.current() instanceof ByteBuf first) {
                int bytes = Math.min(left, first.readableBytes());
                left -= bytes;
                if (bytes < first.readableBytes()) {
                    postedBytes -= bytes;
                    in.removeBytes(bytes);
                } else {
                    removeFirst(in, bytes);
                }
            }
        } finally {
            removing = false;
        }
    }

    /** Netty tells the progress while the buffer is still there. So it counts as posted until it is not. */
    private void removeFirst(ChannelOutboundBuffer in, int bytes) {
        if (bytes > 0) {
            in.progress(bytes);
        }
        if (outbound == in) { // the end has removed it otherwise
            postedBytes -= bytes;
            in.remove();
            in.removeBytes(0); // what is empty
        }
    }

    /**
     * This side ends its output, or the channel. What is posted is going to be sent, and as much of what was flushed as is
     * allowed to be posted, as with the send buffer of a socket. So its promises succeed: Netty is about to fail those of all
     * that is left in the outbound buffer.
     */
    void end() throws Exception {
        ChannelOutboundBuffer last = outbound;
        outbound = null;
        if (last != null) {
            last.removeBytes(postedBytes);
            if (!over) { // a promise that was told may have made its listener cut the connection
                rest.take(last, (int) Math.max(0, maxBytesAtEnd() - postedBytes));
                statistics.add(Counter.COPIED_BYTES, rest.bytes());
            }
            postedBytes = 0;
            stalled = false; // the rest may be less than what was flushed
            writeRest();
        }
    }

    /** Of a short answer that is closed behind nothing may be missing. */
    private int maxBytesAtEnd() {
        return Math.min(maxPostedBytes, Math.max(MAX_MESSAGE_BYTES, shareBytes()));
    }

    /** Posts what is left after the end, as far as there is room; returns whether anything was posted. */
    boolean writeRest() throws Exception {
        boolean posted = false;
        while (!rest.isEmpty() && hasRoom()) {
            int bytes = collect(null);
            if (bytes <= 0) {
                break;
            }
            postBatch(bytes, 0);
            rest.remove(bytes);
            posted = true;
        }
        return posted;
    }

    /** Whether something is left after the end that was not posted. */
    boolean hasRest() {
        return !rest.isEmpty();
    }

    /** Nothing more can be sent, so that the end leaves to Netty what is not posted. */
    void releaseRest() {
        over = true;
        rest.release();
    }

    /** Whether something that was flushed is posted, and not sent yet. */
    boolean isSending() {
        return postedBytes > 0;
    }

    /** Whether bytes were left for want of room. */
    boolean isWaiting() {
        return waiting;
    }

    /** Takes as much as a buffer has room for. */
    private record CopyChannel(ByteBuf to) implements WritableByteChannel {

        @Override
        public int write(ByteBuffer from) {
            int bytes = Math.min(from.remaining(), to.writableBytes());
            int limit = from.limit();
            to.writeBytes(from.limit(from.position() + bytes));
            from.limit(limit);
            return bytes;
        }

        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public void close() {
            // Nothing is open.
        }
    }
}
