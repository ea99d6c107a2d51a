package org.nettyrdma.channel;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelPipeline;
import java.io.IOException;
import org.nettyrdma.peer.PeerAddress;
import org.nettyrdma.verbs.QueuePair;

/**
 * The receives of one channel: keeps a number of buffers posted, holds the messages that have arrived until they are taken,
 * and posts a new buffer for each one taken. Receives complete in the order in which they were posted, so that the slots
 * form a ring:
 * <pre>{@code
 *   head              head + held              head + held + posted
 *    | arrived, not taken | with the device        | free
 * }</pre>
 * While messages are not taken their slots are not free, so that a peer can never make this side hold more than the
 * queue's depth. The queue holds one reference on the buffer of each slot that is not free. Event loop only.
 *
 * <p>What is posted cannot be taken back, so another size of buffers takes effect as messages come in: the ring then holds
 * buffers of several sizes, and only the last smaller one among them is counted down to.
 */
final class ReceiveQueue implements Receives {

    private final PostingTools tools;
    private final QueuePair queuePair;
    private final PeerAddress limitedPeer;
    private final int channelId;
    private final RdmaChannelConfig config;
    private final ByteBuf[] buffers;
    private final int[] messageBytes;
    private final RemoteInvalidation[] invalidations; // null where the message was a plain Send
    private int head;
    private int held;
    private int posted;
    private int bufferBytes;
    /** The largest that {@link #bufferBytes} was. */
    private int largestBytes;
    /** How many of the oldest posted buffers must complete until none is left that is smaller than {@link #bufferBytes}. */
    private int untilReplaced;
    /** Whether the end of the replacement has still to be told. */
    private boolean replacing;
    /** What {@link ConnectionMemory} counts of this, 0 before the first buffer is posted and after {@link #close}. */
    private long countedBytes;

    ReceiveQueue(QueuePairChannel channel, PostingTools tools, QueuePair queuePair, RdmaChannelConfig config) {
        this.tools = tools;
        this.queuePair = queuePair;
        this.config = config;
        channelId = channel.workRequestChannelId();
        limitedPeer = RdmaServerChannelConfig.limitedPeer(channel);
        bufferBytes = config.getReceiveBufferSize();
        largestBytes = bufferBytes;
        buffers = new ByteBuf[config.getReceiveQueueDepth()];
        messageBytes = new int[buffers.length];
        invalidations = new RemoteInvalidation[buffers.length];
    }

    @Override
    public void resize() {
        int bytes = config.getReceiveBufferSize();
        if (bytes == bufferBytes) {
            return;
        }
        bufferBytes = bytes;
        largestBytes = Math.max(largestBytes, bytes);
        if (countedBytes > 0) {
            tools.connectionMemory().resize(limitedPeer, allBytes() - countedBytes);
            countedBytes = allBytes();
        }
        untilReplaced = 0;
        for (int i = 0; i < posted; i++) {
            if (buffers[slot(held + i)].capacity() < bytes) {
                untilReplaced = i + 1;
            }
        }
        replacing = true;
    }

    @Override
    public int receivableBytes() {
        int bytes = bufferBytes;
        for (int i = 0; i < untilReplaced; i++) {
            bytes = Math.min(bytes, buffers[slot(held + i)].capacity());
        }
        return bytes;
    }

    @Override
    public boolean isReplaced() {
        return replacing && untilReplaced == 0;
    }

    @Override
    public void replacementTold() {
        replacing = false;
    }

    private long allBytes() {
        return (long) buffers.length * bufferBytes;
    }

    @Override
    public int fairMessages() {
        return tools.connectionMemory().shareOf(largestBytes); // what is sent does not become shorter with what is received
    }

    @Override
    public int reserve(int wanted, int besides) {
        return wanted; // all of them are posted for this channel
    }

    @Override
    public void repost() throws IOException {
        if (countedBytes == 0) {
            tools.connectionMemory().open(limitedPeer, allBytes());
            countedBytes = allBytes();
        }
        while (held + posted < buffers.length) {
            int slot = slot(held + posted);
            RegisteredByteBuf registered = tools.registeredAllocator().newRegistered(bufferBytes, "a receive buffer");
            Block block = registered.block();
            ByteBuf buffer = RegisteredByteBufAllocator.track(registered);
            try {
                queuePair.postReceive(WorkRequestId.encode(channelId, WorkRequestId.RECEIVE, slot), block.region(), block.offset,
                        bufferBytes);
            } catch (Throwable t) {
                buffer.release();
                throw t;
            }
            buffers[slot] = buffer;
            posted++;
        }
    }

    /** A message has arrived in the oldest posted buffer, and has invalidated memory unless the last argument is null. */
    void completed(int slot, int byteLength, RemoteInvalidation invalidation) {
        requireOldestPosted(slot);
        messageBytes[slot] = byteLength;
        invalidations[slot] = invalidation;
        posted--;
        held++;
        if (untilReplaced > 0) {
            untilReplaced--;
        }
    }

    /**
     * The oldest posted buffer will get no message; the device has returned it. Nothing may be posted from here on.
     *
     * @return how long a message for it could be
     */
    int flushed(int slot) {
        ByteBuf buffer = buffers[slot];
        if (buffer == null) {
            throw new IllegalStateException("second completion for receive slot " + slot);
        }
        int bytes = buffer.capacity();
        buffers[slot] = null;
        posted--;
        forgetReplacement();
        buffer.release();
        return bytes;
    }

    private void requireOldestPosted(int slot) {
        if (posted == 0 || slot != slot(held)) {
            throw new IllegalStateException("completion for receive slot " + slot + ", expected " + slot(held) + ", "
                    + posted + " posted");
        }
    }

    @Override
    public boolean hasMessage() {
        return held > 0;
    }

    @Override
    public int held() {
        return held;
    }

    @Override
    public int posted() {
        return posted;
    }

    @Override
    public int passOn(ChannelPipeline pipeline) {
        RemoteInvalidation invalidation = invalidations[head];
        int byteLength = messageBytes[head];
        ByteBuf message = take();
        if (invalidation != null) {
            pipeline.fireUserEventTriggered(invalidation);
        }
        pipeline.fireChannelRead(message);
        return byteLength;
    }

    private ByteBuf take() {
        assert held > 0;
        ByteBuf message = buffers[head].writerIndex(messageBytes[head]);
        buffers[head] = null;
        head = slot(1);
        held--;
        return message;
    }

    @Override
    public void releaseMessages() {
        while (held > 0) {
            take().release();
        }
    }

    @Override
    public void releasePosted() {
        for (int i = 0; i < buffers.length; i++) {
            if (buffers[i] != null) {
                buffers[i].release();
                buffers[i] = null;
            }
        }
        posted = 0;
        held = 0;
        forgetReplacement();
    }

    @Override
    public void close() {
        if (countedBytes > 0) {
            tools.connectionMemory().close(limitedPeer, countedBytes);
            countedBytes = 0;
        }
    }

    /** The connection is over, so the slots that are being counted down are not there any more. */
    private void forgetReplacement() {
        untilReplaced = 0;
        replacing = false;
    }

    private int slot(int distanceFromHead) {
        int slot = head + distanceFromHead;
        return slot < buffers.length ? slot : slot - buffers.length;
    }
}
