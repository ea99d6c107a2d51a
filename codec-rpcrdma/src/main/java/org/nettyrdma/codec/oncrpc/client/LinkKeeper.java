package org.nettyrdma.codec.oncrpc.client;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.util.concurrent.ScheduledFuture;
import java.net.ConnectException;
import java.net.SocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.peer.PeerLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps one connection to the server: makes it, and makes it again when it has ended. Event loop of the client. */
final class LinkKeeper {

    private static final Logger LOGGER = LoggerFactory.getLogger(LinkKeeper.class);

    /** Takes up what comes of the attempts. */
    interface Owner extends RpcLink.Owner {

        /** A connection stands, after that time. */
        void up(RpcLink link, long connectNanos);

        /** An attempt has failed, and the next one comes in that time. */
        void connectFailed(SocketAddress server, Throwable cause, long retryMillis);

        /** It has come to its end after {@link LinkKeeper#close}. Called once. */
        void closed();
    }

    private final HomeLoop home;
    private final Bootstrap bootstrap;
    private final IntFunction<RpcRequest> ping;
    private final ServerAddresses addresses;
    private final Backoff backoff;
    private final Owner owner;
    private ScheduledFuture<?> timer;
    private int turn;
    private long beginNanos;
    /** The channel that is being connected, or is connected; {@code null} if there is none. */
    private Channel channel;
    private RpcLink link;
    private boolean closed;

    /**
     * @param ping makes the call that comes first, from its time-out in milliseconds; {@code null} for none
     */
    LinkKeeper(HomeLoop home, Bootstrap bootstrap, IntFunction<RpcRequest> ping, ServerAddresses addresses,
               ReconnectPolicy policy, Owner owner) {
        this.home = home;
        this.ping = ping;
        this.bootstrap = bootstrap;
        this.addresses = addresses;
        this.backoff = new Backoff(policy);
        this.owner = owner;
    }

    /** Makes an attempt now. */
    void connect() {
        timer = null;
        if (closed) {
            return;
        }
        turn = addresses.turn();
        beginNanos = System.nanoTime();
        SocketAddress server = null;
        ChannelFuture connecting;
        try {
            server = addresses.current();
            connecting = bootstrap.connect(server);
        } catch (RuntimeException | Error e) { // of the supplier, or of a bootstrap that lacks something
            failed(server, e);
            return;
        }
        if (connecting.isDone() && !connecting.isSuccess()) {
            failed(server, connecting.cause()); // maybe of a channel without an event loop, which close() could not close
            return;
        }
        channel = connecting.channel();
        SocketAddress address = server;
        connecting.addListener(done -> connected(connecting, address));
    }

    /** Event loop of the channel, or of the client if there is none. */
    private void connected(ChannelFuture connecting, SocketAddress server) {
        Channel made = connecting.channel();
        if (!connecting.isSuccess()) {
            tell(made, server, null, connecting.cause());
            return;
        }
        // Happens on one host, where the system may choose the port of a server that is not there: then nobody would answer.
        if (made.localAddress() != null && made.localAddress().equals(made.remoteAddress())) {
            made.close();
            tell(made, server, null, new ConnectException("nobody listens at " + server + ": the connection led to itself"));
            return;
        }
        try {
            open(made, server);
        } catch (RuntimeException | Error e) { // of the pipeline, or of a handler that is not in it yet, or of its executor
            made.close();
            tell(made, server, null, e);
        }
    }

    private void open(Channel made, SocketAddress server) {
        RpcLink opened = new RpcLink(home, made, server, owner);
        if (ping == null) {
            opened.whenAdded(() -> tell(made, server, opened, null));
            return;
        }
        int timeoutMillis = made.config().getConnectTimeoutMillis();
        opened.ping(ping.apply(timeoutMillis > 0 ? timeoutMillis : Integer.MAX_VALUE), failure -> {
            if (failure != null) {
                made.close();
            }
            tell(made, server, failure == null ? opened : null, failure);
        });
    }

    private void tell(Channel made, SocketAddress server, RpcLink opened, Throwable cause) {
        if (!home.run(made, () -> attempted(server, opened, cause))) {
            made.close();
        }
    }

    private void attempted(SocketAddress server, RpcLink opened, Throwable cause) {
        if (opened == null) {
            channel = null;
            if (closed) {
                owner.closed();
            } else {
                failed(server, cause);
            }
            return;
        }
        link = opened;
        if (!closed) {
            owner.up(opened, System.nanoTime() - beginNanos);
        }
        opened.watch(); // behind it: the connection may have ended meanwhile
    }

    private void failed(SocketAddress server, Throwable cause) {
        addresses.failed(turn);
        owner.connectFailed(server, cause, connectLater());
    }

    private long connectLater() {
        long delayMillis = backoff.nextMillis(addresses.size());
        try {
            timer = home.executor().schedule(this::connect, delayMillis, TimeUnit.MILLISECONDS);
        } catch (RuntimeException | Error e) { // no memory for the timer
            home.leave(this::connect);
            PeerLog.fault(LOGGER, "a client", "it connects again with the next call only", e);
        }
        return delayMillis;
    }

    /** Whether that connection is this one's. */
    boolean keeps(RpcLink other) {
        return link == other;
    }

    /** The connection has ended. */
    void down() {
        RpcLink ended = link;
        link = null;
        channel = null;
        if (closed) {
            owner.closed();
            return;
        }
        if (ended.isProven()) {
            backoff.reset();
        } else {
            addresses.failed(turn); // it takes connections, and nothing else
        }
        connectLater();
    }

    /** Ends the connection, and makes no further one. */
    void close() {
        closed = true;
        if (timer != null) {
            HomeLoop.cancel(timer);
            timer = null;
        }
        if (channel == null) {
            owner.closed();
        } else {
            channel.close();
        }
    }
}
