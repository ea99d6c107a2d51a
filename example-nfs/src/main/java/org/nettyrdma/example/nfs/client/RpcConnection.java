package org.nettyrdma.example.nfs.client;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.handler.codec.TooLongFrameException;
import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.nettyrdma.channel.IdleStrategy;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcConnectionException;
import org.nettyrdma.codec.oncrpc.RpcTimeoutException;
import org.nettyrdma.example.nfs.Transport;

/** One connection that carries a few calls, on an event loop of its own. Thread safe. */
final class RpcConnection implements Closeable {

    static final long CLOSE_TIMEOUT_MILLIS = 5000;

    private final EventLoopGroup group;
    private final Channel channel;
    private final InetAddress address;
    private final RpcClient rpc;

    private RpcConnection(EventLoopGroup group, Connected connected, RpcClient rpc) {
        this.group = group;
        channel = connected.channel;
        address = connected.address;
        this.rpc = rpc;
    }

    private record Connected(Channel channel, InetAddress address) {
    }

    /**
     * Connects, and waits until that is done. Not on an event loop. The addresses of a name are tried one after the other, of
     * both versions of IP; they share the time.
     *
     * @throws NfsConnectException if the server cannot be reached, or closes the connection at once
     * @throws InterruptedIOException if the thread was interrupted; the interrupt is kept
     */
    static RpcConnection open(Transport transport, String host, int port, NfsClientOptions options) throws IOException {
        EventLoopGroup group = transport.newEventLoopGroup(1, "nfs-client", IdleStrategy.ADAPTIVE, options.provider());
        try {
            Bootstrap bootstrap = transport.newBootstrap(group, () -> new RpcClient(options.callTimeoutMillis()),
                    options.meterRegistry(), options.rdmaSettings());
            String server = transport.scheme() + "://" + hostAndPort(host, port);
            Connected connected = connect(bootstrap, server, host, port, options);
            return new RpcConnection(group, connected, rpcOf(connected.channel, server));
        } catch (IOException | RuntimeException e) {
            shutDown(group);
            throw e;
        }
    }

    /** Netty empties the pipeline of a channel that closes, which may be before this thread hears that it has connected. */
    static RpcClient rpcOf(Channel channel, String server) throws NfsConnectException {
        RpcClient rpc = channel.pipeline().get(RpcClient.class);
        if (rpc == null) {
            throw cannotConnect(server, "the server has closed the connection", null);
        }
        return rpc;
    }

    static NfsConnectException cannotConnect(String server, String reason, Throwable cause) {
        return new NfsConnectException("cannot connect to " + server + ": " + reason, cause);
    }

    private static Connected connect(Bootstrap bootstrap, String server, String host, int port, NfsClientOptions options)
            throws IOException {
        long endNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(options.connectTimeoutMillis());
        Set<String> reasons = new LinkedHashSet<>();
        Throwable cause = null;
        try {
            InetAddress[] addresses = HostAddresses.of(host, options.connectTimeoutMillis());
            for (int i = 0; i < addresses.length; i++) {
                long leftMillis = TimeUnit.NANOSECONDS.toMillis(endNanos - System.nanoTime());
                ChannelFuture connected = bootstrap.option(ChannelOption.CONNECT_TIMEOUT_MILLIS,
                        (int) Math.max(1, leftMillis / (addresses.length - i))).connect(addresses[i], port);
                if (awaitConnect(connected)) {
                    return new Connected(connected.channel(), addresses[i]);
                }
                cause = connected.cause();
                reasons.add(reason(cause));
            }
        } catch (UnknownHostException | TimeoutException e) {
            cause = e;
            reasons.add(reason(e));
        }
        throw cannotConnect(server, String.join("; ", reasons), cause);
    }

    private static boolean awaitConnect(ChannelFuture connected) throws InterruptedIOException {
        try {
            return connected.await().isSuccess();
        } catch (InterruptedException e) {
            connected.cancel(false);
            throw Await.interrupted(e);
        }
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

    static String hostAndPort(String host, int port) {
        return (host.indexOf(':') >= 0 ? '[' + host + ']' : host) + ':' + port;
    }

    static String reason(Throwable cause) {
        if (cause instanceof UnknownHostException) {
            return "unknown host";
        }
        if (cause instanceof TimeoutException) {
            return "its address is not found in time";
        }
        if (cause instanceof RpcConnectionException && !(cause.getCause() instanceof TooLongFrameException)) {
            return "the server has taken the connection and ended it without an answer, as it does when it has too many";
        }
        if (cause instanceof RpcTimeoutException) {
            return "the server has taken the connection and does not answer";
        }
        // Netty adds the address to what the system says.
        Throwable original = cause.getCause() != null ? cause.getCause() : cause;
        return original.getMessage() == null ? original.toString() : original.getMessage();
    }
}
