package org.nettyrdma.example.nfs.client;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.channel.IdleStrategy;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.example.nfs.Transport;

/** One TCP connection for a few calls to rpcbind or MOUNT, on an event loop of its own. Thread safe. */
final class TcpConnection implements Closeable {

    static final long CLOSE_TIMEOUT_MILLIS = 5000;

    private final EventLoopGroup group;
    private final Channel channel;
    private final InetAddress address;
    private final RpcClient rpc;

    private TcpConnection(EventLoopGroup group, Channel channel, InetAddress address, RpcClient rpc) {
        this.group = group;
        this.channel = channel;
        this.address = address;
        this.rpc = rpc;
    }

    /**
     * Connects, and waits until that is done. Not on an event loop. The addresses of a name are tried one after the other, of
     * both versions of IP; they share the time.
     *
     * @param connectTimeoutMillis how long it may take, also where the options have more
     * @throws NfsConnectException if the server cannot be reached, or closes the connection at once
     * @throws InterruptedIOException if the thread was interrupted; the interrupt is kept
     */
    static TcpConnection open(String host, int port, NfsClientOptions options, int connectTimeoutMillis) throws IOException {
        long endNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(connectTimeoutMillis);
        ServerAddresses addresses = ServerAddresses.of(Transport.TCP, host, port, connectTimeoutMillis);
        EventLoopGroup group =
                Transport.TCP.newEventLoopGroup(1, "nfs-client", IdleStrategy.ADAPTIVE, options.provider());
        try {
            Bootstrap bootstrap = Transport.TCP.newBootstrap(group, () -> new RpcClient(options.callTimeoutMillis()),
                    options.meterRegistry(), options.rdmaSettings());
            return connect(group, bootstrap, addresses, endNanos);
        } catch (IOException | RuntimeException e) {
            shutDown(group);
            throw e;
        }
    }

    private static TcpConnection connect(EventLoopGroup group, Bootstrap bootstrap, ServerAddresses addresses, long endNanos)
            throws IOException {
        Set<String> reasons = new LinkedHashSet<>();
        Throwable cause = null;
        int left = addresses.all().size();
        for (InetSocketAddress address : addresses.all()) {
            long leftMillis = TimeUnit.NANOSECONDS.toMillis(endNanos - System.nanoTime());
            ChannelFuture connected = bootstrap.option(ChannelOption.CONNECT_TIMEOUT_MILLIS,
                    (int) Math.max(1, leftMillis / left--)).connect(address);
            if (awaitConnect(connected)) {
                Channel channel = connected.channel();
                return new TcpConnection(group, channel, address.getAddress(), rpcOf(channel, addresses.server()));
            }
            cause = connected.cause();
            reasons.add(NfsConnectException.reason(cause));
        }
        throw NfsConnectException.of(addresses.server(), String.join("; ", reasons), cause);
    }

    private static boolean awaitConnect(ChannelFuture connected) throws InterruptedIOException {
        try {
            return connected.await().isSuccess();
        } catch (InterruptedException e) {
            connected.cancel(false);
            throw Await.interrupted(e);
        }
    }

    /** Netty empties the pipeline of a channel that closes, which may be before this thread hears that it has connected. */
    static RpcClient rpcOf(Channel channel, String server) throws NfsConnectException {
        RpcClient rpc = channel.pipeline().get(RpcClient.class);
        if (rpc == null) {
            throw NfsConnectException.of(server, "the server has closed the connection", null);
        }
        return rpc;
    }

    RpcClient rpc() {
        return rpc;
    }

    /** Returns which of the server's addresses this is connected to, also when the connection has ended. */
    InetAddress address() {
        return address;
    }

    /** Closes the connection, and waits for its event loop to end. Not on that event loop. */
    @Override
    public void close() {
        channel.close().awaitUninterruptibly(CLOSE_TIMEOUT_MILLIS);
        shutDown(group);
    }

    static void shutDown(EventLoopGroup group) {
        group.shutdownGracefully(0, CLOSE_TIMEOUT_MILLIS, TimeUnit.MILLISECONDS).awaitUninterruptibly(CLOSE_TIMEOUT_MILLIS);
    }
}
