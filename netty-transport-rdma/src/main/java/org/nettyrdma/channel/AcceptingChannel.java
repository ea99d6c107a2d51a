package org.nettyrdma.channel;

import io.netty.channel.AbstractServerChannel;
import io.netty.channel.EventLoop;
import io.netty.util.NetUtil;
import java.io.IOException;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyBoundException;
import java.util.LinkedList;
import java.util.Queue;
import org.nettyrdma.peer.PeerAddress;
import org.nettyrdma.peer.PeerLog;
import org.nettyrdma.verbs.ConnectionListener;
import org.nettyrdma.verbs.ConnectionRequest;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Listens for connection requests. Each request becomes a channel, which is read as a message. Registering that channel with an
 * event loop accepts the connection. While no read is wanted requests wait in the backlog, and here those that the provider had
 * taken up before.
 */
abstract class AcceptingChannel extends AbstractServerChannel {

    private static final Logger LOGGER = LoggerFactory.getLogger(AcceptingChannel.class);
    private static final ByteBuffer NO_DATA = ByteBuffer.allocate(0).asReadOnlyBuffer();

    private final RdmaServerChannelConfig config = new RdmaServerChannelConfig(this, this::clearReadPending);
    private volatile ConnectionListener listener;
    private volatile boolean open = true;

    private volatile ConnectionCounts connections; // there from doBind() on

    // Event loop only.
    private RdmaIo io;
    private final Requests requests = new Requests();
    /** While there are any the provider takes up no more. Not an array: where one cannot grow, it loses what is in it. */
    private final Queue<ConnectionRequest> waiting = new LinkedList<>();
    private boolean readWanted;
    private boolean nextScheduled;
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
        return RdmaIo.of(eventLoop) != null;
    }

    @Override
    protected void doRegister() {
        io = RdmaIo.of(eventLoop());
        io.add(this);
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
        SocketAddress address = QueuePairChannel.resolved(localAddress);
        connections = config.newCounts();
        int backlog = config.getBacklog() > 0 ? config.getBacklog() : NetUtil.SOMAXCONN;
        listener = io.context().listen(address, backlog, config.listenAttributes(), requests);
        listener.setAccepting(readWanted); // which may have been asked for before
    }

    @Override
    protected SocketAddress localAddress0() {
        ConnectionListener current = listener;
        return current == null ? null : current.localAddress();
    }

    @Override
    protected void doBeginRead() {
        readWanted = true;
        if (listener != null) {
            takeMore();
        }
    }

    /** A read is wanted. Its request is never taken up at once: the caller may be the handler that is told of another. */
    private void takeMore() {
        if (waiting.isEmpty()) {
            listener.setAccepting(true);
        } else if (!nextScheduled) {
            try {
                eventLoop().execute(this::takeNext);
                nextScheduled = true; // not before there is something that takes it back
            } catch (RuntimeException | Error e) { // no memory for the queue, for instance
                pipeline().fireExceptionCaught(e); // as where accepting fails: a ServerBootstrap reads again a second later
            }
        }
    }

    private void takeNext() {
        nextScheduled = false;
        if (!readWanted || waiting.isEmpty()) {
            return; // not any more
        }
        try {
            requests.takeUp(waiting.remove());
        } finally {
            if (readWanted && open) {
                takeMore();
            }
        }
    }

    /** No read is wanted any more. Any thread. */
    void clearReadPending() {
        if (!isRegistered()) {
            return;
        }
        if (!eventLoop().inEventLoop()) {
            eventLoop().execute(this::clearReadPending);
        } else if (open && config.isAutoRead()) {
            doBeginRead(); // one is wanted again by now
        } else {
            readWanted = false;
            if (listener != null) {
                listener.setAccepting(false);
            }
        }
    }

    /** A connection that was taken up is closed, or was never made. Any thread. */
    void connectionEnded(PeerAddress peer) {
        connections.ended(peer);
    }

    @Override
    protected void doClose() {
        if (!open) {
            return;
        }
        open = false;
        if (io != null) {
            io.remove(this);
        }
        try {
            if (listener != null) {
                listener.close();
            }
        } finally {
            while (!waiting.isEmpty()) {
                waiting.remove().reject(NO_DATA);
            }
        }
    }

    /** What the provider tells about the listening endpoint. */
    private final class Requests implements ConnectionListener.Handler {

        @Override
        public void connectionRequested(ConnectionRequest request) {
            if (readWanted && waiting.isEmpty()) {
                takeUp(request);
            } else {
                try {
                    waiting.add(request);
                } catch (Throwable t) {
                    request.reject(NO_DATA);
                    throw t;
                }
            }
        }

        private void takeUp(ConnectionRequest request) {
            PeerAddress counted = null;
            String refusal;
            try {
                PeerAddress peer = PeerAddress.of(request.remoteAddress());
                refusal = connections.refusalOf(peer);
                if (refusal == null) {
                    counted = peer;
                    take(newChild(request));
                    return;
                }
            } catch (IOException e) {
                refusal = e.getMessage();
            } catch (Throwable t) { // no memory, for instance: the peer is told
                refuse(request, counted);
                throw t;
            }
            refuse(request, counted);
            PeerLog.warn(LOGGER, request.remoteAddress(), "is refused: {}", refusal);
        }

        private void refuse(ConnectionRequest request, PeerAddress counted) {
            if (counted != null) {
                connections.ended(counted);
            }
            request.reject(NO_DATA);
        }

        private void take(QueuePairChannel channel) {
            var handle = unsafe().recvBufAllocHandle();
            if (!batchOpen) {
                handle.reset(config);
                io.executeLast(this::completeBatch);
                batchOpen = true; // not before there is something that ends it
            }
            handle.incMessagesRead(1);
            if (!handle.continueReading()) {
                readWanted = false;
                listener.setAccepting(false);
            }
            pipeline().fireChannelRead(channel);
        }

        private void completeBatch() {
            batchOpen = false;
            if (open) {
                unsafe().recvBufAllocHandle().readComplete();
                pipeline().fireChannelReadComplete();
            }
            // As with Netty's own transports, AUTO_READ asks once: a handler that swallows later ones holds nothing back.
            if (open && !readWanted && config.isAutoRead()) {
                doBeginRead();
            }
        }

        @Override
        public void acceptFailed(Throwable cause) {
            pipeline().fireExceptionCaught(cause);
        }
    }
}
