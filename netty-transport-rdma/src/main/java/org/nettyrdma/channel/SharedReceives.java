package org.nettyrdma.channel;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelPipeline;
import java.io.IOException;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.support.GrowingQueue;

/**
 * The part that one channel has in the {@link ReceivePool} of its event loop: a promise of so many receives, and the messages
 * that have arrived for it. A channel without messages has nothing but the promise.
 *
 * <p>A message that is not passed on keeps its buffer, and the pool gets another one. So that this does not take up all memory,
 * the queue pair is allowed no more than {@link RdmaChannelOption#RECEIVE_QUEUE_DEPTH} of them, and no more than the channel's
 * share of the memory for messages.
 */
final class SharedReceives implements Receives {

    private static final int MAX_IDLE_MESSAGES = 32;

    private final ReceivePool pool;
    private final QueuePair queuePair;
    private final RdmaChannelConfig config;
    private final int depth;
    /** What has arrived, the oldest first, with what it has invalidated before it; {@code null} before the first. */
    private GrowingQueue<Object> messages;
    private int mostMessages;
    private int held;
    private long passedOn;
    private int window;
    private long promised;
    private boolean started;
    private boolean closed;
    /** Longest message that was agreed on, if it is less than a buffer. */
    private int receivableBytes;
    private boolean replacing;

    /** Of a channel that has been counted in the pool. */
    SharedReceives(ReceivePool pool, QueuePair queuePair, RdmaChannelConfig config) {
        this.pool = pool;
        this.queuePair = queuePair;
        this.config = config;
        depth = config.getReceiveQueueDepth();
        receivableBytes = pool.bufferBytes();
        promised = depth;
        pool.promise(promised);
    }

    @Override
    public void repost() throws IOException {
        if (!started) {
            pool.start();
            started = true;
        }
        allow();
    }

    private void allow() {
        window = Math.min(depth, pool.mostHeld());
        queuePair.allowReceives(passedOn + window);
    }

    /**
     * A message has arrived, and has invalidated memory unless the last argument is null. This takes over the reference,
     * unless it throws.
     */
    void arrived(ByteBuf message, RemoteInvalidation invalidation) {
        if (messages == null) {
            messages = new GrowingQueue<>(4);
        }
        messages.reserve(messages.size() + 2); // for both, or for none
        if (held >= ConnectionMemory.FEWEST_MESSAGES && pool.mostHeld() < window) {
            allow(); // others have come meanwhile
        }
        // From here on nothing fails: the buffer is in the queue, and the caller must not release it.
        if (invalidation != null) {
            messages.add(invalidation);
        }
        messages.add(message);
        held++;
        mostMessages = Math.max(mostMessages, held);
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
    public int passOn(ChannelPipeline pipeline) {
        Object first = messages.poll();
        RemoteInvalidation invalidation = first instanceof RemoteInvalidation found ? found : null;
        ByteBuf message = (ByteBuf) (invalidation == null ? first : messages.poll());
        int bytes = message.readableBytes();
        taken();
        if (invalidation != null) {
            pipeline.fireUserEventTriggered(invalidation);
        }
        pipeline.fireChannelRead(message);
        return bytes;
    }

    private void taken() {
        held--;
        passedOn++;
        if (held == 0 && mostMessages > MAX_IDLE_MESSAGES) {
            messages = null;
            mostMessages = 0;
        }
    }

    @Override
    public void releaseMessages() {
        while (held > 0) {
            if (messages.poll() instanceof ByteBuf message) {
                taken();
                message.release();
            }
        }
    }

    @Override
    public int posted() {
        return 0;
    }

    @Override
    public void releasePosted() {
        releaseMessages();
    }

    @Override
    public void close() {
        closed = true;
        pool.promise(-promised);
        promised = 0;
        pool.leave();
    }

    @Override
    public void resize() {
        int bytes = Math.min(config.getReceiveBufferSize(), pool.bufferBytes());
        replacing = bytes != receivableBytes || config.getReceiveBufferSize() > bytes;
        receivableBytes = bytes;
    }

    @Override
    public int receivableBytes() {
        return receivableBytes;
    }

    @Override
    public boolean isReplaced() {
        return replacing;
    }

    @Override
    public void replacementTold() {
        replacing = false;
    }

    @Override
    public int fairMessages() {
        return pool.fairMessages();
    }

    @Override
    public int reserve(int wanted, int besides) {
        if (closed) {
            return 1; // for an answer that nobody gets; what is promised now, nobody would take back
        }
        int share = (int) Math.max(1, Math.min(wanted, pool.shareOfWhatIsLeft(promised, besides)));
        long all = (long) share + besides;
        if (promised != all) {
            pool.promise(all - promised);
            promised = all;
        }
        return share;
    }
}
