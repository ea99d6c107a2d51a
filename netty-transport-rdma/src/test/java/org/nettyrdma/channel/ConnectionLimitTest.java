package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.DefaultEventLoopGroup;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.local.LocalAddress;
import io.netty.channel.local.LocalChannel;
import io.netty.channel.local.LocalServerChannel;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.nettyrdma.peer.PeerAddress;
import org.nettyrdma.testkit.Endpoint;
import org.nettyrdma.testkit.TransportFixture;
import org.nettyrdma.verbs.ConnectionRequest;
import org.nettyrdma.verbs.VerbsProvider;

/** How many connections a server has. */
class ConnectionLimitTest extends TransportFixture {

    private static final InetSocketAddress ANOTHER_ADDRESS = new InetSocketAddress("127.0.0.2", 0);

    @Override
    protected VerbsProvider provider() {
        return Rdma.provider("iwarp");
    }

    private RdmaServerChannel listen(int maxConnections, int maxConnectionsPerAddress) throws InterruptedException {
        return (RdmaServerChannel) serverBootstrap().option(RdmaChannelOption.MAX_CONNECTIONS, maxConnections)
                .option(RdmaChannelOption.MAX_CONNECTIONS_PER_ADDRESS, maxConnectionsPerAddress)
                .bind("127.0.0.1", 0).sync().channel();
    }

    private void expectRefusal(Channel server, InetSocketAddress from) throws InterruptedException {
        Throwable cause = Endpoint.awaitFailure(bootstrap().handler(newEndpoint()).connect(server.localAddress(), from));
        assertInstanceOf(ConnectException.class, cause);
        assertTrue(cause.getMessage().contains("rejected"), cause.getMessage());
    }

    @Test
    void shouldRejectWhatExceedsTheLimitInAllUntilAnotherConnectionHasEnded() throws Exception {
        RdmaServerChannel server = listen(2, 2);
        Endpoint first = connect(bootstrap(), server);
        Endpoint accepted = awaitAccepted();
        connect(bootstrap().localAddress(ANOTHER_ADDRESS), server);
        expectRefusal(server, null);
        expectRefusal(server, ANOTHER_ADDRESS);
        first.channel().close().sync();
        accepted.awaitInactive();
        connect(bootstrap(), server);
        expectRefusal(server, null);
    }

    @Test
    void shouldRejectWhatExceedsTheLimitOfAnAddressAndServeTheOthers() throws Exception {
        RdmaServerChannel server = listen(10, 2);
        for (int i = 0; i < 2; i++) {
            connect(bootstrap(), server);
        }
        expectRefusal(server, null);
        connect(bootstrap().localAddress(ANOTHER_ADDRESS), server);
    }

    @ParameterizedTest
    @CsvSource({"1, 75", "2, 42", "8, 12", "20, 4"})
    void shouldLeaveRoomForOthersHoweverManyAddressesContend(int addresses, int each) {
        ConnectionCounts counts = new ConnectionCounts(100, 75);
        int[] admitted = new int[addresses];
        for (int round = 0; round < 100; round++) {
            for (int address = 0; address < addresses; address++) {
                admitted[address] += counts.refusalOf(new PeerAddress(address)) == null ? 1 : 0;
            }
        }
        for (int one : admitted) {
            assertTrue(Math.abs(one - each) <= 1, one + " connections");
        }
        assertNull(counts.refusalOf(new PeerAddress("newcomer")));
    }

    @Test
    void shouldKeepNothingBackWhereOneAddressMayHaveAll() {
        ConnectionCounts counts = new ConnectionCounts(100, 100);
        for (int i = 0; i < 100; i++) {
            assertNull(counts.refusalOf(new PeerAddress("one")));
        }
        assertNotNull(counts.refusalOf(new PeerAddress("one")));
        counts.ended(new PeerAddress("one"));
        assertNull(counts.refusalOf(new PeerAddress("one")));
    }

    private static ChannelInboundHandlerAdapter rejectingFive(BlockingQueue<Integer> rejected) {
        return new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object message) {
                if (rejected.size() < 5) {
                    rejected.add(1);
                    ((RdmaChannel) message).reject(new byte[0]);
                } else {
                    ctx.fireChannelRead(message);
                }
            }
        };
    }

    @Test
    void shouldNotCountConnectionsThatWereNeverMade() throws Exception {
        BlockingQueue<Integer> rejected = new LinkedBlockingQueue<>();
        RdmaServerChannel server = (RdmaServerChannel) serverBootstrap().option(RdmaChannelOption.MAX_CONNECTIONS, 1)
                .handler(rejectingFive(rejected)).bind("127.0.0.1", 0).sync().channel();
        for (int i = 0; i < 5; i++) {
            expectRefusal(server, null);
        }
        assertEquals(5, rejected.size());
        connect(bootstrap(), server);
    }

    /** For the first three there is no memory. */
    private static final class ShortOfMemory extends AcceptingChannel {

        private int made;

        @Override
        public ChannelConfig config() {
            return settings();
        }

        @Override
        QueuePairChannel newChild(ConnectionRequest request) {
            if (++made <= 3) {
                throw new OutOfMemoryError("for the test");
            }
            return new RdmaChannel(this, request);
        }
    }

    @Test
    void shouldNotCountConnectionsForWhichThereIsNoMemory() throws Exception {
        Channel server = new ServerBootstrap().group(group).channelFactory(ShortOfMemory::new).childHandler(recording())
                .option(RdmaChannelOption.MAX_CONNECTIONS, 1).bind("127.0.0.1", 0).sync().channel();
        for (int i = 0; i < 3; i++) {
            expectRefusal(server, null);
        }
        connect(bootstrap(), server);
    }

    @Test
    void shouldLimitByHandlerToo() throws Exception {
        RdmaServerChannel server = (RdmaServerChannel) serverBootstrap().handler(new ConnectionLimitHandler(10, 1))
                .bind("127.0.0.1", 0).sync().channel();
        Endpoint first = connect(bootstrap(), server);
        expectRefusal(server, null);
        connect(bootstrap().localAddress(ANOTHER_ADDRESS), server);
        Endpoint accepted = awaitAccepted();
        first.channel().close().sync();
        accepted.awaitInactive();
    }

    @Test
    void shouldNotCountByHandlerWhatAnotherHandlerHasRejected() throws Exception {
        BlockingQueue<Integer> rejected = new LinkedBlockingQueue<>();
        Channel server = serverBootstrap().handler(new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.pipeline().addLast(new ConnectionLimitHandler(1, 1), rejectingFive(rejected));
            }
        }).bind("127.0.0.1", 0).sync().channel();
        for (int i = 0; i < 5; i++) {
            expectRefusal(server, null);
        }
        assertEquals(5, rejected.size());
        Endpoint first = connect(bootstrap(), server);
        Endpoint accepted = awaitAccepted();
        expectRefusal(server, null);
        first.channel().close().sync();
        accepted.awaitInactive();
        connect(bootstrap(), server);
    }

    @Test
    void shouldNotCountByHandlerStreamsThatAnotherHandlerHasClosed() throws Exception {
        BlockingQueue<Integer> closed = new LinkedBlockingQueue<>();
        Channel server = new ServerBootstrap().group(group).channel(RdmaServerStreamChannel.class)
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new ConnectionLimitHandler(1, 1), new ChannelInboundHandlerAdapter() {
                            @Override
                            public void channelRead(ChannelHandlerContext ctx, Object message) {
                                closed.add(1);
                                ((Channel) message).unsafe().closeForcibly();
                            }
                        });
                    }
                }).childHandler(new ChannelInboundHandlerAdapter()).bind("127.0.0.1", 0).sync().channel();
        for (int i = 0; i < 5; i++) {
            Endpoint.awaitFailure(new Bootstrap().group(group).channel(RdmaStreamChannel.class)
                    .handler(new ChannelInboundHandlerAdapter()).connect(server.localAddress()));
        }
        assertEquals(5, closed.size());
    }

    @Test
    void shouldCloseWhatTheHandlerHasNoMemoryToCount() {
        EmbeddedChannel server = new EmbeddedChannel(new ConnectionLimitHandler(1, 1));
        Channel uncounted = new LocalChannel() {
            @Override
            public ChannelFuture closeFuture() {
                throw new OutOfMemoryError("expected");
            }
        };
        assertThrows(OutOfMemoryError.class, () -> server.writeInbound(uncounted));
        assertFalse(uncounted.isOpen());
        Channel next = new LocalChannel();
        server.writeInbound(next);
        assertSame(next, server.readInbound());
        server.finish();
    }

    @Test
    void shouldTellWithoutATraceThatAcceptingFailed() {
        List<Throwable> caught = new ArrayList<>();
        EmbeddedChannel server = new EmbeddedChannel(new ConnectionLimitHandler(1, 1), new ChannelInboundHandlerAdapter() {
            @Override
            public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                caught.add(cause);
            }
        });
        server.pipeline().fireExceptionCaught(new IOException("Too many open files"));
        assertEquals(0, caught.get(0).getStackTrace().length);
        assertEquals("Too many open files", caught.get(0).getMessage());
        server.finish();
    }

    @Test
    void shouldLimitServersOfOtherTransportsByHandler() throws Exception {
        DefaultEventLoopGroup loops = new DefaultEventLoopGroup(1);
        try {
            BlockingQueue<Channel> accepted = new LinkedBlockingQueue<>();
            Channel server = new ServerBootstrap().group(loops).channel(LocalServerChannel.class)
                    .handler(new ConnectionLimitHandler(2, 1)).childHandler(new ChannelInboundHandlerAdapter() {
                        @Override
                        public boolean isSharable() {
                            return true;
                        }

                        @Override
                        public void channelActive(ChannelHandlerContext ctx) {
                            accepted.add(ctx.channel());
                        }
                    }).bind(new LocalAddress("limited")).sync().channel();
            Bootstrap client = new Bootstrap().group(loops).channel(LocalChannel.class)
                    .handler(new ChannelInboundHandlerAdapter() {
                @Override
                public boolean isSharable() {
                    return true;
                }
            });
            Channel one = client.connect(server.localAddress(), new LocalAddress("one")).sync().channel();
            accepted.poll(Endpoint.TIMEOUT_SECONDS, TimeUnit.SECONDS);
            client.connect(server.localAddress(), new LocalAddress("other")).sync();
            Channel second = accepted.poll(Endpoint.TIMEOUT_SECONDS, TimeUnit.SECONDS);
            Channel third = client.connect(server.localAddress(), new LocalAddress("third")).channel();
            Endpoint.await(third.closeFuture());
            second.close().sync();
            client.connect(server.localAddress(), new LocalAddress("third")).sync();
            assertTrue(accepted.poll(Endpoint.TIMEOUT_SECONDS, TimeUnit.SECONDS) != null);
            assertTrue(one.isActive());
        } finally {
            loops.shutdownGracefully(0, Endpoint.TIMEOUT_SECONDS, TimeUnit.SECONDS).sync();
        }
    }
}
