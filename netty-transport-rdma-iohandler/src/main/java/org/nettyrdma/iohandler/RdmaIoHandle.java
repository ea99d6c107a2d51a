package org.nettyrdma.iohandler;

import io.netty.channel.Channel;
import io.netty.channel.IoEvent;
import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoOps;
import io.netty.channel.IoRegistration;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The place that a channel has in its event loop, which counts it. Channels get what has happened from
 * {@link org.nettyrdma.channel.RdmaIo}, so that there are neither operations nor events. Any thread.
 */
final class RdmaIoHandle implements IoHandle, IoRegistration {

    private final Channel channel;
    private final IoHandler handler;
    private final AtomicBoolean cancelled = new AtomicBoolean();

    RdmaIoHandle(Channel channel, IoHandler handler) {
        this.channel = channel;
        this.handler = handler;
    }

    @Override
    public void handle(IoRegistration registration, IoEvent event) {
        throw new IllegalStateException("an event for an RDMA channel: " + event);
    }

    @Override
    public void close() {
        channel.close();
    }

    @Override
    @SuppressWarnings("unchecked") // the handler says of which type it is
    public <T> T attachment() {
        return (T) handler;
    }

    @Override
    public long submit(IoOps ops) {
        throw new UnsupportedOperationException("an operation for an RDMA channel: " + ops);
    }

    @Override
    public boolean isValid() {
        return !cancelled.get();
    }

    @Override
    public boolean cancel() {
        return cancelled.compareAndSet(false, true);
    }
}
