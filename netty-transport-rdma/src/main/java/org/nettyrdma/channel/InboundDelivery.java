package org.nettyrdma.channel;

import io.netty.channel.ChannelOutboundBuffer;
import java.io.IOException;
import org.nettyrdma.channel.RdmaChannelStatistics.Counter;

/**
 * Passes on what has arrived as far as reads are wanted, one message with each {@code channelRead}, and as long as the peer takes
 * what this side sends: {@link RdmaChannelOption#MAX_OUTBOUND_MESSAGES}. Event loop only.
 */
final class InboundDelivery {

    private final QueuePairChannel channel;
    private final RdmaChannelConfig config;
    private final RdmaChannelStatistics statistics;
    private final WorkRequests work;
    private final Receives messages;
    private boolean readPending;
    /** Nothing is passed on until half of what this side has written is done. */
    private boolean waitingForCompletions;

    InboundDelivery(QueuePairChannel channel, RdmaChannelConfig config, WorkRequests work) {
        this.channel = channel;
        this.config = config;
        this.work = work;
        statistics = channel.statistics();
        messages = work.receives();
    }

    /** A read is wanted. */
    void beginRead() {
        readPending = true;
        if (messages.hasMessage()) {
            channel.schedule();
        }
    }

    /** Whether a read is wanted, so that a turn passes on what has arrived. */
    boolean isReadPending() {
        return readPending;
    }

    /** No read is wanted any more. */
    void readsCleared() {
        readPending = false;
    }

    /** The size of the receives to post has been set. */
    void receiveBufferSizeSet() {
        if (channel.isOpen()) {
            messages.resize();
            channel.schedule();
        }
    }

    /** A message has arrived that is not passed on yet. */
    void messageArrived() {
        if (!channel.isOpen()) {
            messages.releaseMessages();
        } else if (readPending) {
            channel.schedule();
        } else {
            statistics.increment(Counter.RECEIVES_HELD_BACK);
        }
    }

    /** Tells that receives of another size are in place, if they are. */
    void tellReplacement() {
        if (messages.isReplaced()) {
            messages.replacementTold(); // first, for a handler may set the next size
            channel.pipeline().fireUserEventTriggered(new ReceiveBuffersReplaced(messages.receivableBytes()));
        }
    }

    /** Passes messages on, if there are any and a read is wanted: so many, or fewer if the user wants fewer. */
    void passOn(int maxMessages) throws IOException {
        if (!readPending || !messages.hasMessage()) {
            return;
        }
        int left = Math.min(maxMessages, roomForAnswers());
        if (left == 0) {
            return;
        }
        var handle = channel.unsafe().recvBufAllocHandle();
        handle.reset(config);
        try {
            do {
                handle.incMessagesRead(1);
                readPending = false;
                int bytes = messages.passOn(channel.pipeline());
                handle.attemptedBytesRead(bytes); // otherwise allocators that look for a full buffer stop after each message
                handle.lastBytesRead(bytes);
            } while (--left > 0 && messages.hasMessage() && handle.continueReading());
            if (channel.state() == ChannelState.ACTIVE) {
                work.repost();
            }
        } finally { // a failure ends the channel; as with Netty's own, handlers first finish with what they have read
            handle.readComplete();
            channel.pipeline().fireChannelReadComplete(); // reads on if AUTO_READ is set
        }
    }

    /**
     * How many messages may be passed on, as if each led to one that this side sends; 0 if they are held back. Of a connection
     * that has ended everything is passed on: nothing will be completed any more.
     */
    private int roomForAnswers() {
        ChannelOutboundBuffer outbound = channel.unsafe().outboundBuffer(); // null once the channel is closed
        if (outbound == null || channel.state() != ChannelState.ACTIVE) {
            return Integer.MAX_VALUE;
        }
        int most = most();
        boolean over = outbound.size() > (waitingForCompletions ? most / 2 : most);
        if (over && !waitingForCompletions) {
            statistics.increment(Counter.OUTBOUND_LIMIT_REACHED);
        }
        waitingForCompletions = over;
        return over ? 0 : Math.max(ConnectionMemory.FEWEST_MESSAGES, most - outbound.size());
    }

    /** Where nobody has set a bound the protocol may need none, and must not get one from the number of channels. */
    private int most() {
        int most = config.getMaxOutboundMessages();
        return most == Integer.MAX_VALUE ? most : Math.min(most, messages.fairMessages());
    }

    /** Whether a completion may end what holds messages back. */
    boolean isWaitingForCompletions() {
        return waitingForCompletions;
    }
}
