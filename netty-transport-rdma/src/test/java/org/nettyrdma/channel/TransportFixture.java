package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.nettyrdma.testing.TestAddress;
import org.nettyrdma.verbs.VerbsProvider;

/** What the parts of {@link RdmaTransportContract} have in common: event loops, and connections between endpoints. */
abstract class TransportFixture {

    static final InetAddress LOOPBACK = TestAddress.LOCAL;

    RdmaEventLoopGroup group;
    private final BlockingQueue<Endpoint> accepted = new LinkedBlockingQueue<>();
    private final Queue<Endpoint> endpoints = new ConcurrentLinkedQueue<>();

    /** Both ends of a connection. */
    record Connection(Endpoint client, Endpoint server) {
    }

    abstract VerbsProvider provider();

    @BeforeEach
    void startGroup() {
        group = newGroup(2, IdleStrategy.ADAPTIVE);
    }

    @AfterEach
    void stopGroup() throws InterruptedException {
        stop(group);
        endpoints.forEach(Endpoint::releaseMessages);
    }

    RdmaEventLoopGroup newGroup(int threads, IdleStrategy idleStrategy) {
        return new RdmaEventLoopGroup(threads, new DefaultThreadFactory("rdma-test"), provider(), idleStrategy);
    }

    static void stop(RdmaEventLoopGroup stopped) throws InterruptedException {
        stopped.shutdownGracefully(0, Endpoint.TIMEOUT_SECONDS, TimeUnit.SECONDS);
        assertTrue(stopped.awaitTermination(Endpoint.TIMEOUT_SECONDS, TimeUnit.SECONDS), "event loops did not stop");
    }

    Endpoint newEndpoint() {
        Endpoint endpoint = new Endpoint();
        endpoints.add(endpoint);
        return endpoint;
    }

    ServerBootstrap serverBootstrap() {
        return serverBootstrap(group);
    }

    ServerBootstrap serverBootstrap(RdmaEventLoopGroup loops) {
        return new ServerBootstrap().group(loops).channel(RdmaServerChannel.class).childHandler(recording());
    }

    Bootstrap bootstrap() {
        return bootstrap(group);
    }

    Bootstrap bootstrap(RdmaEventLoopGroup loops) {
        return new Bootstrap().group(loops).channel(RdmaChannel.class);
    }

    /** Ends a server's pipeline with an {@link Endpoint}, to be found with {@link #awaitAccepted()} once it is active. */
    ChannelHandler recording(ChannelHandler... before) {
        return new ChannelInitializer<RdmaChannel>() {
            @Override
            protected void initChannel(RdmaChannel channel) {
                Endpoint endpoint = newEndpoint();
                channel.pipeline().addLast(before).addLast(endpoint).addLast(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelActive(ChannelHandlerContext ctx) {
                        accepted.add(endpoint);
                    }
                });
            }
        };
    }

    RdmaServerChannel listen(ServerBootstrap server) throws InterruptedException {
        return (RdmaServerChannel) server.bind(LOOPBACK, 0).sync().channel();
    }

    static InetSocketAddress addressOf(Channel server) {
        return (InetSocketAddress) server.localAddress();
    }

    Endpoint connect(Bootstrap client, Channel server) throws InterruptedException {
        Endpoint endpoint = newEndpoint();
        Endpoint.await(client.clone().handler(endpoint).connect(addressOf(server)));
        endpoint.awaitActive();
        return endpoint;
    }

    Endpoint awaitAccepted() throws InterruptedException {
        Endpoint endpoint = accepted.poll(Endpoint.TIMEOUT_SECONDS, TimeUnit.SECONDS);
        assertNotNull(endpoint, "no connection accepted");
        return endpoint;
    }

    Connection connect(ServerBootstrap server, Bootstrap client) throws InterruptedException {
        Endpoint connected = connect(client, listen(server));
        return new Connection(connected, awaitAccepted());
    }

    Connection connect() throws InterruptedException {
        return connect(serverBootstrap(), bootstrap());
    }

    /** Compares readable bytes. Unlike {@code equals} it does not make the leak detector note every step. */
    static void assertSameBytes(ByteBuf expected, ByteBuf actual) {
        assertArrayEquals(ByteBufUtil.getBytes(expected), ByteBufUtil.getBytes(actual));
    }

    /** Waits for something that no event tells. */
    static void awaitTrue(Callable<Boolean> condition, String what) throws Exception {
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(Endpoint.TIMEOUT_SECONDS);
        while (!condition.call()) {
            assertTrue(System.nanoTime() - deadlineNanos < 0, what);
            Thread.onSpinWait();
            Thread.yield();
        }
    }
}
