package org.nettyrdma.channel;

import io.netty.channel.AbstractServerChannel;
import io.netty.channel.EventLoop;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.UnresolvedAddressException;
import org.nettyrdma.peer.PeerAddress;
import org.nettyrdma.peer.PeerLog;
import org.nettyrdma.verbs.ConnectionListener;
import org.nettyrdma.verbs.ConnectionRequest;
import org.nettyrdma.verbs.ListenAttributes;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Listens for connection requests. Each request becomes a channel, which is read as a message. Registering that channel with an
 * event loop accepts the connection. While no read is wanted requests wait in the backlog.
 */
abstract class AcceptingChannel extends AbstractServerChannel {

    private static final Logger LOGGER = LoggerFactory.getLogger(AcceptingChannel.class);
    private static final ByteBuffer NO_DATA = ByteBuffer.allocate(0).asReadOnlyBuffer();

    private final RdmaServerChannelConfig config = new RdmaServerChannelConfig(this, this::clearReadPending);
    private volatile ConnectionListener listener;
    private volatile boolean open = true;

    private volatile ConnectionCounts connections; // there from doBind() on

    // Event loop only.
    private RdmaEventLoop loop;
    private boolean batchOpen;

    /** The channel for a request, which may be refused by an exception. */
    abstract QueuePairChannel newChild(ConnectionRequest request) throws IOException;

    /** What {@link #config} returns. */
    final RdmaServerChannelConfig settings() {
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
        Deregistration.close(this, this::doClose); // the listener belongs to the loop's context and cannot move to another
    }

    @Override
    protected void doBind(SocketAddress localAddress) throws Exception {
        if (listener != null) {
            throw new AlreadyBoundException(); // another listener would take the place of this one, which nobody could close
        }
        if (localAddress instanceof InetSocketAddress address && address.isUnresolved()) {
            throw new UnresolvedAddressException();
        }
        connections = new ConnectionCounts(config.getMaxConnections(), config.getMaxConnectionsPerAddress());
        ListenAttributes attributes = new ListenAttributes(config.getRequestTimeoutMillis(), config.getMaxPendingRequests(),
                config.getMaxPendingRequestsPerAddress(), config.getReceiveBufferSize(), config.isReuseAddress());
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

    /** A connection that was taken up is closed, or was never made. Any thread. */
    void connectionEnded(SocketAddress remoteAddress) {
        connections.ended(PeerAddress.of(remoteAddress));
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
            PeerAddress peer = PeerAddress.of(request.remoteAddress());
            String refusal = connections.refusalOf(peer);
            if (refusal != null) {
                PeerLog.warn(LOGGER, request.remoteAddress(), "is refused: {}", refusal);
                request.reject(NO_DATA);
                return;
            }
            try {
                take(newChild(request));
            } catch (IOException e) {
                PeerLog.warn(LOGGER, request.remoteAddress(), "is refused: {}", e.getMessage());
                connections.ended(peer);
                request.reject(NO_DATA);
            } catch (Throwable t) { // no memory, for instance: the peer is told, and does not count
                connections.ended(peer);
                request.reject(NO_DATA);
                throw t;
            }
        }

        private void take(QueuePairChannel channel) {
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
            pipeline().fireChannelRead(channel);
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
