package org.nettyrdma.verbs.iwarp;

import java.io.IOException;
import java.net.SocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Set;
import org.nettyrdma.verbs.ConnectionListener;
import org.nettyrdma.verbs.ListenAttributes;

/**
 * A listening TCP socket, and the connections on it whose MPA request is not complete.
 */
final class IwarpListener implements ConnectionListener, SocketHandler {

    private static final int MAX_ACCEPTS = 64;

    private final IwarpContext context;
    private final ListenAttributes attributes;
    private final Handler handler;
    private final ServerSocketChannel channel;
    private final SelectionKey key;
    private final SocketAddress localAddress;
    private final Set<HalfOpenConnection> halfOpen = new HashSet<>();
    private boolean accepting;

    IwarpListener(IwarpContext context, SocketAddress address, int backlog, ListenAttributes attributes, Handler handler)
            throws IOException {
        this.context = context;
        this.attributes = attributes;
        this.handler = handler;
        channel = ServerSocketChannel.open();
        try {
            channel.setOption(StandardSocketOptions.SO_REUSEADDR, attributes.reuseAddress());
            if (attributes.receiveBufferBytes() > 0) {
                channel.setOption(StandardSocketOptions.SO_RCVBUF, attributes.receiveBufferBytes());
            }
            channel.bind(address, backlog);
            localAddress = channel.getLocalAddress();
            key = context.register(channel, 0, this);
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    @Override
    public SocketAddress localAddress() {
        return localAddress;
    }

    @Override
    public void setAccepting(boolean accepting) {
        this.accepting = accepting;
        updateInterest();
    }

    /** Further peers wait in the backlog: a bound on what silent ones can hold. */
    private boolean mayTakeMore() {
        return halfOpen.size() < attributes.maxPendingRequests();
    }

    private void updateInterest() {
        if (key.isValid()) {
            key.interestOps(accepting && mayTakeMore() ? SelectionKey.OP_ACCEPT : 0);
        }
    }

    @Override
    public void ready(int readyOperations) throws IOException {
        for (int i = 0; i < MAX_ACCEPTS && mayTakeMore(); i++) {
            SocketChannel accepted = channel.accept();
            if (accepted == null) {
                break;
            }
            try {
                halfOpen.add(new HalfOpenConnection(context, this, accepted, attributes.requestTimeoutMillis()));
            } catch (IOException e) {
                IwarpContext.closeQuietly(accepted);
                failed(e);
            }
        }
        updateInterest();
    }

    @Override
    public void failed(Exception cause) {
        context.deliveries().event(() -> {
            if (channel.isOpen()) {
                handler.acceptFailed(cause);
            }
        });
    }

    void halfOpenEnded(HalfOpenConnection connection) {
        halfOpen.remove(connection);
        updateInterest();
    }

    void requestComplete(IwarpConnectionRequest request) {
        context.deliveries().event(() -> {
            if (channel.isOpen()) {
                handler.connectionRequested(request);
            } else {
                IwarpContext.closeQuietly(request.channel());
            }
        });
    }

    @Override
    public void close() {
        IwarpContext.closeQuietly(channel);
        for (HalfOpenConnection connection : new ArrayList<>(halfOpen)) {
            connection.close();
        }
    }
}
