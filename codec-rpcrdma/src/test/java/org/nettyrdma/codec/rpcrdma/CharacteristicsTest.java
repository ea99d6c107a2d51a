package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nettyrdma.codec.rpcrdma.header.TransportProperty.RECEIVE_BUFFER_SIZE;
import static org.nettyrdma.codec.rpcrdma.header.TransportProperty.REVERSE_REQUEST_SUPPORT;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.util.concurrent.Future;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaChannelOption;
import org.nettyrdma.channel.RdmaServerChannel;
import org.nettyrdma.codec.oncrpc.ReplySpace;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.characteristics.CharacteristicChanged;
import org.nettyrdma.codec.rpcrdma.characteristics.CharacteristicChanged.Side;
import org.nettyrdma.codec.rpcrdma.characteristics.CharacteristicPolicy;
import org.nettyrdma.codec.rpcrdma.characteristics.Characteristics;
import org.nettyrdma.codec.rpcrdma.characteristics.CharacteristicsException;
import org.nettyrdma.codec.rpcrdma.characteristics.CharacteristicsHandler;
import org.nettyrdma.codec.rpcrdma.characteristics.Outcome;
import org.nettyrdma.codec.rpcrdma.characteristics.Outcome.Disposition;
import org.nettyrdma.codec.rpcrdma.connection.ReceivePlan;
import org.nettyrdma.codec.rpcrdma.header.PropertySet;
import org.nettyrdma.codec.rpcrdma.header.ReverseRequestSupport;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaMessage;
import org.nettyrdma.codec.rpcrdma.header.TransportProperty;
import org.nettyrdma.codec.rpcrdma.shared.InlineThreshold;

/** Changes of properties between our own two ends, with calls running. */
class CharacteristicsTest {

    private static final int CREDITS = 16;
    private static final TransportProperty<String> TEXT = new TransportProperty<>(0xFFFFFF10, "Text", "", TestTypes.TEXT);

    private final BlockingQueue<Channel> accepted = new LinkedBlockingQueue<>();
    private final BlockingQueue<CharacteristicChanged<?>> serverEvents = new LinkedBlockingQueue<>();
    private final BlockingQueue<CharacteristicChanged<?>> clientEvents = new LinkedBlockingQueue<>();
    private final BulkProgram program = new BulkProgram(true);
    private boolean serverCalls;
    private int serverBytes = 16_384;
    private Runnable beforeFirstCall = () -> { };
    private RpcRdma serverSide;
    private Channel listener;
    private RdmaChannel channel;
    private Channel serverChannel;
    private CharacteristicsHandler client;
    private CharacteristicsHandler server;

    @AfterEach
    void close() {
        if (channel != null) {
            channel.close().syncUninterruptibly();
        }
        if (listener != null) {
            listener.close().syncUninterruptibly();
        }
    }

    private static Consumer<ChannelPipeline> install(Characteristics characteristics,
                                                     BlockingQueue<CharacteristicChanged<?>> events,
                                                     BlockingQueue<Channel> channels) {
        return pipeline -> {
            if (characteristics != null) {
                characteristics.install(pipeline);
            }
            pipeline.addLast(new ChannelInboundHandlerAdapter() {
                @Override
                public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
                    if (event instanceof CharacteristicChanged<?> changed) {
                        events.add(changed);
                    }
                    ctx.fireUserEventTriggered(event);
                }
            });
            channels.add(pipeline.channel());
        };
    }

    /** Connects; {@code null} for a side without the extension. */
    private void connect(Characteristics ofServer, Characteristics ofClient) throws Exception {
        connect(ofServer, ofClient, VersionPolicy.PREFER_V2);
    }

    private void connect(Characteristics ofServer, Characteristics ofClient, VersionPolicy serverVersions) throws Exception {
        RpcRdmaBuilder builder = RpcRdma.server().program(program).versions(serverVersions).inlineThresholdBytes(serverBytes);
        serverSide = with(serverCalls ? builder.reverse(1) : builder, ofServer, serverEvents, accepted);
        RpcRdma clientSide = with(RpcRdma.client().versions(VersionPolicy.PREFER_V2).inlineThresholdBytes(16_384), ofClient,
                clientEvents, new LinkedBlockingQueue<>());
        listener = serverSide.configure(new ServerBootstrap().group(RawPeer.GROUP).channel(RdmaServerChannel.class))
                .bind(RawPeer.loopback()).sync().channel();
        channel = (RdmaChannel) clientSide.configure(new Bootstrap().group(RawPeer.GROUP).channel(RdmaChannel.class))
                .connect(listener.localAddress()).sync().channel();
        client = CharacteristicsHandler.of(channel);
        beforeFirstCall.run();
        exchange(0);
        serverChannel = accepted.poll(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS);
        server = CharacteristicsHandler.of(serverChannel);
    }

    private static RpcRdma with(RpcRdmaBuilder builder, Characteristics characteristics,
                                BlockingQueue<CharacteristicChanged<?>> events, BlockingQueue<Channel> channels) {
        builder.binding(BulkProgram.BINDING).credits(CREDITS);
        if (characteristics != null) {
            builder.extensions(characteristics.extensions());
        }
        return builder.extensionHandlers(install(characteristics, events, channels)).build();
    }

    private static Characteristics defaults() {
        return Characteristics.builder().build();
    }

    private static Characteristics deferring(TransportProperty<?>... properties) {
        Characteristics.Builder builder = Characteristics.builder();
        List.of(properties).forEach(builder::property);
        return builder.policy(new CharacteristicPolicy() {
            @Override
            public <T> Decision decide(Channel of, TransportProperty<T> property, T now, T wanted) {
                return Decision.DEFER;
            }
        }).build();
    }

    private Future<ByteBuf> start(int length) {
        ByteBuf arguments = channel.alloc().buffer(4 + length);
        return channel.pipeline().get(RpcClient.class).call(length == 0
                ? new RpcRequest(BulkProgram.PROGRAM, 1, BulkProgram.NULL, arguments)
                : new RpcRequest(BulkProgram.PROGRAM, 1, BulkProgram.ECHO, writeEcho(arguments, length)));
    }

    private static ByteBuf writeEcho(ByteBuf out, int length) {
        Xdr.writeOpaque(out, Bytes.pattern(length, length));
        return out;
    }

    private void exchange(int length) throws Exception {
        RpcRdmaPair.result(start(length)).release();
    }

    /** As many messages to each side as it has receives, and one more. */
    private void exchangeAll() throws Exception {
        for (int i = 0; i < CREDITS + ReceivePlan.CONTROL_RECEIVES + 1; i++) {
            exchange(0);
        }
    }

    private static Outcome outcome(Future<Outcome> request) throws Exception {
        return request.get(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS);
    }

    private static <T> Throwable failure(Future<T> future) throws Exception {
        assertTrue(future.await(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS));
        return future.cause();
    }

    private InlineThreshold threshold(Channel of) {
        return InlineThreshold.of(RpcRdma.connection(of).terms());
    }

    private static <T> T onLoop(Channel of, Callable<T> task) throws Exception {
        return of.eventLoop().submit(task).get();
    }

    @Test
    void shouldLowerTheReceiveBufferSizeOfThePeerOnRequest() throws Exception {
        connect(defaults(), defaults());
        Outcome outcome = outcome(client.request(RECEIVE_BUFFER_SIZE, 2048L));
        assertEquals(List.of(Disposition.DONE), outcome.dispositions());
        assertEquals(2048, outcome.peer().get(RECEIVE_BUFFER_SIZE));
        assertEquals(2048, threshold(channel).sendBytes());
        assertEquals(2048, threshold(serverChannel).receiveBytes());
        assertEquals(2048, serverChannel.config().getOption(RdmaChannelOption.RECEIVE_BUFFER_SIZE));
        assertEquals(new CharacteristicChanged<>(Side.PEER, RECEIVE_BUFFER_SIZE, 16_384L, 2048L),
                clientEvents.poll(10, TimeUnit.SECONDS));
        assertEquals(new CharacteristicChanged<>(Side.OWN, RECEIVE_BUFFER_SIZE, 16_384L, 2048L),
                serverEvents.poll(10, TimeUnit.SECONDS));
        exchange(8000); // by a Position Zero Read chunk now
        exchangeAll();
        exchange(8000);
    }

    @Test
    void shouldRaiseItOnlyWhenNoSmallerReceiveIsLeft() throws Exception {
        connect(defaults(), defaults());
        outcome(client.request(RECEIVE_BUFFER_SIZE, 1024L));
        exchangeAll();
        Future<Outcome> raised = client.request(RECEIVE_BUFFER_SIZE, 16_384L);
        exchange(0);
        assertEquals(1024, threshold(channel).sendBytes());
        assertTrue(!raised.isDone());
        exchangeAll();
        assertEquals(List.of(Disposition.DONE), outcome(raised).dispositions());
        assertEquals(16_384, threshold(channel).sendBytes());
        exchange(8000);
    }

    @Test
    void shouldLowerAndRaiseTheSizeOfAClient() throws Exception {
        connect(defaults(), defaults());
        assertEquals(List.of(Disposition.DONE), outcome(server.request(RECEIVE_BUFFER_SIZE, 1024L)).dispositions());
        assertEquals(1024, threshold(serverChannel).sendBytes());
        assertEquals(1024, threshold(channel).receiveBytes());
        exchange(8000); // with a Reply chunk
        Future<Outcome> raised = server.request(RECEIVE_BUFFER_SIZE, 8192L);
        exchangeAll();
        exchangeAll();
        assertEquals(List.of(Disposition.DONE), outcome(raised).dispositions());
        assertEquals(8192, threshold(serverChannel).sendBytes());
        assertEquals(8192, threshold(channel).receiveBytes());
        exchange(6000);
    }

    @Test
    void shouldSendAsMuchAsItReceivesOnceThatWasRaised() throws Exception {
        serverBytes = 4096;
        connect(defaults(), defaults());
        Future<Outcome> raised = client.request(RECEIVE_BUFFER_SIZE, 16_384L);
        exchangeAll();
        exchangeAll();
        assertEquals(List.of(Disposition.DONE), outcome(raised).dispositions());
        exchange(8000);
        assertEquals(0, serverSide.statistics().get(Counter.CHUNK_ERRORS), "no reply was refused");
        assertEquals(16_384, threshold(serverChannel).sendBytes());
    }

    @Test
    void shouldTellWhatItHasRaisedOnItsOwn() throws Exception {
        connect(defaults(), defaults());
        outcome(client.request(RECEIVE_BUFFER_SIZE, 1024L));
        exchangeAll();
        Future<Void> offer = server.offer(RECEIVE_BUFFER_SIZE, 4096L);
        exchangeAll();
        exchangeAll();
        offer.get(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS);
        assertEquals(4096, threshold(channel).sendBytes());
        assertEquals(4096, threshold(serverChannel).receiveBytes());
        exchange(3000);
    }

    @Test
    void shouldOfferNoLowerSize() throws Exception {
        connect(defaults(), defaults());
        assertInstanceOf(IllegalArgumentException.class, failure(server.offer(RECEIVE_BUFFER_SIZE, 4096L)));
        assertInstanceOf(IllegalArgumentException.class, failure(server.offer(RECEIVE_BUFFER_SIZE, 1L << 30)));
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 1023, 65_537, 4_294_967_295L})
    void shouldRejectSizesOutOfItsBoundsAndGoOn(long bytes) throws Exception {
        connect(defaults(), defaults());
        assertEquals(List.of(Disposition.REJECTED), outcome(client.request(RECEIVE_BUFFER_SIZE, bytes)).dispositions());
        assertEquals(16_384, threshold(channel).sendBytes());
        exchange(8000);
    }

    @Test
    void shouldRejectWhatThePolicyDoesNotGrant() throws Exception {
        connect(Characteristics.builder().policy(CharacteristicPolicy.NOTHING).build(), defaults());
        Outcome outcome = outcome(client.request(PropertySet.EMPTY.with(RECEIVE_BUFFER_SIZE, 2048L)
                .with(REVERSE_REQUEST_SUPPORT, ReverseRequestSupport.GENERAL)));
        assertEquals(List.of(Disposition.REJECTED, Disposition.REJECTED), outcome.dispositions());
        assertEquals(16_384, threshold(channel).sendBytes());
        assertTrue(clientEvents.isEmpty());
    }

    /** A policy that grants sizes and fails on everything else. */
    private static CharacteristicPolicy failing(Supplier<CharacteristicPolicy.Decision> other) {
        return new CharacteristicPolicy() {
            @Override
            public <T> Decision decide(Channel of, TransportProperty<T> property, T now, T wanted) {
                return property.equals(RECEIVE_BUFFER_SIZE) ? Decision.ACCEPT : other.get();
            }
        };
    }

    private static Stream<Supplier<CharacteristicPolicy.Decision>> failures() {
        return Stream.of(
                () -> null,
                () -> {
                    throw new IllegalStateException("a policy with a fault");
                },
                () -> {
                    throw new NoClassDefFoundError("what a policy needs");
                });
    }

    @ParameterizedTest
    @MethodSource("failures")
    void shouldRejectWhatThePolicyFailsOnAndKeepNoReceive(Supplier<CharacteristicPolicy.Decision> failure) throws Exception {
        connect(Characteristics.builder().policy(failing(failure)).build(), defaults());
        BlockingQueue<RpcRdmaMessage> arrived = new LinkedBlockingQueue<>();
        ChannelPipeline pipeline = serverChannel.pipeline();
        ChannelInboundHandlerAdapter recorder = new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                arrived.add((RpcRdmaMessage) msg);
                ctx.fireChannelRead(msg);
            }
        };
        onLoop(serverChannel, () -> pipeline.addBefore(pipeline.context(server).name(), null, recorder));
        Outcome outcome = outcome(client.request(PropertySet.EMPTY.with(RECEIVE_BUFFER_SIZE, 2048L)
                .with(REVERSE_REQUEST_SUPPORT, ReverseRequestSupport.GENERAL)));
        assertEquals(List.of(Disposition.DONE, Disposition.REJECTED), outcome.dispositions());
        assertEquals(0, onLoop(serverChannel, () -> arrived.remove().refCnt()));
        assertEquals(2048, threshold(channel).sendBytes());
        exchange(8000);
    }

    @Test
    void shouldOfferNothingThatIsTooLongToTell() throws Exception {
        beforeFirstCall = () -> tell(channel, "first");
        connect(Characteristics.builder().property(TEXT).build(), Characteristics.builder().property(TEXT).build());
        assertInstanceOf(IllegalArgumentException.class, failure(client.offer(TEXT, "x".repeat(20_000))));
        assertInstanceOf(NullPointerException.class, failure(client.offer(TEXT, null)));
        exchange(0);
        assertNull(failure(client.offer(TEXT, "second")));
        assertEquals("second", RpcRdma.connection(serverChannel).terms().peerProperties().get(TEXT));
    }

    @Test
    void shouldSettleWithNothingThatIsTooLongToTell() throws Exception {
        beforeFirstCall = () -> tell(channel, "first");
        connect(Characteristics.builder().property(TEXT).build(), deferring(TEXT));
        Future<Outcome> request = server.request(TEXT, "second");
        exchange(0);
        exchange(0); // whose reply is behind the request
        assertInstanceOf(IllegalArgumentException.class, failure(client.settle(TEXT, "x".repeat(20_000))));
        assertInstanceOf(NullPointerException.class, failure(client.settle(TEXT, null)));
        exchange(0);
        assertNull(failure(client.settle(TEXT, "x".repeat(2000))));
        assertEquals(List.of(Disposition.PARTIAL), outcome(request).dispositions());
    }

    private static void tell(Channel of, String text) {
        of.eventLoop().submit(() -> {
            RpcRdmaConnection connection = RpcRdma.connection(of);
            connection.properties(connection.properties().with(TEXT, text));
        }).syncUninterruptibly();
    }

    @Test
    void shouldGrantAPartOfARequest() throws Exception {
        connect(defaults(), defaults());
        Outcome outcome = outcome(client.request(PropertySet.EMPTY.with(REVERSE_REQUEST_SUPPORT, ReverseRequestSupport.GENERAL)
                .with(RECEIVE_BUFFER_SIZE, 2048L)));
        assertEquals(List.of(Disposition.REJECTED, Disposition.DONE), outcome.dispositions());
    }

    @Test
    void shouldCompleteADeferredRequestInPart() throws Exception {
        connect(deferring(), defaults());
        Future<Outcome> request = client.request(RECEIVE_BUFFER_SIZE, 2048L);
        exchange(0); // behind the request
        assertEquals(2048, threshold(channel).sendBytes(), "kept to while the request is pending");
        assertInstanceOf(CharacteristicsException.class, failure(client.request(RECEIVE_BUFFER_SIZE, 4096L)));
        assertInstanceOf(IllegalArgumentException.class, failure(server.settle(RECEIVE_BUFFER_SIZE, 1024L)));
        server.settle(RECEIVE_BUFFER_SIZE, 4096L).get();
        assertEquals(List.of(Disposition.PARTIAL), outcome(request).dispositions());
        assertEquals(4096, threshold(channel).sendBytes());
        assertInstanceOf(IllegalStateException.class, failure(server.settle(RECEIVE_BUFFER_SIZE, 4096L)));

        Future<Outcome> second = client.request(RECEIVE_BUFFER_SIZE, 1024L);
        exchange(0);
        server.settle(RECEIVE_BUFFER_SIZE, 4096L).get();
        assertEquals(List.of(Disposition.REJECTED), outcome(second).dispositions());
        assertEquals(4096, threshold(channel).sendBytes());
    }

    @Test
    void shouldMakeOneChangeAfterTheOther() throws Exception {
        connect(deferring(), defaults());
        Future<Outcome> deferred = client.request(RECEIVE_BUFFER_SIZE, 2048L);
        exchange(0);
        assertTrue(failure(server.offer(RECEIVE_BUFFER_SIZE, 32_768L)).getMessage().contains("is under way"));
        server.settle(RECEIVE_BUFFER_SIZE, 2048L).get();
        assertEquals(List.of(Disposition.DONE), outcome(deferred).dispositions());

        Future<Void> offer = server.offer(RECEIVE_BUFFER_SIZE, 32_768L); // told when its receives are replaced
        assertTrue(failure(server.offer(RECEIVE_BUFFER_SIZE, 65_536L)).getMessage().contains("is under way"));
        assertEquals(List.of(Disposition.REJECTED), outcome(client.request(RECEIVE_BUFFER_SIZE, 1024L)).dispositions());
        exchangeAll();
        exchangeAll();
        assertNull(failure(offer));
    }

    @Test
    void shouldTakeAServerWithoutTheExtensionForOneThatRejectsEverything() throws Exception {
        connect(null, defaults());
        assertNull(server);
        assertEquals(List.of(Disposition.REJECTED), outcome(client.request(RECEIVE_BUFFER_SIZE, 2048L)).dispositions());
        assertEquals(List.of(Disposition.REJECTED), outcome(client.request(RECEIVE_BUFFER_SIZE, 2048L)).dispositions());
        assertEquals(16_384, threshold(channel).sendBytes());
        assertInstanceOf(CharacteristicsException.class, failure(client.offer(RECEIVE_BUFFER_SIZE, 32_768L)));
        exchange(8000);
    }

    /** A server that makes no calls has no use for errors. */
    @Test
    void shouldTakeAClientWithoutTheExtensionForOneThatRejectsEverythingWhereTheServerCalls() throws Exception {
        serverCalls = true;
        connect(defaults(), null);
        assertEquals(List.of(Disposition.REJECTED), outcome(server.request(RECEIVE_BUFFER_SIZE, 2048L)).dispositions());
        assertEquals(List.of(Disposition.REJECTED), outcome(server.request(RECEIVE_BUFFER_SIZE, 2048L)).dispositions());
        assertEquals(16_384, threshold(serverChannel).sendBytes());
        exchange(8000);
    }

    @Test
    void shouldGiveUpOnAClientWithoutTheExtension() throws Exception {
        connect(Characteristics.builder().responseTimeoutMillis(100).build(), null);
        assertTrue(failure(server.request(RECEIVE_BUFFER_SIZE, 2048L)).getMessage().contains("no response"));
        assertTrue(failure(server.request(RECEIVE_BUFFER_SIZE, 4096L)).getMessage().contains("does not answer"));
        assertEquals(2048, threshold(serverChannel).sendBytes(), "nobody knows whether the client has lowered it");
        exchange(0);
    }

    @Test
    void shouldWaitUntilTheVersionIsSettled() throws Exception {
        List<Future<Outcome>> early = new ArrayList<>();
        beforeFirstCall = () -> early.add(client.request(RECEIVE_BUFFER_SIZE, 2048L));
        connect(defaults(), defaults());
        assertEquals(List.of(Disposition.DONE), outcome(early.get(0)).dispositions());
        exchange(0);
        assertEquals(2048, threshold(channel).sendBytes());
    }

    @Test
    void shouldDoNothingInVersionOne() throws Exception {
        connect(defaults(), defaults(), VersionPolicy.V1_ONLY);
        assertTrue(failure(client.request(RECEIVE_BUFFER_SIZE, 2048L)).getMessage().contains("version 1"));
        exchange(8000);
    }

    @Test
    void shouldFailRequestsAtTheEndOfTheConnection() throws Exception {
        connect(defaults(), defaults());
        outcome(client.request(RECEIVE_BUFFER_SIZE, 1024L));
        exchangeAll();
        Future<Outcome> pending = client.request(RECEIVE_BUFFER_SIZE, 8192L);
        exchange(0);
        channel.close().sync();
        assertInstanceOf(ClosedChannelException.class, failure(pending));
        assertInstanceOf(ClosedChannelException.class, failure(client.request(RECEIVE_BUFFER_SIZE, 8192L)));
    }

    /** From then on both know that the connection has ended. */
    private void disconnect() throws Exception {
        channel.close().sync();
        assertInstanceOf(ClosedChannelException.class, failure(client.request(PropertySet.EMPTY)));
        serverChannel.closeFuture().sync();
        assertInstanceOf(ClosedChannelException.class, failure(server.request(PropertySet.EMPTY)));
    }

    @Test
    void shouldFailOffersAfterTheEndOfTheConnection() throws Exception {
        connect(defaults(), defaults());
        disconnect();
        assertInstanceOf(ClosedChannelException.class, failure(client.offer(RECEIVE_BUFFER_SIZE, 32_768L)));
        assertInstanceOf(ClosedChannelException.class, failure(client.offer(RECEIVE_BUFFER_SIZE, 1024L)));
    }

    @Test
    void shouldFailToSettleAfterTheEndOfTheConnection() throws Exception {
        connect(deferring(), defaults());
        Future<Outcome> deferred = client.request(RECEIVE_BUFFER_SIZE, 2048L);
        exchange(0); // behind the request
        disconnect();
        assertInstanceOf(ClosedChannelException.class, failure(deferred));
        assertInstanceOf(ClosedChannelException.class, failure(server.settle(RECEIVE_BUFFER_SIZE, 2048L)));
    }

    @Test
    void shouldBoundTheRequestsThatWait() throws Exception {
        connect(defaults(), defaults());
        List<Future<Outcome>> requests = onLoop(channel, () -> {
            List<Future<Outcome>> all = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                all.add(client.request(PropertySet.EMPTY));
            }
            return all;
        });
        int done = 0;
        for (Future<Outcome> request : requests) {
            Throwable failure = failure(request);
            done += failure == null ? 1 : 0;
            assertTrue(failure == null || failure.getMessage().contains("requests wait"), String.valueOf(failure));
        }
        assertTrue(done >= 16 && done < 100, done + " done");
        exchange(0);
    }

    @Test
    void shouldSendCallsThatWaitAheadOfARequestForALowerSize() throws Exception {
        connect(defaults(), defaults());
        List<Future<ByteBuf>> calls = new ArrayList<>();
        Future<Outcome> lowered = onLoop(channel, () -> {
            for (int i = 0; i < 10 * CREDITS; i++) {
                calls.add(start(10_000)); // planned inline, and too long for the lower size
            }
            return client.request(RECEIVE_BUFFER_SIZE, 1024L);
        });
        for (Future<ByteBuf> call : calls) {
            RpcRdmaPair.result(call).release();
        }
        assertEquals(List.of(Disposition.DONE), outcome(lowered).dispositions());
        assertEquals(0, serverSide.statistics().get(ChunkStatistics.Counter.LONG_CALLS));
        exchange(10_000);
        assertEquals(1, serverSide.statistics().get(ChunkStatistics.Counter.LONG_CALLS));
    }

    @Test
    void shouldCallAgainWhereAReplyHasBecomeTooLongForTheLowerSize() throws Exception {
        connect(defaults(), defaults());
        // Planned without a Reply chunk, since the reply fits the size that this client has now.
        Future<ByteBuf> call = channel.pipeline().get(RpcClient.class).call(new RpcRequest(BulkProgram.PROGRAM, 1,
                BulkProgram.HANG, channel.alloc().buffer()).setDataItems(List.of())
                .setReplySpace(new ReplySpace(10_000, List.of())));
        RpcCall hanging = program.hanging.poll(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS);
        assertEquals(List.of(Disposition.DONE), outcome(server.request(RECEIVE_BUFFER_SIZE, 1024L)).dispositions());
        exchangeAll(); // no receive of the client has the earlier size any more
        hanging.arguments().release();
        hanging.reply(serverChannel.alloc().buffer().writeZero(8000));
        // with the Reply chunk that the error asks for
        RpcCall again = program.takeHanging();
        again.reply(serverChannel.alloc().buffer().writeZero(8000));
        ByteBuf results = RpcRdmaPair.result(call);
        assertEquals(8000, results.readableBytes());
        results.release();
        exchange(800);
        assertTrue(channel.isActive());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldLoseNoCallWhileTheSizeGoesUpAndDown(boolean clientAsks) throws Exception {
        connect(defaults(), defaults());
        CharacteristicsHandler asking = clientAsks ? client : server;
        long[] sizes = {1024, 8192, 2048, 16_384};
        int calls = 6000;
        int changes = 0;
        Future<Outcome> change = null;
        Queue<Future<ByteBuf>> running = new ArrayDeque<>();
        int inline = 0;
        for (int i = 0; i < calls; i++) {
            if (change == null || change.isDone()) {
                if (change != null) {
                    assertEquals(List.of(Disposition.DONE), outcome(change).dispositions());
                    changes++;
                }
                change = asking.request(RECEIVE_BUFFER_SIZE, sizes[changes % sizes.length]);
            }
            // Replies to calls of a client that is made smaller meanwhile have to fit into the least size.
            int length = clientAsks ? new int[] {100, 900, 3000, 12_000}[i % 4] : new int[] {10, 100, 500, 800}[i % 4];
            running.add(start(length));
            inline += length < threshold(channel).sendBytes() - 100 ? 1 : 0;
            if (running.size() == CREDITS) {
                RpcRdmaPair.result(running.poll()).release();
            }
        }
        while (!running.isEmpty()) {
            RpcRdmaPair.result(running.poll()).release();
        }
        assertTrue(changes > 20, changes + " changes");
        assertTrue(!clientAsks || inline > 0 && inline < calls, inline + " inline");
        assertTrue(channel.isActive() && serverChannel.isActive());
    }
}
