package org.nettyrdma.example.nfs.client;

import io.micrometer.core.instrument.Tags;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.Future;
import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.SocketAddress;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.nettyrdma.channel.IdleStrategy;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.oncrpc.client.ReconnectListener;
import org.nettyrdma.codec.oncrpc.client.ReconnectMetrics;
import org.nettyrdma.codec.oncrpc.client.ReconnectPolicy;
import org.nettyrdma.codec.oncrpc.client.ReconnectingRpcClient;
import org.nettyrdma.codec.oncrpc.client.ReconnectingRpcClientBuilder;
import org.nettyrdma.example.nfs.Transport;
import org.nettyrdma.example.nfs.protocol.Nfs;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries calls to a server that may go away and come back, on an event loop of its own. The first connection has to succeed;
 * later ones are made again until the time-outs of the calls end. A server that takes a connection and ends it without an answer,
 * as one does over TCP that has too many, has not been connected to. Thread safe.
 */
final class ServerConnection implements Closeable {

    private static final Logger LOGGER = LoggerFactory.getLogger(ServerConnection.class);
    /** Who copies files waits; a server that is back is asked soon. */
    private static final int MAX_DELAY_MILLIS = 1000;

    private final EventLoopGroup group;
    private final ReconnectingRpcClient client;
    private final ByteBufAllocator allocator;

    private ServerConnection(EventLoopGroup group, ReconnectingRpcClient client, ByteBufAllocator allocator) {
        this.group = group;
        this.client = client;
        this.allocator = allocator;
    }

    /**
     * Connects, and waits until that is done. Not on an event loop. The addresses of a name are tried one after the other, of
     * both versions of IP; they share the time.
     *
     * @throws NfsConnectException if the server cannot be reached
     * @throws InterruptedIOException if the thread was interrupted; the interrupt is kept
     */
    static ServerConnection open(Transport transport, String host, int port, NfsClientOptions options) throws IOException {
        ServerAddresses addresses = ServerAddresses.of(transport, host, port, options.connectTimeoutMillis());
        EventLoopGroup group = transport.newEventLoopGroup(1, "nfs-client", IdleStrategy.ADAPTIVE, options.provider());
        try {
            Bootstrap bootstrap = transport.newBootstrap(group, () -> new RpcClient(options.callTimeoutMillis()),
                    options.meterRegistry(), options.rdmaSettings())
                    .option(ChannelOption.CONNECT_TIMEOUT_MILLIS,
                            Math.max(1, options.connectTimeoutMillis() / addresses.all().size()));
            FirstAttempts attempts = new FirstAttempts(addresses);
            ReconnectingRpcClientBuilder builder = ReconnectingRpcClient.builder(bootstrap, addresses::all).listener(attempts)
                    .policy(ReconnectPolicy.DEFAULT.withCallTimeoutMillis(options.callTimeoutMillis())
                            .withDelayMillis(ReconnectPolicy.DEFAULT.minDelayMillis(), MAX_DELAY_MILLIS));
            if (transport == Transport.TCP) { // whose server cannot refuse a connection otherwise than by ending it
                builder.ping(Nfs.PROGRAM, Nfs.VERSION);
            }
            ReconnectingRpcClient client = builder.connect();
            new ReconnectMetrics(client, Tags.of("transport", transport.scheme())).bindTo(options.meterRegistry());
            attempts.await();
            return new ServerConnection(group, client, transport.allocator(options.provider()));
        } catch (IOException | RuntimeException e) {
            TcpConnection.shutDown(group);
            throw e;
        }
    }

    /** Calls a procedure, as {@link ReconnectingRpcClient#call} does. */
    Future<ByteBuf> call(RpcRequest request) {
        return client.call(request);
    }

    /** Messages built from its buffers are sent without a copy. */
    ByteBufAllocator allocator() {
        return allocator;
    }

    boolean isConnected() {
        return client.isConnected();
    }

    /** Ends the calls and the connection, and waits for its event loop to end. Not on that event loop. */
    @Override
    public void close() {
        client.close();
        client.closeFuture().awaitUninterruptibly(TcpConnection.CLOSE_TIMEOUT_MILLIS);
        TcpConnection.shutDown(group);
    }

    /** Waits until one attempt has succeeded, or one for each address has failed; later on tells of what is lost and found. */
    private static final class FirstAttempts implements ReconnectListener {

        private final String server;
        private final CountDownLatch done = new CountDownLatch(1);
        private final Set<String> reasons = new LinkedHashSet<>();
        private int left;
        private boolean connected;
        private boolean told;
        private Throwable cause;

        FirstAttempts(ServerAddresses addresses) {
            server = addresses.server();
            left = addresses.all().size();
        }

        @Override
        public void connected(SocketAddress address) {
            told = false;
            connected |= done.getCount() > 0;
            done.countDown();
        }

        @Override
        public void connectFailed(SocketAddress address, Throwable failure, long retryMillis) {
            if (done.getCount() > 0) {
                cause = failure;
                reasons.add(NfsConnectException.reason(failure));
                if (--left == 0) {
                    done.countDown();
                }
            } else if (connected && !told) { // long before the calls that wait fail; once for each loss
                told = true;
                LOGGER.warn("{}: cannot connect again yet: {}", server, NfsConnectException.reason(failure));
            }
        }

        @Override
        public void connectionLost(SocketAddress address, Throwable failure) {
            LOGGER.info("{}: the connection was lost, and is made again: {}", server, failure.toString());
        }

        void await() throws IOException {
            try {
                done.await();
            } catch (InterruptedException e) {
                throw Await.interrupted(e);
            }
            if (!connected) {
                throw NfsConnectException.of(server, String.join("; ", reasons), cause);
            }
        }
    }
}
