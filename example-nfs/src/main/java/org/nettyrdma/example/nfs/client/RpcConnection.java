package org.nettyrdma.example.nfs.client;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import java.io.Closeable;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.example.nfs.Transport;

/** A connection that carries calls, on an event loop of its own. Thread safe. */
final class RpcConnection implements Closeable {

    private static final long CLOSE_TIMEOUT_MILLIS = 5000;

    private final EventLoopGroup group;
    private final Channel channel;
    private final RpcClient rpc;

    private RpcConnection(EventLoopGroup group, Channel channel, RpcClient rpc) {
        this.group = group;
        this.channel = channel;
        this.rpc = rpc;
    }

    /**
     * Connects, and waits until that is done. Not on an event loop.
     *
     * @throws NfsConnectException if the server cannot be reached
     */
    static RpcConnection open(Transport transport, String host, int port, NfsClientOptions options) throws IOException {
        EventLoopGroup group = transport.newEventLoopGroup(1, "nfs-client", options.idleStrategy());
        try {
            RpcClient rpc = new RpcClient(options.callTimeoutMillis());
            ChannelFuture connected = transport.newBootstrap(group, () -> rpc, options.meterRegistry(), options.rdmaSettings())
                    .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, options.connectTimeoutMillis())
                    .connect(new InetSocketAddress(host, port));
            connected.awaitUninterruptibly();
            if (!connected.isSuccess()) {
                throw new NfsConnectException("cannot connect to " + transport.scheme() + "://" + hostAndPort(host, port) + ": "
                        + reason(connected.cause()), connected.cause());
            }
            return new RpcConnection(group, connected.channel(), rpc);
        } catch (IOException | RuntimeException e) {
            shutDown(group);
            throw e;
        }
    }

    RpcClient rpc() {
        return rpc;
    }

    Channel channel() {
        return channel;
    }

    /** Closes the connection, and waits for its event loop to end. Not on that event loop. */
    @Override
    public void close() {
        channel.close().awaitUninterruptibly(CLOSE_TIMEOUT_MILLIS);
        shutDown(group);
    }

    private static void shutDown(EventLoopGroup group) {
        group.shutdownGracefully(0, CLOSE_TIMEOUT_MILLIS, TimeUnit.MILLISECONDS).awaitUninterruptibly(CLOSE_TIMEOUT_MILLIS);
    }

    private static String hostAndPort(String host, int port) {
        return (host.indexOf(':') >= 0 ? '[' + host + ']' : host) + ':' + port;
    }

    private static String reason(Throwable cause) {
        if (cause instanceof UnknownHostException) {
            return "unknown host";
        }
        // Netty adds the address to what the system says.
        Throwable original = cause.getCause() != null ? cause.getCause() : cause;
        return original.getMessage() == null ? original.toString() : original.getMessage();
    }
}
