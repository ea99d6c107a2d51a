package org.nettyrdma.channel;

import io.netty.channel.AbstractServerChannel;
import io.netty.channel.EventLoop;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.UnresolvedAddressException;
import org.nettyrdma.verbs.ConnectionListener;
import org.nettyrdma.verbs.ConnectionRequest;
import org.nettyrdma.verbs.ListenAttributes;

/**
 * Listens for connection requests. Each becomes an {@link RdmaChannel}, read as a message like with every Netty server
 * channel; registering it with an event loop accepts the connection, closing it before or {@link RdmaChannel#reject}
 * refuses it. While no read is wanted ({@code AUTO_READ}) requests wait in the backlog.
 */
public final class RdmaServerChannel extends AbstractServerChannel {

    private final RdmaServerChannelConfig config = new RdmaServerChannelConfig(this);
    private volatile ConnectionListener listener;
    private volatile boolean open = true;

    // Event loop only.
    private RdmaEventLoop loop;
    private boolean batchOpen;

    /**
     * A channel to listen with, for {@code ServerBootstrap.channel(RdmaServerChannel.class)}.
     */
    public RdmaServerChannel() {
        // Needed by the bootstrap.
    }

    @Override
    public RdmaServerChannelConfig config() {
        return config;
    }

    @Override
    public boolean isOpen() {
        return open;
    }

    @Override
    public boolean isActive() {
        return open && listener != null;
    }

    @Override
    protected boolean isCompatible(EventLoop eventLoop) {
        return eventLoop instanceof RdmaEventLoop;
    }

    @Override
    protected void doRegister() {
        loop = (RdmaEventLoop) eventLoop();
        loop.add(this);
    }

    @Override
    protected void doDeregister() {
        // The listener belongs to the loop's context and cannot move to another.
        unsafe().close(unsafe().voidPromise());
    }

    @Override
    protected void doBind(SocketAddress localAddress) throws Exception {
        if (localAddress instanceof InetSocketAddress address && address.isUnresolved()) {
            throw new UnresolvedAddressException();
        }
        ListenAttributes attributes = new ListenAttributes(config.getRequestTimeoutMillis(), config.getMaxPendingRequests(),
                config.getReceiveBufferBytes(), config.isReuseAddress());
        listener = loop.context().listen(localAddress, config.getBacklog(), attributes, new Requests());
    }

    @Override
    protected SocketAddress localAddress0() {
        ConnectionListener current = listener;
        return current == null ? null : current.localAddress();
    }

    @Override
    protected void doBeginRead() {
        if (listener != null) {
            listener.setAccepting(true);
        }
    }

    /** No read is wanted any more. Any thread. */
    void clearReadPending() {
        if (!isRegistered()) {
            return;
        }
        if (!eventLoop().inEventLoop()) {
            eventLoop().execute(this::clearReadPending);
        } else if (listener != null && open) {
            listener.setAccepting(config.isAutoRead());
        }
    }

    @Override
    protected void doClose() {
        if (!open) {
            return;
        }
        open = false;
        if (listener != null) {
            listener.close();
        }
        if (loop != null) {
            loop.remove(this);
        }
    }

    /** What the provider tells about the listening endpoint. */
    private final class Requests implements ConnectionListener.Handler {

        @Override
        public void connectionRequested(ConnectionRequest request) {
            var handle = unsafe().recvBufAllocHandle();
            if (!batchOpen) {
                batchOpen = true;
                handle.reset(config);
                loop.executeAfterEventLoopIteration(this::completeBatch);
            }
            handle.incMessagesRead(1);
            if (!handle.continueReading()) {
                listener.setAccepting(false); // until the next read
            }
            pipeline().fireChannelRead(new RdmaChannel(RdmaServerChannel.this, request));
        }

        private void completeBatch() {
            batchOpen = false;
            if (open) {
                unsafe().recvBufAllocHandle().readComplete();
                pipeline().fireChannelReadComplete();
            }
        }

        @Override
        public void acceptFailed(Throwable cause) {
            pipeline().fireExceptionCaught(cause);
        }
    }
}
