package org.nettyrdma.channel;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.ChannelInputShutdownReadComplete;
import io.netty.channel.socket.SocketChannelConfig;
import java.io.IOException;
import org.nettyrdma.stream.StreamReceiver;

/** Passes on what has arrived as far as reads are wanted, and then that the peer sends no more. Event loop only. */
final class StreamDelivery {

    private final QueuePairChannel channel;
    private final SocketChannelConfig config;
    private final StreamInput input;
    private boolean readPending;
    private volatile boolean inputShutdown;
    private boolean endTold;
    private boolean readCompleteTold;
    private boolean passingOn;

    StreamDelivery(QueuePairChannel channel, SocketChannelConfig config, StreamInput input) {
        this.channel = channel;
        this.config = config;
        this.input = input;
    }

    /** A read is wanted. */
    void beginRead() {
        readPending = true;
        StreamReceiver receiver = input.receiver();
        if (receiver != null && (receiver.readableBytes() > 0 || receiver.isFinished() || inputShutdown)) {
            channel.schedule();
        }
    }

    void readsCleared() {
        readPending = false;
    }

    /** Whether what arrives will be passed on. */
    boolean isWanted() {
        return readPending || inputShutdown;
    }

    /** Whether a read is wanted, or may be in a moment: some handlers ask for the next one once they are told of all data. */
    boolean isReadExpected() {
        return isWanted() || passingOn;
    }

    /** Any thread. */
    boolean isInputShutdown() {
        return inputShutdown;
    }

    /** Whether the pipeline knows that the peer sends no more. */
    boolean isEndTold() {
        return endTold;
    }

    /** This side wants to read no more. */
    void shutdownInput() {
        inputShutdown = true;
        channel.schedule();
    }

    /** Whether everything was passed on that had arrived before the connection failed. */
    boolean isAllPassedOn() {
        return input.receiver().readableBytes() == 0;
    }

    /** Passes on what there is, if a read is wanted. Afterwards the caller looks again at what was flushed meanwhile. */
    void passOn() throws IOException {
        passingOn = true;
        try {
            passOnWhatThereIs();
        } finally {
            passingOn = false;
        }
    }

    private void passOnWhatThereIs() throws IOException {
        StreamReceiver receiver = input.receiver();
        if (inputShutdown) {
            input.discard();
            endTold |= receiver.isFinished(); // nobody asks for it
        } else if (readPending && receiver.readableBytes() > 0 || isEndUntold(receiver)) {
            read(receiver);
        }
        if ((readPending || endTold) && inputShutdown && channel.isOpen() && config.isAllowHalfClosure() && !readCompleteTold) {
            readCompleteTold = true;
            readPending = false;
            channel.pipeline().fireUserEventTriggered(ChannelInputShutdownReadComplete.INSTANCE);
        }
    }

    /** It is told without a read as well: a program that reads no more learns of it, as with Netty's epoll transport. */
    private boolean isEndUntold(StreamReceiver receiver) {
        return receiver.isFinished() && receiver.readableBytes() == 0 && !endTold;
    }

    private void read(StreamReceiver receiver) throws IOException {
        ChannelPipeline pipeline = channel.pipeline();
        var handle = channel.unsafe().recvBufAllocHandle();
        handle.reset(config);
        boolean isAnyRead = receiver.readableBytes() > 0;
        boolean tellsEnd = false;
        try {
            boolean goesOn = isAnyRead;
            while (goesOn) {
                ByteBuf buffer = take(receiver.readableBytes());
                handle.lastBytesRead(buffer.readableBytes());
                handle.incMessagesRead(1);
                // As with Netty's own transports, AUTO_READ asks once: a handler that swallows later ones holds nothing back.
                readPending = config.isAutoRead();
                pipeline.fireChannelRead(buffer);
                goesOn = receiver.readableBytes() > 0 && channel.isOpen() && !inputShutdown && handle.continueReading();
            }
            // With a read of its own, as the end of a TCP stream.
            tellsEnd = channel.isOpen() && isEndUntold(receiver) && (!isAnyRead || config.isAutoRead());
            if (tellsEnd) {
                readPending = false;
            }
        } finally { // a failure ends the channel; as with Netty's own, handlers first finish with what they have read
            handle.readComplete();
            pipeline.fireChannelReadComplete();
        }
        if (tellsEnd && channel.isOpen() && !inputShutdown) { // a handler may have ended it just now
            tellEnd(pipeline);
        } else if (channel.isOpen() && (readPending && receiver.readableBytes() > 0 || isEndUntold(receiver))) {
            channel.schedule();
        }
    }

    /** Who has set an allocator gets its buffers: Vert.x releases no others. */
    private ByteBuf take(long readableBytes) throws IOException {
        var handle = channel.unsafe().recvBufAllocHandle();
        ByteBuf buffer = config.getAllocator() instanceof RegisteredByteBufAllocator
                ? input.readWithoutCopy(handle.guess()) : null;
        if (buffer != null) {
            handle.attemptedBytesRead(buffer.readableBytes());
            return buffer;
        }
        buffer = allocate(readableBytes);
        try {
            input.read(buffer);
            return buffer;
        } catch (Throwable t) {
            buffer.release();
            throw t;
        }
    }

    /**
     * Not more than there is data: peers may send little at a time, in any number of messages, and handlers that keep what they
     * have read, for instance until it is written somewhere else, count its bytes only.
     */
    private ByteBuf allocate(long readableBytes) {
        var handle = channel.unsafe().recvBufAllocHandle();
        int guess = handle.guess();
        if (readableBytes < guess) {
            handle.attemptedBytesRead(guess);
            return config.getAllocator().ioBuffer((int) readableBytes);
        }
        ByteBuf buffer = handle.allocate(config.getAllocator());
        handle.attemptedBytesRead(buffer.writableBytes());
        return buffer;
    }

    private void tellEnd(ChannelPipeline pipeline) {
        endTold = true;
        if (!config.isAllowHalfClosure()) {
            channel.closeNow();
        } else {
            inputShutdown = true;
            pipeline.fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
            channel.schedule();
        }
    }
}
