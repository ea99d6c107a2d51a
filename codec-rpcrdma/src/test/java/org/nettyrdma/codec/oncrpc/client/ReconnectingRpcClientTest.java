package org.nettyrdma.codec.oncrpc.client;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nettyrdma.codec.oncrpc.client.RestartedServer.ECHO;
import static org.nettyrdma.codec.oncrpc.client.RestartedServer.HOLD;
import static org.nettyrdma.codec.oncrpc.client.RestartedServer.PROGRAM;

import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.logging.LoggingHandler;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.concurrent.BlockingOperationException;
import io.netty.util.concurrent.Future;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.nettyrdma.codec.oncrpc.RecordMarkingCodec;
import org.nettyrdma.codec.oncrpc.Retransmission;
import org.nettyrdma.codec.oncrpc.RpcAcceptException;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcConnectionException;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.oncrpc.RpcTimeoutException;

/** A client whose server over TCP goes away and comes back. */
class ReconnectingRpcClientTest extends ReconnectingClientFixture {

    @Test
    void shouldMakeCallsUnderWayAgainInOrderWithTheSameXid() throws Exception {
        ReconnectingRpcClient client = connect(QUICK, 1);
        List<Future<ByteBuf>> calls = IntStream.range(0, 20).mapToObj(i -> client.call(request(HOLD, i))).toList();
        List<Integer> xids = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            RpcCall call = held();
            xids.add(call.header().xid());
            call.arguments().release();
        }
        server.stop();
        server.start();

        for (int i = 0; i < 20; i++) {
            RpcCall call = held();
            assertEquals(xids.get(i), call.header().xid());
            assertEquals(i, call.arguments().getInt(call.arguments().readerIndex()));
            RestartedServer.answer(call);
        }
        for (int i = 0; i < 20; i++) {
            assertEquals(i, result(calls.get(i)));
        }
        assertEquals(20, client.statistics().retransmissions());
        assertEquals(0, client.statistics().calls());
    }

    @Test
    void shouldKeepCallsUntilTheServerIsThere() throws Exception {
        server.stop();
        ReconnectingRpcClient client = connect(QUICK, 1);
        List<Future<ByteBuf>> calls = new ArrayList<>();
        for (Retransmission retransmission : Retransmission.values()) {
            calls.add(client.call(request(ECHO, calls.size()).setRetransmission(retransmission)));
        }
        expect("failed");
        expect("failed");
        assertFalse(client.isConnected());
        server.start();

        for (int i = 0; i < calls.size(); i++) {
            assertEquals(i, result(calls.get(i)));
        }
        assertEquals(0, client.statistics().retransmissions());
    }

    @Test
    void shouldFailCallsThatMayNotBeMadeAgain() throws Exception {
        ReconnectingRpcClient client = connect(QUICK, 1);
        Future<ByteBuf> never = client.call(request(HOLD, 1).setRetransmission(Retransmission.NEVER));
        Future<ByteBuf> ifNotSent = client.call(request(HOLD, 2).setRetransmission(Retransmission.ONLY_IF_NOT_SENT));
        Future<ByteBuf> always = client.call(request(HOLD, 3));
        for (int i = 0; i < 3; i++) {
            held().arguments().release();
        }
        server.stop();

        for (Future<ByteBuf> call : List.of(never, ifNotSent)) {
            assertTrue(assertInstanceOf(RpcConnectionException.class, failure(call)).mayHaveBeenSent());
        }
        server.start();
        RestartedServer.answer(held());
        assertEquals(3, result(always));
        assertNull(server.held.poll());
    }

    @Test
    void shouldRefuseCallsBeyondTheirBounds() throws Exception {
        server.stop();
        ReconnectingRpcClient client = connect(QUICK.withMaxWaiting(3, 100), 1);
        Future<ByteBuf> first = client.call(request(ECHO, 1));
        expect("failed");
        ByteBuf large = Unpooled.buffer().writeZero(97); // a pooled one may be somebody else's by the time of the question
        Throwable tooLarge = failure(client.call(new RpcRequest(PROGRAM, 1, ECHO, large)));
        Future<ByteBuf> second = client.call(request(ECHO, 2));
        Future<ByteBuf> third = client.call(request(ECHO, 3));
        Throwable tooMany = failure(client.call(request(ECHO, 4)));

        assertEquals(0, large.refCnt());
        for (Throwable refusal : List.of(tooLarge, tooMany)) {
            assertFalse(assertInstanceOf(RpcConnectionException.class, refusal).mayHaveBeenSent());
            assertInstanceOf(TooManyCallsException.class, refusal.getCause());
            assertTrue(refusal.getMessage().contains("there is no address of the server"), refusal.getMessage());
        }
        ReconnectStatistics statistics = client.statistics();
        assertEquals(List.of(3, 3, 12L, 2L), List.of(statistics.calls(), statistics.waitingCalls(), statistics.waitingBytes(),
                statistics.refusedCalls()));
        server.start();
        assertEquals(List.of(1, 2, 3), List.of(result(first), result(second), result(third)));
        assertEquals(4, result(client.call(request(ECHO, 4))), "there is room again");
    }

    @Test
    void shouldSendCallsThatMayNotWaitWhileThereIsRoomAndSayWhyNotOtherwise() throws Exception {
        ReconnectingRpcClient client = connect(QUICK.withMaxWaiting(0, 0).withMaxCallsPerConnection(2), 1);
        expect("connected");
        assertEquals(1, result(client.call(request(ECHO, 1))));
        Future<ByteBuf> first = client.call(request(HOLD, 1));
        Future<ByteBuf> second = client.call(request(HOLD, 2).setRetransmission(Retransmission.NEVER));
        RpcCall heldFirst = held();
        RpcCall heldSecond = held();
        Throwable busy = failure(client.call(request(ECHO, 3)));
        assertInstanceOf(TooManyCallsException.class, busy.getCause());
        assertTrue(busy.getMessage().contains("each connection has 2 calls under way"), busy.getMessage());
        RestartedServer.answer(heldFirst);
        assertEquals(1, result(first));
        assertEquals(4, result(client.call(request(ECHO, 4))));

        server.stop();
        heldSecond.arguments().release();
        failure(second);
        expect("lost");
        Throwable lost = failure(client.call(request(ECHO, 5)));
        assertInstanceOf(TooManyCallsException.class, lost.getCause());
        assertTrue(lost.getMessage().contains("there is no connection"), lost.getMessage());
    }

    /** Those that are made again wait whatever the limit is, and are sent with the next connection, which has more room. */
    @Test
    void shouldSendCallsThatMayNotWaitBehindThoseThatDo() throws Exception {
        AtomicReference<ReconnectingRpcClient> client = new AtomicReference<>();
        BlockingQueue<Future<ByteBuf>> fromListener = new LinkedBlockingQueue<>();
        ReconnectListener calling = new ReconnectListener() {
            @Override
            public void connected(SocketAddress address) {
                ReconnectingRpcClient known = client.get(); // the test sets it when it has been told of the first connection
                events.add("connected");
                if (known != null) {
                    fromListener.add(known.call(request(ECHO, 2)));
                }
            }
        };
        clients.add(ReconnectingRpcClient.builder(RestartedServer.client(group), server::addresses)
                .policy(QUICK.withMaxWaiting(0, 0).withMaxCallsPerConnection(2)).listener(calling).connect());
        expect("connected");
        client.set(clients.get(0));
        Future<ByteBuf> again = client.get().call(request(HOLD, 1));
        held().arguments().release();
        server.stop();
        server.start();
        RestartedServer.answer(held());
        assertEquals(1, result(again));
        assertEquals(2, result(fromListener.poll(30, TimeUnit.SECONDS)));
    }

    @Test
    void shouldEndCallsAtTheirDeadlineWhereverTheyAre() throws Exception {
        ReconnectingRpcClient client = connect(QUICK.withMaxLostCalls(0), 1);
        Future<ByteBuf> sent = client.call(request(HOLD, 1).setTimeoutMillis(50));
        assertInstanceOf(RpcTimeoutException.class, failure(sent));
        held().arguments().release();

        Future<ByteBuf> sentBefore = client.call(request(HOLD, 2).setTimeoutMillis(2000));
        held().arguments().release();
        server.stop();
        expect("lost");
        expect("failed");
        Future<ByteBuf> waiting = client.call(request(HOLD, 2).setTimeoutMillis(50));
        for (Future<ByteBuf> call : List.of(waiting, sentBefore)) {
            Throwable failure = assertInstanceOf(RpcTimeoutException.class, failure(call));
            assertInstanceOf(IllegalStateException.class, failure.getCause(), "says why it has waited");
        }
        assertEquals(0, client.statistics().calls());
        assertEquals(0, client.statistics().waitingCalls());
    }

    @Test
    void shouldEndAllCallsWhenItIsClosed() throws Exception {
        List<Future<ByteBuf>> calls = new ArrayList<>();
        ReconnectingRpcClient client = connect(QUICK.withMaxCallsPerConnection(1), 1);
        try (client) {
            calls.add(client.call(request(HOLD, 1)));
            calls.add(client.call(request(HOLD, 2)));
            held().arguments().release();
        }
        calls.add(client.call(request(HOLD, 3)));

        for (Future<ByteBuf> call : calls) {
            Throwable failure = assertInstanceOf(RpcConnectionException.class, failure(call));
            assertEquals("the client was closed", failure.getCause().getMessage());
        }
        assertEquals(List.of(true, false, false), calls.stream()
                .map(call -> ((RpcConnectionException) call.cause()).mayHaveBeenSent()).toList());
        assertTrue(client.closeFuture().await(30, TimeUnit.SECONDS));
        assertEquals(0, client.statistics().connections());
    }

    @Test
    void shouldEndAllCallsWhenItsEventLoopEnds() throws Exception {
        EventLoopGroup own = new NioEventLoopGroup(1);
        server.stop();
        ReconnectingRpcClient client = ReconnectingRpcClient.builder(RestartedServer.client(own), server::addresses).connect();
        ByteBuf arguments = Unpooled.buffer().writeInt(1);
        Future<ByteBuf> call = client.call(new RpcRequest(PROGRAM, 1, ECHO, arguments));
        CompletableFuture<ByteBuf> stage = client.callAsync(request(ECHO, 3)).toCompletableFuture();
        CompletableFuture<Void> closed = new CompletableFuture<>();
        client.closeFuture().addListener(closing -> closed.complete(null));
        own.shutdownGracefully(0, 30, TimeUnit.SECONDS).sync();

        assertInstanceOf(RpcConnectionException.class, failure(call));
        assertTrue(client.closeFuture().await(30, TimeUnit.SECONDS));
        // The loop cannot tell any more.
        assertInstanceOf(RpcConnectionException.class,
                assertThrows(ExecutionException.class, () -> stage.get(30, TimeUnit.SECONDS)).getCause());
        closed.get(30, TimeUnit.SECONDS);
        CompletableFuture<Throwable> told = new CompletableFuture<>();
        client.call(request(ECHO, 2)).addListener(late -> told.complete(late.cause()));
        assertInstanceOf(RpcConnectionException.class, told.get(30, TimeUnit.SECONDS));
        assertEquals(0, arguments.refCnt());
        client.close();
    }

    @RepeatedTest(5)
    void shouldTellThatItIsClosedWhenAllItsEventLoopsHaveEnded() throws Exception {
        EventLoopGroup own = new NioEventLoopGroup(4);
        ReconnectingRpcClient client = ReconnectingRpcClient.builder(RestartedServer.client(own), server::addresses)
                .connections(4).listener(listener).connect();
        for (int i = 0; i < 4; i++) {
            expect("connected");
        }
        own.shutdownGracefully(0, 30, TimeUnit.SECONDS).sync();
        assertTrue(client.closeFuture().await(10, TimeUnit.SECONDS));
    }

    @Test
    void shouldEndAllConnectionsWhenItIsClosedWhileTheirChannelsCannotBeMade() throws Exception {
        EventLoopGroup own = new NioEventLoopGroup(1);
        Bootstrap broken = new Bootstrap().group(own).handler(new LoggingHandler()).channelFactory(() -> {
            throw new IllegalStateException("no channels");
        });
        CountDownLatch mayStart = new CountDownLatch(1);
        own.execute(() -> assertDoesNotThrow(() -> mayStart.await(30, TimeUnit.SECONDS)));
        ReconnectingRpcClient client = ReconnectingRpcClient.builder(broken, server::addresses).connections(3)
                .listener(listener).connect();
        client.close(); // behind the first attempts, and before it is heard elsewhere that these have failed
        mayStart.countDown();
        assertTrue(client.closeFuture().await(10, TimeUnit.SECONDS));
        own.shutdownGracefully(0, 30, TimeUnit.SECONDS).sync();
    }

    @Test
    void shouldTryAgainWhereTheSupplierOfAddressesIsBroken() throws Exception {
        AtomicInteger asked = new AtomicInteger();
        ReconnectingRpcClient client = ReconnectingRpcClient.builder(RestartedServer.client(group), () -> {
            if (asked.incrementAndGet() < 3) {
                throw new NoClassDefFoundError("of the supplier");
            }
            return server.addresses();
        }).policy(QUICK).listener(listener).connect();
        clients.add(client);
        assertEquals(1, result(client.call(request(ECHO, 1))));
        expect("failed");
        expect("connected");
    }

    @Test
    void shouldSpreadCallsAndGiveThoseOfALostConnectionToTheOthers() throws Exception {
        ReconnectingRpcClient client = connect(QUICK, 3);
        for (int i = 0; i < 3; i++) {
            expect("connected");
        }
        List<Future<ByteBuf>> calls = IntStream.range(0, 9).mapToObj(i -> client.call(request(HOLD, i))).toList();
        List<RpcCall> held = new ArrayList<>();
        for (int i = 0; i < 9; i++) {
            held.add(held());
        }
        Channel first = held.get(0).channel();
        assertEquals(3, held.stream().filter(call -> call.channel() == first).count());
        first.close();
        for (RpcCall call : held) {
            if (call.channel() == first) {
                call.arguments().release();
            } else {
                RestartedServer.answer(call);
            }
        }
        for (int i = 0; i < 3; i++) {
            RestartedServer.answer(held());
        }
        for (int i = 0; i < 9; i++) {
            assertEquals(i, result(calls.get(i)));
        }
        assertEquals(3, client.statistics().retransmissions());
        expect("lost");
        expect("connected");
    }

    /** A channel of RDMA stays active while it has messages to read, though its connection has ended. */
    @Test
    void shouldMakeACallAgainThatWasRefusedByAConnectionAtItsEnd() throws Exception {
        AtomicInteger writes = new AtomicInteger();
        Bootstrap bootstrap = new Bootstrap().group(group).channel(NioSocketChannel.class).handler(new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.pipeline().addLast(new RecordMarkingCodec(1000)).addLast(new EndedConnection(writes))
                        .addLast(new RpcClient());
            }
        });
        ReconnectingRpcClient client = ReconnectingRpcClient.builder(bootstrap, server::addresses).policy(QUICK).connect();
        clients.add(client);

        assertEquals(1, result(client.call(request(ECHO, 1))));
        assertEquals(1, client.statistics().retransmissions());
    }

    @Test
    void shouldTryOneAddressAfterTheOther() throws Exception {
        try (Socket taken = new Socket()) { // or another process could listen there meanwhile
            taken.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            List<SocketAddress> addresses = List.of(taken.getLocalSocketAddress(), server.addresses().get(0));
            ReconnectingRpcClient client = ReconnectingRpcClient.builder(RestartedServer.client(group), () -> addresses)
                    .policy(QUICK).listener(listener).connect();
            clients.add(client);

            assertEquals(1, result(client.call(request(ECHO, 1))));
            expect("failed");
            expect("connected");
        }
    }

    @Test
    void shouldServeCallersThatWaitAndCallersWithStages() throws Exception {
        ReconnectingRpcClient client = connect(QUICK, 1);
        ByteBuf results = client.callAndWait(request(ECHO, 5));
        assertEquals(5, results.readInt());
        results.release();
        assertThrows(RpcAcceptException.class, () -> client.callAndWait(request(99, 5)));
        assertEquals(6, client.callAsync(request(ECHO, 6)).thenApply(answer -> {
            int value = answer.readInt();
            answer.release();
            return value;
        }).toCompletableFuture().get(30, TimeUnit.SECONDS));
        ExecutionException refused = assertThrows(ExecutionException.class,
                () -> client.callAsync(request(99, 6)).toCompletableFuture().get(30, TimeUnit.SECONDS));
        assertInstanceOf(RpcAcceptException.class, refused.getCause());
    }

    @Test
    void shouldNotWaitOnAnEventLoop() throws Exception {
        ReconnectingRpcClient client = connect(QUICK, 1);
        CompletableFuture<Throwable> thrown = new CompletableFuture<>();
        client.call(request(ECHO, 1)).addListener((Future<ByteBuf> done) -> {
            done.getNow().release();
            try {
                client.callAndWait(request(HOLD, 2)).release();
                thrown.complete(null);
            } catch (Throwable t) {
                thrown.complete(t);
            }
        });
        assertInstanceOf(BlockingOperationException.class, thrown.get(30, TimeUnit.SECONDS));
    }

    @Test
    void shouldDropCancelledCalls() throws Exception {
        server.stop();
        ReconnectingRpcClient client = connect(QUICK, 1);
        ByteBuf arguments = Unpooled.buffer().writeInt(1);
        Future<ByteBuf> waiting = client.call(new RpcRequest(PROGRAM, 1, HOLD, arguments));
        CompletableFuture<ByteBuf> stage = client.callAsync(request(HOLD, 2)).toCompletableFuture();
        assertTrue(waiting.cancel(false));
        assertTrue(stage.cancel(false));
        Future<ByteBuf> last = client.call(request(HOLD, 3));
        Thread.currentThread().interrupt();
        assertThrows(InterruptedException.class, () -> client.callAndWait(request(HOLD, 4)));
        server.start();

        RpcCall call = held();
        assertEquals(3, call.arguments().getInt(call.arguments().readerIndex()), "the others were not sent");
        RestartedServer.answer(call);
        assertEquals(3, result(last));
        assertEquals(0, arguments.refCnt());

        Future<ByteBuf> sent = client.call(request(HOLD, 5));
        RpcCall late = held();
        assertTrue(sent.cancel(false));
        RestartedServer.answer(late);
        assertEquals(6, result(client.call(request(ECHO, 6))));
        assertEquals(0, client.statistics().calls());
        assertNull(server.held.poll());
    }

    @Test
    void shouldFailCallsWhoseArgumentsAreReleasedAlready() throws Exception {
        server.stop();
        ReconnectingRpcClient client = connect(QUICK, 1);
        RpcRequest early = new RpcRequest(PROGRAM, 1, ECHO, Unpooled.buffer().writeInt(1)); // a pool gave it to somebody else
        early.arguments().release();
        Future<ByteBuf> first = client.call(early);
        server.start();
        expect("connected");
        RpcRequest late = new RpcRequest(PROGRAM, 1, ECHO, Unpooled.buffer().writeInt(1));
        late.arguments().release();

        assertInstanceOf(IllegalReferenceCountException.class, failure(first).getCause());
        assertInstanceOf(IllegalReferenceCountException.class, failure(client.call(late)).getCause());
        assertEquals(5, result(client.call(request(ECHO, 5))));
        assertEquals(0, client.statistics().calls());
    }

    @Test
    void shouldRefuseAnXidThatIsInUse() throws Exception {
        server.stop();
        ReconnectingRpcClient client = connect(QUICK, 1);
        Future<ByteBuf> first = client.call(request(ECHO, 1).setXid(7));
        assertInstanceOf(IllegalStateException.class, failure(client.call(request(ECHO, 2).setXid(7))).getCause());
        server.start();
        assertEquals(1, result(first));
        assertEquals(3, result(client.call(request(ECHO, 3).setXid(7))));
    }

    @Test
    void shouldSayThatThePipelineHasNoRpcClient() throws Exception {
        CompletableFuture<Throwable> cause = new CompletableFuture<>();
        ReconnectingRpcClient client = ReconnectingRpcClient.builder(
                RestartedServer.client(group).handler(new ChannelInboundHandlerAdapter() {
                    @Override
                    public boolean isSharable() {
                        return true;
                    }
                }), server.addresses().get(0)).policy(QUICK).listener(new ReconnectListener() {
                    @Override
                    public void connectFailed(SocketAddress address, Throwable failure, long retryMillis) {
                        cause.complete(failure);
                    }
                }).connect();
        clients.add(client);
        assertTrue(cause.get(30, TimeUnit.SECONDS).getMessage().contains("no RpcClient"));
    }

    @Test
    void shouldNotTakeItselfForTheServer() throws Exception {
        SocketAddress address = server.addresses().get(0);
        server.stop();
        CompletableFuture<Throwable> cause = new CompletableFuture<>();
        ReconnectingRpcClient client = ReconnectingRpcClient.builder(RestartedServer.client(group).localAddress(address)
                .option(ChannelOption.SO_REUSEADDR, true), address).policy(QUICK).listener(new ReconnectListener() {
                    @Override
                    public void connectFailed(SocketAddress to, Throwable failure, long retryMillis) {
                        if (failure.getMessage().contains("led to itself")) { // first the server may still be closing
                            cause.complete(failure);
                        }
                    }
                }).connect();
        clients.add(client);
        assertInstanceOf(ConnectException.class, cause.get(30, TimeUnit.SECONDS));
    }

    @Test
    void shouldTellItsMeters() throws Exception {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        ReconnectingRpcClient client = connect(QUICK, 1);
        new ReconnectMetrics(client, Tags.of("server", "one")).bindTo(registry);
        Future<ByteBuf> call = client.call(request(HOLD, 1));
        held().arguments().release();
        assertEquals(1, registry.get("rpc.client.connections").gauge().value());
        assertEquals(1, registry.get("rpc.client.calls.active").gauge().value());
        server.stop();
        expect("failed");
        assertEquals(0, registry.get("rpc.client.connections").gauge().value());
        assertEquals(1, registry.get("rpc.client.calls.waiting").gauge().value());
        assertEquals(4, registry.get("rpc.client.calls.waiting.size").gauge().value());
        server.start();
        RestartedServer.answer(held());
        assertEquals(1, result(call));
        assertEquals(2, registry.get("rpc.client.connects").functionTimer().count());
        assertTrue(registry.get("rpc.client.connects").functionTimer().totalTime(TimeUnit.NANOSECONDS) > 0);
        assertEquals(1, registry.get("rpc.client.connections.lost").tag("server", "one").functionCounter().count());
        assertEquals(1, registry.get("rpc.client.retransmissions").functionCounter().count());
        assertEquals(client.statistics().waits(), registry.get("rpc.client.calls.wait").functionTimer().count());
        assertTrue(client.statistics().waits() > 0);
        assertEquals(client.statistics().waitedNanos(),
                registry.get("rpc.client.calls.wait").functionTimer().totalTime(TimeUnit.NANOSECONDS), 1);
        assertTrue(client.statistics().waitedNanos() > 0);
        registry.close();
    }
}
