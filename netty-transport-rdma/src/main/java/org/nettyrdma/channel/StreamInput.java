package org.nettyrdma.channel;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.ByteOrder;
import org.nettyrdma.channel.RdmaChannelStatistics.Counter;
import org.nettyrdma.stream.StreamHello;
import org.nettyrdma.stream.StreamMessage;
import org.nettyrdma.stream.StreamProtocolException;
import org.nettyrdma.stream.StreamReceiver;
import org.nettyrdma.stream.TargetEntry;
import org.nettyrdma.stream.TargetList;

/**
 * The way in of a stream: receives, the ring, and what the peer is told of them. Handlers see only what the
 * peer cannot change any more. So data is copied, once, out of the memory that the peer can write to. Where much of it lies in
 * one piece, the peer loses its access instead, and the data is passed on where it is. Room and credits go back to the peer only
 * for what was taken. Event loop only.
 */
final class StreamInput implements IdleRings.Owner {

    /** A piece holds the whole block that it lies in; a small one is rather copied. */
    private static final int MIN_UNCOPIED_BYTES = 32 << 10;

    private final QueuePairChannel channel;
    private final PostingTools tools;
    private final StreamMemory memory;
    private final StreamRing ring;
    private final boolean[] isPosted = new boolean[StreamMemory.RECEIVES];
    private int posted;

    // From the agreement on:
    private StreamReceiver receiver;
    private MessageCarrier carrier;
    private StreamSends sends;
    private StreamHello peer;
    private int peerEntry = 1; // the first came with the private data
    private int entriesToTell = 1;
    private boolean recallDue;

    StreamInput(QueuePairChannel channel, StreamMemory memory, StreamRing ring) {
        this.channel = channel;
        this.memory = memory;
        this.ring = ring;
        tools = channel.io.postingTools();
    }

    void postReceives() throws IOException {
        for (int slot = 0; slot < StreamMemory.RECEIVES; slot++) {
            post(slot);
        }
    }

    private void post(int slot) throws IOException {
        memory.postReceive(channel.workRequestChannelId(), slot);
        isPosted[slot] = true;
        posted++;
    }

    /** What the peer is told with the connection request or its answer. */
    StreamHello hello() {
        return new StreamHello(false, StreamMemory.CREDITS, StreamMemory.RECEIVE_BYTES, memory.listAddress(), memory.listTag(),
                TargetList.ENTRIES, ring.first());
    }

    /** The peer has told the same. */
    void agreed(StreamHello hello, MessageCarrier messageCarrier, StreamSends streamSends) {
        peer = hello;
        carrier = messageCarrier;
        sends = streamSends;
        receiver = new StreamReceiver(StreamMemory.CREDITS, hello.takesDataInMessages());
        receiver.published(ring.first().length());
        receiver.published(ring.fromLast(0).length());
    }

    StreamReceiver receiver() {
        return receiver;
    }

    /** The device has returned a receive without a message. */
    void flushed(int slot) {
        if (!isPosted[slot]) {
            throw new IllegalStateException("second completion for receive slot " + slot);
        }
        isPosted[slot] = false;
        posted--;
    }

    /** A message has arrived as a Send. */
    StreamMessage arrived(int slot, int messageBytes) throws IOException {
        if (peer == null) {
            return arrivedUnagreed(slot);
        }
        if (messageBytes < StreamMessage.BYTES) {
            flushed(slot);
            throw new StreamProtocolException("a message of " + messageBytes + " bytes (limit: "
                    + StreamMessage.BYTES + ')');
        }
        int word = memory.bytes().getInt(StreamMemory.receiveAt(slot));
        return arrived(slot, peer.order() == ByteOrder.LITTLE_ENDIAN ? word : Integer.reverseBytes(word), messageBytes);
    }

    /**
     * A message has arrived, and has used a receive.
     *
     * @param messageBytes its length, together with data behind it
     */
    StreamMessage arrived(int slot, int word, int messageBytes) throws IOException {
        if (peer == null) {
            return arrivedUnagreed(slot);
        }
        flushed(slot);
        StreamMessage message = receiver.arrived(word, messageBytes, slot);
        channel.statistics().increment(Counter.RECEIVES);
        channel.statistics().add(Counter.RECEIVED_BYTES, messageBytes);
        if (messageBytes == StreamMessage.BYTES) {
            repost(slot);
        }
        if (message == StreamMessage.Control.RETURN) {
            ring.shrink(TargetList.ENTRIES - entriesToTell);
            recycleTaken();
        } else if (message == StreamMessage.Control.SHUTDOWN) {
            ring.shrink(TargetList.ENTRIES);
            recycleTaken();
        }
        return message;
    }

    /** The channel was closed, or the peer's answer refused, while the message was on its way to here. */
    private StreamMessage arrivedUnagreed(int slot) {
        flushed(slot);
        return null;
    }

    private void repost(int slot) throws IOException {
        if (channel.state() != ChannelState.ENDED) { // a closed one waits for the peer's last message
            post(slot);
        }
    }

    /**
     * The oldest data where it is, in memory that the peer cannot reach any more.
     *
     * @param most so many bytes at most
     * @return a part of a block of the ring, whose reference passes to the caller; {@code null} if data must be copied
     */
    ByteBuf readWithoutCopy(int most) throws IOException {
        int bytes = Math.min(most, receiver.oldestBytes());
        if (bytes < MIN_UNCOPIED_BYTES || receiver.oldestReceive() != StreamReceiver.RING || !receiver.isFirstEntryFull()
                || channel.state() != ChannelState.ACTIVE || !ring.withdrawOldest()) {
            return null;
        }
        ByteBuf piece = tools.registeredAllocator().retainedPart(ring.oldest(), receiver.oldestOffset(), bytes);
        try {
            taken(bytes, StreamReceiver.RING);
            return piece;
        } catch (Throwable t) {
            piece.release();
            throw t;
        }
    }

    /** Moves data into a buffer, as much as it has room for and there is. */
    void read(ByteBuf to) throws IOException {
        int before = to.readableBytes();
        while (to.isWritable() && receiver.oldestBytes() > 0) {
            int bytes = Math.min(to.writableBytes(), receiver.oldestBytes());
            int receive = receiver.oldestReceive();
            int at = receiver.oldestOffset();
            if (receive == StreamReceiver.RING) {
                to.writeBytes(ring.oldest(), at, bytes);
            } else {
                to.writeBytes(memory.buffer(), StreamMemory.receiveAt(receive) + at, bytes);
            }
            taken(bytes, receive);
        }
        channel.statistics().add(Counter.RECEIVED_COPIED_BYTES, to.readableBytes() - before);
    }

    /** Forgets what has arrived: nobody will read it. */
    void discard() throws IOException {
        while (receiver != null && receiver.oldestBytes() > 0) {
            taken(receiver.oldestBytes(), receiver.oldestReceive());
        }
    }

    private void taken(int bytes, int receive) throws IOException {
        boolean end = receiver.take(bytes);
        if (receive == StreamReceiver.RING) {
            recycleTaken();
        } else if (end) {
            repost(receive);
        }
    }

    private void recycleTaken() throws IOException {
        while (receiver.removeTakenEntry()) {
            if (channel.state() != ChannelState.ENDED) { // to a closed one the peer's end comes behind its data
                ring.recycle();
                receiver.published(ring.fromLast(0).length());
                entriesToTell++;
                recallDue = false;
                if (ring.isLarge()) {
                    channel.io.idleRings().used(this);
                }
            } else {
                ring.rotate();
            }
        }
    }

    /**
     * The peer has filled no part of the ring for a while, which is larger than at first. A peer in C cannot be asked for what it
     * has not filled.
     */
    @Override
    public void shrink() {
        ring.dropLent();
        tools.registeredAllocator().trimTimer().trimLater();
        if (channel.state() == ChannelState.ACTIVE && peer.takesDataInMessages() && ring.isLarge() && !receiver.isRecalled()) {
            recallDue = true;
            channel.schedule();
        }
    }

    /** The ring is gone. */
    void ended() {
        channel.io.idleRings().ended(this);
    }

    /** Tells the peer what room there is, if it should know; returns whether anything was posted. */
    boolean returnCredits() throws IOException {
        if (receiver.isFinished()) {
            return false;
        }
        boolean told = false;
        while ((mayTellEntry() || receiver.isUpdateDue())
                && sends.hasRoomForControl(mayTellEntry() ? carrier.workRequestsPerWrite() : 1)) {
            if (mayTellEntry()) {
                tellEntry();
            } else {
                carrier.send(new StreamMessage.Credits(receiver.newLimit()));
            }
            told = true;
        }
        if (recallDue && entriesToTell == 0 && receiver.readableBytes() == 0 && sends.hasRoomForControl(1)) {
            recallDue = false;
            receiver.recall();
            carrier.send(StreamMessage.Control.RECALL);
            told = true;
        }
        return told;
    }

    /** A peer that is asked for the ring could not tell an entry of before from one of after. */
    private boolean mayTellEntry() {
        return entriesToTell > 0 && !receiver.isRecalled();
    }

    private void tellEntry() throws IOException {
        int at = StreamMemory.sendAt(sends.nextSlot()); // free until the next work request completes
        ring.fromLast(entriesToTell - 1).write(memory.bytes(), at, peer.order());
        tools.pieces().find(memory.buffer(), at, TargetEntry.BYTES);
        carrier.write(new StreamMessage.Credits(receiver.newLimit()), peer.listKey(),
                peer.listAddress() + (long) peerEntry * TargetEntry.BYTES, null, 0);
        peerEntry = (peerEntry + 1) % peer.listEntries();
        entriesToTell--;
    }

    int posted() {
        return posted;
    }

    /** The device has lost all access. */
    void releasePosted() {
        posted = 0;
    }
}
