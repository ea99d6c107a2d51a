package org.nettyrdma.testkit;

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
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.nettyrdma.channel.IdleStrategy;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaEventLoopGroup;
import org.nettyrdma.channel.RdmaServerChannel;
import org.nettyrdma.verbs.VerbsProvider;

/**
 * What the parts of {@link RdmaTransportContract} have in common, and tests of one's own for a provider may need: event loops,
 * and connections between endpoints. Everything is stopped and released after each test.
 */
public abstract class TransportFixture {

    /** Where servers listen. */
    protected static final InetAddress LOOPBACK = TestAddress.LOCAL;

    /** Two event loops of the provider under test. */
    protected EventLoopGroup group;
    private final Deque<EventLoopGroup> started = new ArrayDeque<>();
    private final BlockingQueue<Endpoint> accepted = new LinkedBlockingQueue<>();
    private final Queue<Endpoint> endpoints = new ConcurrentLinkedQueue<>();

    /**
     * Both ends of a connection.
     *
     * @param client the end that has asked
     * @param server the end that was accepted
     */
    public record Connection(Endpoint client, Endpoint server) {
    }

    /**
     * The provider under test.
     *
     * @return a provider that is available; the same with each call
     */
    protected abstract VerbsProvider provider();

    @BeforeEach
    void startGroup() {
        group = startGroup(2, IdleStrategy.ADAPTIVE);
    }

    @AfterEach
    void stopGroup() throws InterruptedException {
        for (EventLoopGroup last = started.pollLast(); last != null; last = started.pollLast()) {
            stop(last);
        }
        endpoints.forEach(Endpoint::releaseMessages);
    }

    /**
     * More event loops, which are stopped after the test.
     *
     * @param threads      how many
     * @param idleStrategy what they do when there is nothing to do
     * @return the loops
     */
    protected EventLoopGroup startGroup(int threads, IdleStrategy idleStrategy) {
        EventLoopGroup loops = newGroup(threads, idleStrategy);
        started.add(loops);
        return loops;
    }

    /**
     * Event loops of their own, which the test has to {@link #stop}.
     *
     * @param threads      how many
     * @param idleStrategy what they do when there is nothing to do
     * @return the loops
     */
    protected EventLoopGroup newGroup(int threads, IdleStrategy idleStrategy) {
        return newGroup(threads, provider(), idleStrategy);
    }

    static EventLoopGroup newGroup(int threads, VerbsProvider provider, IdleStrategy idleStrategy) {
        return new RdmaEventLoopGroup(threads, new DefaultThreadFactory("rdma-test"), provider, idleStrategy);
    }

    /**
     * Stops event loops, and fails if they do not end.
     *
     * @param stopped the loops
     * @throws InterruptedException if the test is interrupted
     */
    protected static void stop(EventLoopGroup stopped) throws InterruptedException {
        stopped.shutdownGracefully(0, Endpoint.TIMEOUT_SECONDS, TimeUnit.SECONDS);
        assertTrue(stopped.awaitTermination(Endpoint.TIMEOUT_SECONDS, TimeUnit.SECONDS), "event loops did not stop");
    }

    /**
     * A handler for the end of a pipeline, whose messages are released after the test.
     *
     * @return the handler
     */
    protected Endpoint newEndpoint() {
        Endpoint endpoint = new Endpoint();
        endpoints.add(endpoint);
        return endpoint;
    }

    /**
     * A server on the loops of the fixture, whose connections {@link #awaitAccepted} finds.
     *
     * @return the bootstrap
     */
    protected ServerBootstrap serverBootstrap() {
        return serverBootstrap(group);
    }

    /**
     * The same on other loops.
     *
     * @param loops the loops
     * @return the bootstrap
     */
    protected ServerBootstrap serverBootstrap(EventLoopGroup loops) {
        return new ServerBootstrap().group(loops).channel(RdmaServerChannel.class).childHandler(recording());
    }

    /**
     * A client on the loops of the fixture.
     *
     * @return the bootstrap, without a handler
     */
    protected Bootstrap bootstrap() {
        return bootstrap(group);
    }

    /**
     * The same on other loops.
     *
     * @param loops the loops
     * @return the bootstrap, without a handler
     */
    protected Bootstrap bootstrap(EventLoopGroup loops) {
        return new Bootstrap().group(loops).channel(RdmaChannel.class);
    }

    /**
     * Ends a server's pipeline with an {@link Endpoint}, to be found with {@link #awaitAccepted()} once it is active.
     *
     * @param before handlers in front of it
     * @return the initializer
     */
    protected ChannelHandler recording(ChannelHandler... before) {
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

    /**
     * Starts a server at a port that the system chooses.
     *
     * @param server what to start
     * @return its channel
     * @throws InterruptedException if the test is interrupted
     */
    protected RdmaServerChannel listen(ServerBootstrap server) throws InterruptedException {
        return (RdmaServerChannel) server.bind(LOOPBACK, 0).sync().channel();
    }

    /**
     * Where a server listens.
     *
     * @param server its channel
     * @return the address
     */
    protected static InetSocketAddress addressOf(Channel server) {
        return (InetSocketAddress) server.localAddress();
    }

    /**
     * Connects, and waits for the connection.
     *
     * @param client what to connect with
     * @param server the channel of the server
     * @return the client's end
     * @throws InterruptedException if the test is interrupted
     */
    protected Endpoint connect(Bootstrap client, Channel server) throws InterruptedException {
        Endpoint endpoint = newEndpoint();
        Endpoint.await(client.clone().handler(endpoint).connect(addressOf(server)));
        endpoint.awaitActive();
        return endpoint;
    }

    /**
     * Waits for a connection that a server has accepted and nobody has taken.
     *
     * @return the server's end of the oldest
     * @throws InterruptedException if the test is interrupted
     */
    protected Endpoint awaitAccepted() throws InterruptedException {
        Endpoint endpoint = accepted.poll(Endpoint.TIMEOUT_SECONDS, TimeUnit.SECONDS);
        assertNotNull(endpoint, "no connection accepted");
        return endpoint;
    }

    /**
     * Starts a server and connects to it.
     *
     * @param server what to start
     * @param client what to connect with
     * @return both ends
     * @throws InterruptedException if the test is interrupted
     */
    protected Connection connect(ServerBootstrap server, Bootstrap client) throws InterruptedException {
        Endpoint connected = connect(client, listen(server));
        return new Connection(connected, awaitAccepted());
    }

    /**
     * Starts a server with default options and connects to it.
     *
     * @return both ends
     * @throws InterruptedException if the test is interrupted
     */
    protected Connection connect() throws InterruptedException {
        return connect(serverBootstrap(), bootstrap());
    }

    /**
     * Compares readable bytes. Unlike {@code equals} it does not make the leak detector note every step.
     *
     * @param expected the bytes that are expected
     * @param actual   those that are there
     */
    protected static void assertSameBytes(ByteBuf expected, ByteBuf actual) {
        assertArrayEquals(ByteBufUtil.getBytes(expected), ByteBufUtil.getBytes(actual));
    }

    /**
     * Waits for something that no event tells.
     *
     * @param condition asked again and again
     * @param what      for the message of the failure
     * @throws Exception of the condition
     */
    protected static void awaitTrue(Callable<Boolean> condition, String what) throws Exception {
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(Endpoint.TIMEOUT_SECONDS);
        while (!condition.call()) {
            assertTrue(System.nanoTime() - deadlineNanos < 0, what);
            Thread.onSpinWait();
            Thread.yield();
        }
    }
}
