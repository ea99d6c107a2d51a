package org.nettyrdma.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.nettyrdma.testkit.PrivateData.assertArrived;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.EventLoopGroup;
import io.netty.util.AttributeKey;
import java.net.ConnectException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.UnresolvedAddressException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.nettyrdma.channel.IdleStrategy;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaChannelOption;
import org.nettyrdma.channel.RdmaException;
import org.nettyrdma.channel.RdmaServerChannel;
import org.nettyrdma.channel.RegisteredByteBufAllocator;

/** Connections come about, are refused or fail, and both ends know why. A part of {@link RdmaTransportContract}. */
public abstract class ConnectingContract extends TransportFixture {

    private static final byte[] REQUEST_DATA = {1, 2, 3};
    private static final byte[] REPLY_DATA = {4, 5, 6, 7};

    /** Connection requests to it are never answered. */
    private RdmaServerChannel listenWithoutReading() throws InterruptedException {
        return listen(serverBootstrap().option(ChannelOption.AUTO_READ, false));
    }

    /** Of the interface under test, IPv4 and IPv6, those with a scope too. */
    static Stream<InetAddress> addresses() throws SocketException {
        return NetworkInterface.getByInetAddress(LOOPBACK).inetAddresses();
    }

    @ParameterizedTest
    @MethodSource("addresses")
    void shouldKnowTheAddressesOfBothEnds(InetAddress host) throws Exception {
        if (host instanceof Inet6Address && provider().capabilities().maxPrivateDataBytes() == 0) {
            // The native library that passes no private data on does not know IPv6, either.
            Throwable cause = Endpoint.awaitFailure(serverBootstrap().bind(host, 0));
            assertTrue(cause.getMessage().contains("IPv4 addresses only"), cause.getMessage());
            return;
        }
        Channel server = serverBootstrap().bind(host, 0).sync().channel();
        assertEquals(host, addressOf(server).getAddress());
        Endpoint client = connect(bootstrap(), server);
        Endpoint child = awaitAccepted();
        assertEquals(server.localAddress(), client.channel().remoteAddress());
        assertEquals(server.localAddress(), child.channel().localAddress());
        assertEquals(client.channel().localAddress(), child.channel().remoteAddress());
        assertTrue(client.channel().isActive() && child.channel().isActive());
        assertEquals(server, child.channel().parent());
        client.send("over " + host);
        assertEquals("over " + host, child.awaitText());
    }

    @Test
    void shouldTellTheAddressThatItWasBoundTo() throws Exception {
        RdmaServerChannel server = listen(serverBootstrap());
        var wanted = new InetSocketAddress(LOOPBACK, 0);
        RdmaChannel channel = (RdmaChannel) bootstrap().handler(newEndpoint()).register().sync().channel();
        assertNull(channel.localAddress());
        Endpoint.await(channel.bind(wanted));
        assertEquals(wanted, channel.localAddress());
        assertInstanceOf(AlreadyBoundException.class, Endpoint.awaitFailure(channel.bind(wanted)));
        Endpoint.await(channel.connect(addressOf(server)));
        var connected = (InetSocketAddress) channel.localAddress();
        assertEquals(LOOPBACK, connected.getAddress());
        assertNotEquals(0, connected.getPort());
        assertEquals(connected, awaitAccepted().channel().remoteAddress());
        assertInstanceOf(AlreadyBoundException.class, Endpoint.awaitFailure(channel.bind(wanted)));
    }

    @Test
    void shouldNotBindAServerTwice() throws Exception {
        RdmaServerChannel server = listen(serverBootstrap());
        InetSocketAddress first = addressOf(server);
        Throwable cause = Endpoint.awaitFailure(server.bind(new InetSocketAddress(LOOPBACK, 0)));
        assertInstanceOf(AlreadyBoundException.class, cause);
        assertEquals(first, server.localAddress());
        connect(bootstrap(), server);
        Endpoint.await(server.close());
        Endpoint.awaitFailure(bootstrap().handler(newEndpoint()).connect(first));
    }

    @Test
    void shouldRefuseWhereNobodyListens() throws Exception {
        try (Socket taken = new Socket()) { // or another process could listen there meanwhile
            taken.bind(new InetSocketAddress(LOOPBACK, 0));
            SocketAddress address = taken.getLocalSocketAddress();
            ChannelFuture connect = bootstrap().handler(newEndpoint()).connect(address);
            Throwable cause = Endpoint.awaitFailure(connect);
            assertInstanceOf(ConnectException.class, cause);
            assertTrue(cause.getMessage().contains(address.toString()), cause.getMessage());
            Endpoint.await(connect.channel().closeFuture());
        }
    }

    @Test
    void shouldGiveUpConnectingAfterTheTimeOut() throws Exception {
        RdmaServerChannel silent = listenWithoutReading();
        ChannelFuture connect = bootstrap().option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 50).handler(newEndpoint())
                .connect(addressOf(silent));
        Throwable cause = Endpoint.awaitFailure(connect);
        assertInstanceOf(ConnectTimeoutException.class, cause);
        assertTrue(cause.getMessage().contains("50 ms: " + addressOf(silent)), cause.getMessage());
        Endpoint.await(connect.channel().closeFuture());
    }

    @Test
    void shouldServeOthersWhileAnAttemptEnds() throws Exception {
        EventLoopGroup single = startGroup(1, IdleStrategy.ADAPTIVE);
        Connection connection = connect(serverBootstrap(), bootstrap(single));
        BlockingQueue<RdmaChannel> unanswered = new LinkedBlockingQueue<>();
        RdmaServerChannel silent = listen(serverBootstrap().handler(new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object message) {
                unanswered.add((RdmaChannel) message);
            }
        }));
        ChannelFuture connect = bootstrap(single).handler(newEndpoint()).connect(addressOf(silent));
        RdmaChannel request = unanswered.poll(Endpoint.TIMEOUT_SECONDS, TimeUnit.SECONDS);
        long startNanos = System.nanoTime();
        connect.channel().close();
        connection.client().send("meanwhile");
        assertEquals("meanwhile", connection.server().awaitText());
        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos);
        assertTrue(millis < 4000, millis + " ms"); // a device may take 10 seconds to give up
        assertInstanceOf(ClosedChannelException.class, Endpoint.awaitFailure(connect));
        Endpoint.await(silent.eventLoop().submit(() -> request.unsafe().closeForcibly()));
    }

    @Test
    void shouldCloseWhenConnectingIsCancelled() throws Exception {
        ChannelFuture connect = bootstrap().handler(newEndpoint()).connect(addressOf(listenWithoutReading()));
        awaitTrue(connect.channel()::isRegistered, "not registered");
        assertTrue(connect.cancel(true));
        Endpoint.await(connect.channel().closeFuture());
        assertTrue(connect.isCancelled());
    }

    @Test
    void shouldFailConnectingWhenClosed() throws Exception {
        Endpoint endpoint = newEndpoint();
        Channel channel = bootstrap().handler(endpoint).register().sync().channel();
        ChannelFuture connect = channel.connect(addressOf(listenWithoutReading()));
        Endpoint.await(channel.close());
        assertInstanceOf(ClosedChannelException.class, Endpoint.awaitFailure(connect));
        assertFalse(endpoint.isInactive(), "was never active");
    }

    @Test
    void shouldNotConnectTwice() throws Exception {
        RdmaServerChannel silent = listenWithoutReading();
        Channel pending = bootstrap().handler(newEndpoint()).register().sync().channel();
        pending.connect(addressOf(silent));
        assertInstanceOf(ConnectionPendingException.class, Endpoint.awaitFailure(pending.connect(addressOf(silent))));
        Endpoint active = connect().client();
        assertInstanceOf(AlreadyConnectedException.class,
                Endpoint.awaitFailure(active.channel().connect(addressOf(silent))));
        assertTrue(active.channel().isActive());
    }

    /** As with NIO, for which it is not bound yet. */
    @Test
    void shouldNotBindWhatIsConnecting() throws Exception {
        Channel pending = bootstrap().handler(newEndpoint()).register().sync().channel();
        pending.connect(addressOf(listenWithoutReading()));
        assertInstanceOf(ConnectionPendingException.class,
                Endpoint.awaitFailure(pending.bind(new InetSocketAddress(LOOPBACK, 0))));
        assertTrue(pending.isOpen());
    }

    @Test
    void shouldNotConnectWhatIsBeingAccepted() throws Exception {
        BlockingQueue<ChannelFuture> attempts = new LinkedBlockingQueue<>();
        Connection connection = connect(serverBootstrap().childHandler(recording(new ChannelInboundHandlerAdapter() {
            @Override
            public void handlerAdded(ChannelHandlerContext ctx) {
                attempts.add(ctx.connect(ctx.channel().parent().localAddress()));
            }
        })), bootstrap());
        assertInstanceOf(AlreadyConnectedException.class, Endpoint.awaitFailure(attempts.take()));
        connection.client().send("still there");
        assertEquals("still there", connection.server().awaitText());
    }

    @Test
    @EnabledOnOs(OS.LINUX) // elsewhere the loopback interface has one address only
    void shouldConnectFromTheBoundAddress() throws Exception {
        assumeLoopback();
        RdmaServerChannel server = listen(serverBootstrap());
        InetAddress local = InetAddress.getByName("127.0.0.2");
        Channel client = bootstrap().handler(newEndpoint()).bind(local, 0).sync().channel();
        assertNull(client.remoteAddress());
        Endpoint.await(client.connect(addressOf(server)));
        assertEquals(local, ((InetSocketAddress) client.localAddress()).getAddress());
        assertEquals(client.localAddress(), awaitAccepted().channel().remoteAddress());
    }

    @Test
    void shouldNotBindANameThatNobodyHasLookedUp() throws Exception {
        InetSocketAddress name = InetSocketAddress.createUnresolved("name.invalid", 0);
        ChannelFuture registered = bootstrap().handler(newEndpoint()).register();
        Endpoint.await(registered);
        Channel client = registered.channel();
        assertInstanceOf(UnresolvedAddressException.class, Endpoint.awaitFailure(client.bind(name)));
        Endpoint.await(client.connect(addressOf(listen(serverBootstrap()))));
        assertInstanceOf(UnresolvedAddressException.class, Endpoint.awaitFailure(serverBootstrap().bind(name)));
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void shouldConnectFromTheLocalAddressGiven() throws Exception {
        assumeLoopback();
        InetSocketAddress local = new InetSocketAddress("127.0.0.3", 0);
        ChannelFuture connect = bootstrap().handler(newEndpoint()).connect(addressOf(listen(serverBootstrap())), local);
        Endpoint.await(connect);
        assertEquals(local.getAddress(), ((InetSocketAddress) connect.channel().localAddress()).getAddress());
    }

    private static void assumeLoopback() {
        assumeTrue(LOOPBACK.isLoopbackAddress(), "the device is not on the loopback interface");
    }

    private void assumePrivateData() {
        assumeTrue(provider().capabilities().maxPrivateDataBytes() > 0, "the native library passes no private data on");
    }

    @Test
    void shouldCarryPrivateDataBothWays() throws Exception {
        assumePrivateData();
        Connection connection = connect(serverBootstrap().childOption(RdmaChannelOption.PRIVATE_DATA, REPLY_DATA),
                bootstrap().option(RdmaChannelOption.PRIVATE_DATA, REQUEST_DATA));
        assertArrived(REPLY_DATA, ByteBufUtil.getBytes(connection.client().channel().peerPrivateData()));
        assertArrived(REQUEST_DATA, ByteBufUtil.getBytes(connection.server().channel().peerPrivateData()));
        assertTrue(connection.client().channel().peerPrivateData().isReadOnly());
    }

    @Test
    void shouldHaveNoPrivateDataByDefault() throws Exception {
        Connection connection = connect();
        assertArrived(new byte[0], ByteBufUtil.getBytes(connection.client().channel().peerPrivateData()));
        assertArrived(new byte[0], ByteBufUtil.getBytes(connection.server().channel().peerPrivateData()));
    }

    @Test
    void shouldFailConnectingWithTooMuchPrivateData() throws Exception {
        byte[] tooMuch = new byte[provider().capabilities().maxPrivateDataBytes() + 1];
        ChannelFuture connect = bootstrap().option(RdmaChannelOption.PRIVATE_DATA, tooMuch).handler(newEndpoint())
                .connect(addressOf(listen(serverBootstrap())));
        Endpoint.awaitFailure(connect);
        Endpoint.await(connect.channel().closeFuture());
    }

    @Test
    void shouldTellTheClientThatItWasRejectedAndWhy() throws Exception {
        assumePrivateData();
        BlockingQueue<byte[]> requests = new LinkedBlockingQueue<>();
        RdmaServerChannel server = listen(serverBootstrap().handler(new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object message) {
                RdmaChannel child = (RdmaChannel) message;
                requests.add(ByteBufUtil.getBytes(child.peerPrivateData()));
                child.reject(REPLY_DATA);
                assertThrows(IllegalStateException.class, () -> child.reject(REPLY_DATA));
            }
        }));
        ChannelFuture connect = bootstrap().option(RdmaChannelOption.PRIVATE_DATA, REQUEST_DATA).handler(newEndpoint())
                .connect(addressOf(server));
        assertInstanceOf(ConnectException.class, Endpoint.awaitFailure(connect));
        assertArrived(REQUEST_DATA, requests.poll(Endpoint.TIMEOUT_SECONDS, TimeUnit.SECONDS));
        assertArrived(REPLY_DATA, ByteBufUtil.getBytes(((RdmaChannel) connect.channel()).peerPrivateData()));
        assertThrows(IllegalStateException.class, () -> ((RdmaChannel) connect.channel()).reject(REPLY_DATA));
    }

    @Test
    void shouldRejectARequestWhoseChannelCannotBeRegistered() throws Exception {
        int tooDeep = provider().capabilities().maxQueueDepth() + 1;
        RdmaServerChannel server = listen(serverBootstrap().childOption(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, tooDeep));
        ChannelFuture connect = bootstrap().handler(newEndpoint()).connect(addressOf(server));
        assertInstanceOf(ConnectException.class, Endpoint.awaitFailure(connect));
        ChannelFuture ownFault = bootstrap().option(RdmaChannelOption.SEND_QUEUE_DEPTH, tooDeep).handler(newEndpoint())
                .connect(addressOf(server));
        assertInstanceOf(RdmaException.class, Endpoint.awaitFailure(ownFault));
        assertTrue(server.isActive());
    }

    @Test
    void shouldApplyOptionsAndAttributesToChildren() throws Exception {
        AttributeKey<String> key = AttributeKey.valueOf(ConnectingContract.class, "test");
        Connection connection = connect(serverBootstrap().childAttr(key, "attribute")
                .childOption(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, 7)
                .childOption(ChannelOption.AUTO_READ, false), bootstrap().attr(key, "other").option(
                        RdmaChannelOption.RECEIVE_BUFFER_SIZE, 1234));
        RdmaChannel child = connection.server().channel();
        assertEquals("attribute", child.attr(key).get());
        assertEquals(7, child.config().getReceiveQueueDepth());
        assertFalse(child.config().isAutoRead());
        RdmaChannel client = connection.client().channel();
        assertEquals("other", client.attr(key).get());
        assertEquals(1234, client.config().getReceiveBufferSize());
        var late = assertThrows(IllegalStateException.class, () -> client.config().setReceiveQueueDepth(1));
        assertEquals("receiveQueueDepth: can be set only before the channel is registered", late.getMessage());
        assertInstanceOf(RegisteredByteBufAllocator.class, client.alloc());
    }

    @Test
    void shouldTakeUpOneRequestPerRead() throws Exception {
        RdmaServerChannel server = listenWithoutReading();
        Bootstrap client = bootstrap().handler(newEndpoint());
        ChannelFuture first = client.connect(addressOf(server));
        ChannelFuture second = client.clone().handler(newEndpoint()).connect(addressOf(server));
        server.read();
        awaitTrue(() -> first.isDone() || second.isDone(), "no request taken up");
        server.config().setAutoRead(true);
        Endpoint.await(first);
        Endpoint.await(second);
    }

    @Test
    void shouldFailToBindAnAddressInUse() throws Exception {
        RdmaServerChannel server = listen(serverBootstrap());
        ChannelFuture bind = serverBootstrap().bind(addressOf(server));
        Endpoint.awaitFailure(bind);
        assertTrue(server.isActive());
        var late = assertThrows(IllegalStateException.class, () -> server.config().setOption(ChannelOption.SO_BACKLOG, 1));
        assertEquals("backlog: can be set only before the channel is bound", late.getMessage());
    }

    @Test
    void shouldServeManyConnectionsAtOnce() throws Exception {
        ServerBootstrap bootstrap = serverBootstrap().childHandler(new ChannelInboundHandlerAdapter() {
            @Override
            public boolean isSharable() {
                return true;
            }

            @Override
            public void channelRead(ChannelHandlerContext ctx, Object message) {
                ctx.writeAndFlush(message);
            }
        }).childOption(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, 8);
        RdmaServerChannel server = listen(bootstrap);
        Bootstrap client = bootstrap().option(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, 8);
        List<Endpoint> clients = new ArrayList<>();
        List<ChannelFuture> connects = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            Endpoint endpoint = newEndpoint();
            clients.add(endpoint);
            connects.add(client.clone().handler(endpoint).connect(addressOf(server)));
        }
        for (ChannelFuture connect : connects) {
            Endpoint.await(connect);
        }
        for (int round = 0; round < 5; round++) {
            for (int i = 0; i < clients.size(); i++) {
                clients.get(i).send(i + "/" + round);
            }
            for (int i = 0; i < clients.size(); i++) {
                assertEquals(i + "/" + round, clients.get(i).awaitText());
            }
        }
    }
}
