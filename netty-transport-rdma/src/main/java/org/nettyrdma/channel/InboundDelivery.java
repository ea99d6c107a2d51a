package org.nettyrdma.channel;

import java.io.IOException;
import org.nettyrdma.channel.RdmaChannelStatistics.Counter;

/**
 * Passes on what has arrived as far as reads are wanted, one message with each {@code channelRead}. Event loop only.
 */
final class InboundDelivery {

    private final RdmaChannel channel;
    private final WorkRequests work;
    private final ReceiveQueue messages;
    private boolean readPending;

    InboundDelivery(RdmaChannel channel, WorkRequests work) {
        this.channel = channel;
        this.work = work;
        messages = work.receives();
    }

    /** A read is wanted. */
    void beginRead() {
        readPending = true;
        if (messages.hasMessage()) {
            channel.schedule();
        }
    }

    /** No read is wanted any more, unless one is {@code wantedAgain} by now. */
    void clearReadPending(boolean wantedAgain) {
        readPending = wantedAgain;
    }

    /** A message has arrived that is not passed on yet. */
    void messageArrived() {
        if (readPending) {
            channel.schedule();
        } else {
            channel.statistics().increment(Counter.RECEIVES_HELD_BACK);
        }
    }

    /** Passes messages on, if there are any and a read is wanted. */
    void passOn() throws IOException {
        if (!readPending || !messages.hasMessage()) {
            return;
        }
        var handle = channel.unsafe().recvBufAllocHandle();
        handle.reset(channel.config());
        do {
            handle.incMessagesRead(1);
            readPending = false;
            handle.lastBytesRead(messages.passOn(channel.pipeline()));
        } while (messages.hasMessage() && handle.continueReading());
        if (channel.state() == ChannelState.ACTIVE) {
            work.repost();
        }
        handle.readComplete();
        channel.pipeline().fireChannelReadComplete(); // reads on if AUTO_READ is set
    }
}
