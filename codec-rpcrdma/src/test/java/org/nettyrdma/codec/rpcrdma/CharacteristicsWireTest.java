package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nettyrdma.codec.rpcrdma.header.TransportProperty.RECEIVE_BUFFER_SIZE;
import static org.nettyrdma.codec.rpcrdma.header.TransportProperty.REVERSE_REQUEST_SUPPORT;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.rpcrdma.characteristics.Characteristics;
import org.nettyrdma.codec.rpcrdma.characteristics.CharacteristicsException;
import org.nettyrdma.codec.rpcrdma.characteristics.CharacteristicsHandler;
import org.nettyrdma.codec.rpcrdma.characteristics.Outcome;
import org.nettyrdma.codec.rpcrdma.characteristics.Outcome.Disposition;
import org.nettyrdma.codec.rpcrdma.header.PropertySet;
import org.nettyrdma.codec.rpcrdma.header.ReverseRequestSupport;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaMessage;

/** The messages of xcharext-02, and peers that break its rules, against bytes written by hand. */
class CharacteristicsWireTest {

    private static final String V2 = " 00000002 00000020 ";
    private static final String NO_CHUNKS = " 00000000 00000000 00000000 00000000 ";
    /** RDMA2_CONNPROP with 4096 bytes and INLINE, from behind the credits. */
    private static final String CONNPROP = " 00000005 00000000 00000002 00000001 00000004 00001000 00000002 00000004 00000001 ";

    private final BlockingQueue<Throwable> causes = new LinkedBlockingQueue<>();
    private final BlockingQueue<Channel> channels = new LinkedBlockingQueue<>();
    /** How much may be sent, each time that handlers were told. */
    private final BlockingQueue<Integer> sizes = new LinkedBlockingQueue<>();

    private RpcRdmaBuilder with(RpcRdmaBuilder builder, Characteristics characteristics) {
        Consumer<ChannelPipeline> adder = pipeline -> {
            characteristics.install(pipeline);
            channels.add(pipeline.channel());
            pipeline.addLast(new ChannelInboundHandlerAdapter() {
                @Override
                public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                    causes.add(cause);
                }

                @Override
                public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
                    if (event instanceof ConnectionTerms terms) {
                        sizes.add(terms.sendBytes());
                    }
                    ctx.fireUserEventTriggered(event);
                }
            });
        };
        return builder.binding(BulkProgram.BINDING).versions(VersionPolicy.PREFER_V2).credits(32)
                .extensions(characteristics.extensions()).extensionHandlers(adder);
    }

    private void requireClosed(RawPeer peer, String reason) throws Exception {
        Throwable cause = causes.poll(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS);
        assertNotNull(cause, "nothing caught");
        assertInstanceOf(CharacteristicsException.class, cause);
        assertTrue(cause.getMessage().contains(reason), cause.getMessage());
        peer.awaitClose();
    }

    /** From now on a side has no memory for its messages of one kind. */
    private static void failWrites(Channel side, String type) throws Exception {
        ChannelPipeline pipeline = side.pipeline();
        String before = pipeline.context(CharacteristicsHandler.of(side)).name();
        side.eventLoop().submit(() -> pipeline.addBefore(before, null, new ChannelOutboundHandlerAdapter() {
            @Override
            public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
                if (msg instanceof RpcRdmaMessage message && message.header() instanceof RpcRdmaHeader.Extension<?> extension
                        && extension.type().name().equals(type)) {
                    message.release();
                    promise.setFailure(new OutOfMemoryError("expected"));
                } else {
                    ctx.write(msg, promise);
                }
            }
        })).sync();
    }

    /** An object of which something else answers one method, unless with {@code null}. */
    private static <T> T replacing(Class<T> type, T object, String method, Supplier<Object> other) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, called, arguments) -> {
            Object answer = called.getName().equals(method) ? other.get() : null;
            return answer != null ? answer : called.invoke(object, arguments);
        }));
    }

    /** Our server, which is asked. */
    @Nested
    class Asked {

        private RawClient client;

        @BeforeEach
        void connect() throws Exception {
            client = new RawClient(with(ShortSends.server().program(new BulkProgram(true)), Characteristics.builder().build()));
            client.peer.sendHex("0000cafe" + V2 + "00000000 00000000" + NO_CHUNKS + "0000cafe" + RawClient.CALL + "00000000"
                    + RawClient.NO_AUTH);
            assertEquals("00000005", client.peer.receiveHex().substring(24, 32)); // RDMA2_CONNPROP
            assertEquals("0000cafe", client.peer.receiveHex().substring(0, 8));
        }

        @AfterEach
        void close() {
            client.close();
        }

        private void exchange(String request, String response) throws Exception {
            client.peer.sendHex("00000abc" + V2 + "00000007 00000000" + request);
            String answer = client.peer.receiveHex();
            assertEquals(Bytes.digits("00000abc 00000002"), answer.substring(0, 16));
            assertEquals(Bytes.digits("00000008 00000001" + response), answer.substring(24));
        }

        /** What RPCRDMA2_F_RESPONSE makes a grant, a peer may use (version-two-08, section 3.2). */
        @Test
        void shouldGrantNoMoreThanItDoesNow() throws Exception {
            client.peer.sendHex("0000caff 00000002 00000003 00000000 00000000" + NO_CHUNKS + "0000caff" + RawClient.CALL
                    + "00000000" + RawClient.NO_AUTH);
            assertEquals("00000003", client.peer.receiveHex().substring(16, 24)); // instead of the 32 before
            client.peer.sendHex("00000abc" + V2 + "00000007 00000000 00000000");
            assertEquals("00000003", client.peer.receiveHex().substring(16, 24));
        }

        @Test
        void shouldAnswerWithoutAnyValue() throws Exception {
            exchange("00000000", "00000000 00000000 00000000");
        }

        @Test
        void shouldSayThatALowerSizeIsDone() throws Exception {
            exchange("00000001 | 00000001 00000004 00000800", "00000001 00000001 | 00000000 | 00000000");
        }

        @Test
        void shouldSayThatTheSizeThatItHasIsDone() throws Exception {
            exchange("00000001 | 00000001 00000004 00001000", "00000001 00000001 | 00000000 | 00000000");
        }

        @Test
        void shouldTakeAnEmptyValueForTheDefault() throws Exception {
            exchange("00000001 | 00000001 00000000", "00000001 00000001 | 00000000 | 00000000");
        }

        @ParameterizedTest
        @ValueSource(strings = {
            "00000001 | 00000001 00000004 00000000", // 0 bytes
            "00000001 | 00000001 00000004 ffffffff",
            "00000001 | 00000002 00000004 00000002", // the policy does not grant Reverse Request Support
            "00000001 | ffffff02 00000004 00000001", // unknown here
            "00000001 | 12345678 00000000",
        })
        void shouldReject(String request) throws Exception {
            exchange(request, "00000000 | 00000001 00000001 | 00000000");
        }

        @Test
        void shouldCoverEachValueOnce() throws Exception {
            exchange("00000004 | 12345678 00000000 | 00000001 00000004 00000800 | 00000001 00000004 00000400 |"
                    + "00000002 00000004 00000002", "00000001 00000002 | 00000001 0000000d | 00000000");
        }

        @Test
        void shouldUseASecondWordForTheThirtyThirdValue() throws Exception {
            exchange("00000021 | " + "12345678 00000000 ".repeat(32) + "00000001 00000004 00000800",
                    "00000002 00000000 00000001 | 00000001 ffffffff | 00000000");
        }

        @Test
        void shouldUpdateWhenALargerSizeIsInPlace() throws Exception {
            exchange("00000001 | 00000001 00000004 00002000", "00000000 | 00000000 | 00000001 00000001");
            // Pending, so another request for it has to wait.
            exchange("00000001 | 00000001 00000004 00004000", "00000000 | 00000001 00000001 | 00000000");
            String update = null;
            for (int i = 0; update == null && i < 64; i++) {
                client.peer.sendHex("000000ff" + V2 + "00000000 00000000" + NO_CHUNKS + "000000ff" + RawClient.CALL + "00000000"
                        + RawClient.NO_AUTH);
                for (String next = client.peer.receiveHex(); !next.startsWith("000000ff"); next = client.peer.receiveHex()) {
                    update = next;
                }
            }
            assertNotNull(update, "no update");
            assertEquals(Bytes.digits("00000009 00000000 | 00000001 00000004 00002000 | 00000001"), update.substring(24));
        }

        @ParameterizedTest
        @ValueSource(strings = {
            "",                                      // no set
            "00000001 | 00000001 00000004",          // no value
            "00000001 | 00000001 00000008 0000000000002000",
            "00000001 | 00000002 00000004 00000003", // not in the enum
            "00000101 | 00000001 00000000",          // more than 256 values
            "00000000 | 00000000",                   // bytes behind the message
        })
        void shouldAnswerWhatItCannotReadWithBadXdr(String request) throws Exception {
            client.peer.sendHex("00000abc" + V2 + "00000007 00000000" + request);
            String answer = client.peer.receiveHex();
            assertEquals(Bytes.digits("00000abc 00000002"), answer.substring(0, 16));
            assertEquals(Bytes.digits("00000004 00000001 00000002"), answer.substring(24));
            exchange("00000000", "00000000 00000000 00000000");
        }

        @ParameterizedTest
        @CsvSource({
            "00000008 00000001 00000000 00000000 00000000, response 00000abc to no request",
            "00000009 00000000 00000001 00000004 00002000 00000001, without a pending request",
            "00000009 00000000 12345678 00000000 00000001, which nobody has asked for",
            "00000009 00000000 00000001 00000004 00000000 00000000, expected: at least 1024",
        })
        void shouldCloseTheConnectionOfAPeerThatLies(String message, String reason) throws Exception {
            client.peer.sendHex("00000abc" + V2 + message);
            requireClosed(client.peer, reason);
        }

        @Test
        void shouldTakeUpdatesThatItHasNotAskedFor() throws Exception {
            Channel channel = channels.poll(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS);
            client.peer.sendHex("00000abc" + V2 + "00000009 00000000 | 12345678 00000000 | 00000000"); // unknown
            client.peer.sendHex("00000abc" + V2 + "00000009 00000000 | 00000001 00000004 00000800 | 00000000");
            exchange("00000000", "00000000 00000000 00000000");
            assertEquals(2048, RpcRdma.connection(channel).terms().sendBytes());
        }

        /** More often than the server has receives, if the connection stands. */
        private void callAgain() throws Exception {
            for (int i = 0; i < 50; i++) {
                client.peer.channel().writeAndFlush(Bytes.hex("0000cafe" + V2 + "00000000 00000000" + NO_CHUNKS + "0000cafe"
                        + RawClient.CALL + "00000000" + RawClient.NO_AUTH));
                ByteBuf reply = client.peer.receiveUnlessClosed();
                if (reply == null) {
                    return;
                }
                reply.release();
            }
        }

        @Test
        void shouldEndTheConnectionWhoseUpdateCannotBeSent() throws Exception {
            exchange("00000001 | 00000001 00000004 00000400", "00000001 00000001 | 00000000 | 00000000");
            callAgain(); // until all receives are small
            failWrites(channels.remove(), "RDMA2_UPDPROP");
            exchange("00000001 | 00000001 00000004 00001000", "00000000 | 00000000 | 00000001 00000001");
            callAgain(); // until all are large
            client.peer.awaitClose();
            assertInstanceOf(OutOfMemoryError.class, causes.poll(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS));
        }

        @Test
        void shouldEndTheConnectionWhoseResponseCannotBeSent() throws Exception {
            failWrites(channels.remove(), "RDMA2_RESPPROP");
            client.peer.sendHex("00000abc" + V2 + "00000007 00000000 00000000");
            client.peer.awaitClose();
            assertInstanceOf(OutOfMemoryError.class, causes.poll(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS));
        }
    }

    /** Our client, which asks. */
    @Nested
    class Asking {

        private RawServer server;
        private CharacteristicsHandler handler;

        @BeforeEach
        void connect() throws Exception {
            server = new RawServer(with(ShortSends.client(), Characteristics.builder().build()));
            handler = CharacteristicsHandler.of(server.channel);
            Future<ByteBuf> call = server.start(BulkProgram.NULL, Unpooled.EMPTY_BUFFER);
            String xid = server.peer.receiveHex().substring(0, 8);
            server.peer.sendHex("00000000" + V2 + CONNPROP);
            server.peer.sendHex(xid + V2 + "00000000 00000001" + NO_CHUNKS + xid + RawServer.SUCCESS);
            RpcRdmaPair.result(call).release();
            assertEquals("00000005", server.peer.receiveHex().substring(24, 32)); // RDMA2_CONNPROP
        }

        @AfterEach
        void close() {
            server.close();
        }

        /** Asks for another size, and returns the XID of the request. */
        private String requireRequest(long bytes) throws Exception {
            String request = server.peer.receiveHex();
            assertEquals("00000002", request.substring(8, 16));
            assertEquals(Bytes.digits("00000007 00000000 | 00000001 | 00000001 00000004" + String.format("%08x", bytes)),
                    request.substring(24));
            return request.substring(0, 8);
        }

        /** The size last, where this side has put the one that it keeps to. */
        private void sendProperties(int bytes) throws Exception {
            server.peer.sendHex("00000000" + V2 + "00000005 00000000 00000002 | 00000002 00000004 00000001 | 00000001 00000004"
                    + String.format("%08x", bytes));
        }

        private int sendBytes() {
            return RpcRdma.connection(server.channel).terms().sendBytes();
        }

        private void requireOutcome(Future<Outcome> request, Disposition expected) throws Exception {
            assertEquals(List.of(expected), request.get(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS).dispositions());
        }

        /** And not for as many as it has been granted. */
        @Test
        void shouldAskForAsManyCreditsAsItsCallsDo() throws Exception {
            Future<ByteBuf> call = server.start(BulkProgram.NULL, Unpooled.EMPTY_BUFFER);
            String xid = server.peer.receiveHex().substring(0, 8);
            server.peer.sendHex(xid + " 00000002 00000003 00000000 00000001" + NO_CHUNKS + xid + RawServer.SUCCESS);
            RpcRdmaPair.result(call).release();
            handler.request(RECEIVE_BUFFER_SIZE, 2048L);
            assertEquals(Bytes.digits(V2 + "00000007"), server.peer.receiveHex().substring(8, 32));
        }

        @Test
        void shouldKeepToTheLowerSizeFromTheRequestOn() throws Exception {
            Future<Outcome> request = handler.request(RECEIVE_BUFFER_SIZE, 2048L);
            String xid = requireRequest(2048);
            assertEquals(2048, sendBytes());
            server.peer.sendHex(xid + V2 + "00000008 00000001 | 00000001 00000001 | 00000000 | 00000000");
            requireOutcome(request, Disposition.DONE);
            assertEquals(2048, sendBytes());
        }

        @Test
        void shouldReturnToTheEarlierSizeWhenTheRequestIsRejected() throws Exception {
            Future<Outcome> request = handler.request(RECEIVE_BUFFER_SIZE, 2048L);
            String xid = requireRequest(2048);
            server.peer.sendHex(xid + V2 + "00000008 00000001 | 00000000 | 00000002 00000001 00000000 | 00000000");
            requireOutcome(request, Disposition.REJECTED);
            assertEquals(4096, sendBytes());
        }

        @ParameterizedTest
        @CsvSource({"1024, DONE", "4096, REJECTED", "2048, PARTIAL"})
        void shouldKeepToTheLowerSizeWhileTheRequestIsPending(long bytes, Disposition expected) throws Exception {
            Future<Outcome> request = handler.request(RECEIVE_BUFFER_SIZE, 1024L);
            String xid = requireRequest(1024);
            server.peer.sendHex(xid + V2 + "00000008 00000001 | 00000000 | 00000000 | 00000001 00000001");
            server.peer.sendHex("00000001" + V2 + "00000009 00000000 | 00000001 00000004 00001000 | 00000000");
            handler.request(PropertySet.EMPTY);
            server.peer.receiveHex(); // so that both messages have arrived
            assertEquals(1024, sendBytes());
            assertTrue(!request.isDone());
            server.peer.sendHex("00000001" + V2 + "00000009 00000000 | 00000001 00000004" + String.format("%08x", bytes)
                    + "00000001");
            requireOutcome(request, expected);
            assertEquals(bytes, sendBytes());
        }

        /** A handler may send as much as it has just been told. */
        @ParameterizedTest
        @ValueSource(booleans = {false, true})
        void shouldNeverTellMoreThanTheLowerSizeWhenTheRequestSucceeds(boolean pending) throws Exception {
            sizes.clear();
            Future<Outcome> request = handler.request(RECEIVE_BUFFER_SIZE, 2048L);
            String xid = requireRequest(2048);
            server.peer.sendHex(xid + V2 + "00000008 00000001"
                    + (pending ? "00000000 00000000 | 00000001 00000001" : "00000001 00000001 | 00000000 00000000"));
            if (pending) {
                server.peer.sendHex("00000001" + V2 + "00000009 00000000 | 00000001 00000004 00000800 00000001");
            }
            requireOutcome(request, Disposition.DONE);
            assertEquals(List.of(2048), List.copyOf(sizes));
        }

        @Test
        void shouldPassTheFirstTermsOnWhereTheChannelIsClosedByThen() throws Exception {
            sizes.clear();
            RpcRdmaBuilder builder = with(ShortSends.client(), Characteristics.builder().build());
            Consumer<ChannelPipeline> closer = pipeline -> pipeline.addLast(new RpcClient()).addFirst(
                    new ChannelInboundHandlerAdapter() {
                        @Override
                        public void channelActive(ChannelHandlerContext ctx) {
                            ctx.close();
                            ctx.fireChannelActive();
                        }
                    });
            try (RawServer other = new RawServer(builder.handlers(closer))) {
                other.channel.closeFuture().sync();
                other.channel.eventLoop().submit(() -> { }).sync();
            }
            assertEquals(List.of(1024), List.copyOf(sizes));
        }

        /** Nobody would end it otherwise, nor send those behind it. */
        @ParameterizedTest
        @ValueSource(strings = {"executor", "writeAndFlush"})
        void shouldFailARequestThatHasNoMemoryForItsTimerOrItself(String method) throws Exception {
            ChannelHandlerContext context = server.channel.pipeline().context(handler);
            AtomicBoolean exhausted = new AtomicBoolean(true);
            Supplier<Object> once = () -> {
                if (exhausted.getAndSet(false)) {
                    throw new OutOfMemoryError("expected");
                }
                return null;
            };
            EventExecutor executor = replacing(EventExecutor.class, context.executor(), "schedule", once);
            server.channel.eventLoop().submit(() -> handler.handlerAdded(replacing(ChannelHandlerContext.class, context, method,
                    method.equals("executor") ? () -> executor : once))).sync();
            Future<Outcome> request = handler.request(RECEIVE_BUFFER_SIZE, 2048L);
            assertInstanceOf(OutOfMemoryError.class, request.await().cause());
            assertEquals(4096, sendBytes());
            Future<Outcome> next = handler.request(RECEIVE_BUFFER_SIZE, 1024L);
            server.peer.sendHex(requireRequest(1024) + V2 + "00000008 00000001 | 00000001 00000001 | 00000000 | 00000000");
            requireOutcome(next, Disposition.DONE);
        }

        /** RDMA2_CONNPROP of the size that was asked for, or of a larger one, and then a rejection. */
        @ParameterizedTest
        @CsvSource({"2048, 2048", "3072, 2048 2048 3072"})
        void shouldKeepToTheSizeThatThePeerHasToldSinceTheRequest(int bytes, String told) throws Exception {
            sizes.clear();
            Future<Outcome> request = handler.request(RECEIVE_BUFFER_SIZE, 2048L);
            String xid = requireRequest(2048);
            sendProperties(bytes);
            server.peer.sendHex(xid + V2 + "00000008 00000001 | 00000000 | 00000001 00000001 | 00000000");
            requireOutcome(request, Disposition.REJECTED);
            assertEquals(bytes, sendBytes());
            assertEquals(told, sizes.stream().map(String::valueOf).collect(Collectors.joining(" ")));
        }

        @Test
        void shouldKeepToTheSizeThatThePeerHasToldAheadOfAnotherProperty() throws Exception {
            Future<Outcome> request = handler.request(RECEIVE_BUFFER_SIZE, 2048L);
            String xid = requireRequest(2048);
            sendProperties(2048);
            server.peer.sendHex("00000001" + V2 + "00000009 00000000 | 00000002 00000004 00000002 | 00000000");
            server.peer.sendHex(xid + V2 + "00000008 00000001 | 00000000 | 00000001 00000001 | 00000000");
            requireOutcome(request, Disposition.REJECTED);
            assertEquals(2048, sendBytes());
        }

        @Test
        void shouldTakeAnUnknownHeaderTypeForARejection() throws Exception {
            Future<Outcome> request = handler.request(RECEIVE_BUFFER_SIZE, 2048L);
            String xid = requireRequest(2048);
            server.peer.sendHex(xid + V2 + "00000004 00000001 00000003"); // RDMA2_ERR_INVAL_HTYPE
            requireOutcome(request, Disposition.REJECTED);
            assertEquals(4096, sendBytes());
            requireOutcome(handler.request(RECEIVE_BUFFER_SIZE, 1024L), Disposition.REJECTED);
        }

        @Test
        void shouldFailARequestThatIsRefusedWithAnotherError() throws Exception {
            Future<Outcome> request = handler.request(RECEIVE_BUFFER_SIZE, 2048L);
            server.peer.sendHex(requireRequest(2048) + V2 + "00000004 00000001 00000002");
            assertTrue(request.await(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS));
            assertInstanceOf(CharacteristicsException.class, request.cause());
            assertEquals(4096, sendBytes());
        }

        @Test
        void shouldHaveOneRequestUnderWay() throws Exception {
            Future<Outcome> first = handler.request(RECEIVE_BUFFER_SIZE, 2048L);
            Future<Outcome> second = handler.request(PropertySet.EMPTY);
            String xid = requireRequest(2048);
            server.peer.sendHex(xid + V2 + "00000008 00000001 | 00000001 00000001 | 00000000 | 00000000");
            requireOutcome(first, Disposition.DONE);
            String next = server.peer.receiveHex();
            assertEquals(Bytes.digits("00000007 00000000 00000000"), next.substring(24));
            server.peer.sendHex(next.substring(0, 8) + V2 + "00000008 00000001 | 00000000 00000000 00000000");
            assertEquals(List.of(), second.get(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS).dispositions());
        }

        @Test
        void shouldAskForAPropertyOnlyOnceAtATime() throws Exception {
            handler.request(PropertySet.EMPTY);
            handler.request(RECEIVE_BUFFER_SIZE, 2048L);
            requireRefused(handler.request(RECEIVE_BUFFER_SIZE, 1024L)); // the request before it waits
            server.peer.sendHex(server.peer.receiveHex().substring(0, 8) + V2
                    + "00000008 00000001 | 00000000 00000000 00000000");
            requireRequest(2048);
            requireRefused(handler.request(RECEIVE_BUFFER_SIZE, 1024L)); // the request before it is on its way
        }

        /** At once, and not because it was never sent, which fails in time, too. */
        private void requireRefused(Future<Outcome> request) throws Exception {
            assertTrue(request.await(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS));
            assertEquals("a request for " + RECEIVE_BUFFER_SIZE + " is on its way or pending",
                    assertInstanceOf(CharacteristicsException.class, request.cause()).getMessage());
        }

        @ParameterizedTest
        @CsvSource({
            "00000001 00000001 | 00000001 00000001 | 00000000,                   value 0 in 2 subsets",
            "00000001 00000001 | 00000000 | 00000001 00000001,                   value 0 in 2 subsets",
            "00000000 | 00000000 | 00000000,                                     value 0 in 0 subsets",
            "00000001 00000003 | 00000000 | 00000000,                            bit 1 to a request with 1 values",
            "00000001 00000001 | 00000002 00000000 00000001 | 00000000,          bit 32 to a request with 1 values",
        })
        void shouldCloseTheConnectionOfAPeerWhoseSubsetsAreWrong(String subsets, String reason) throws Exception {
            handler.request(RECEIVE_BUFFER_SIZE, 2048L);
            server.peer.sendHex(requireRequest(2048) + V2 + "00000008 00000001" + subsets);
            requireClosed(server.peer, reason);
        }

        @Test
        void shouldCloseTheConnectionOfAPeerThatAnswersTwice() throws Exception {
            Future<Outcome> request = handler.request(RECEIVE_BUFFER_SIZE, 2048L);
            String response = requireRequest(2048) + V2 + "00000008 00000001 | 00000001 00000001 | 00000000 | 00000000";
            server.peer.sendHex(response);
            requireOutcome(request, Disposition.DONE);
            server.peer.sendHex(response);
            requireClosed(server.peer, "to no request");
        }

        @Test
        void shouldCloseTheConnectionOfAPeerThatAnswersUnderAnotherXid() throws Exception {
            Future<Outcome> request = handler.request(RECEIVE_BUFFER_SIZE, 2048L);
            String another = String.format("%08x", Integer.parseUnsignedInt(requireRequest(2048), 16) + 1);
            server.peer.sendHex(another + V2 + "00000008 00000001 | 00000001 00000001 | 00000000 | 00000000");
            requireClosed(server.peer, "response " + another + " to no request");
            assertFalse(request.isSuccess());
        }

        @Test
        void shouldCloseTheConnectionOfAPeerThatCompletesAheadOfItsResponse() throws Exception {
            handler.request(RECEIVE_BUFFER_SIZE, 2048L);
            requireRequest(2048);
            server.peer.sendHex("00000001" + V2 + "00000009 00000000 | 00000001 00000004 00000800 | 00000001");
            requireClosed(server.peer, "without a pending request");
        }

        @Test
        void shouldDropSubsetsThatAreTooLong() throws Exception {
            Future<Outcome> request = handler.request(RECEIVE_BUFFER_SIZE, 2048L);
            String xid = requireRequest(2048);
            server.peer.sendHex(xid + V2 + "00000008 00000001 | 00000009" + "00000000".repeat(9) + "00000000 00000000");
            server.peer.sendHex(xid + V2 + "00000008 00000001 | 00000001 00000001 | 00000000 | 00000000");
            requireOutcome(request, Disposition.DONE); // a response that is bad is dropped
        }

        @Test
        void shouldFailAnOfferThatIsRefusedAndGoOn() throws Exception {
            Future<Void> offer = handler.offer(REVERSE_REQUEST_SUPPORT, ReverseRequestSupport.INLINE);
            String update = server.peer.receiveHex();
            assertEquals(Bytes.digits("00000009 00000000 | 00000002 00000004 00000001 00000000"), update.substring(24));
            String request = server.peer.receiveHex();
            server.peer.sendHex(update.substring(0, 8) + V2 + "00000004 00000001 00000002"); // RDMA2_ERR_BAD_XDR
            server.peer.sendHex(request.substring(0, 8) + V2 + "00000008 00000001 | 00000000 00000000 00000000");
            assertTrue(offer.await(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS));
            assertInstanceOf(CharacteristicsException.class, offer.cause());
            Future<Outcome> next = handler.request(RECEIVE_BUFFER_SIZE, 2048L);
            server.peer.sendHex(requireRequest(2048) + V2 + "00000008 00000001 | 00000001 00000001 | 00000000 | 00000000");
            requireOutcome(next, Disposition.DONE);
        }

        @Test
        void shouldFailAnOfferThatCannotBeSent() throws Exception {
            failWrites(server.channel, "RDMA2_UPDPROP");
            Future<Void> offer = handler.offer(REVERSE_REQUEST_SUPPORT, ReverseRequestSupport.INLINE);
            String request = server.peer.receiveHex();
            server.peer.sendHex(request.substring(0, 8) + V2 + "00000008 00000001 | 00000000 00000000 00000000");
            assertTrue(offer.await(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS));
            assertInstanceOf(OutOfMemoryError.class, offer.cause());
            assertEquals(ReverseRequestSupport.NONE, server.channel.eventLoop().submit(
                    () -> RpcRdma.connection(server.channel).properties().get(REVERSE_REQUEST_SUPPORT)).get());
        }

        @Test
        void shouldFailARequestThatCannotBeSentAtOnceAndReturnToTheEarlierSize() throws Exception {
            failWrites(server.channel, "RDMA2_REQPROP");
            Future<Outcome> request = handler.request(RECEIVE_BUFFER_SIZE, 2048L);
            assertTrue(request.await(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS));
            assertInstanceOf(OutOfMemoryError.class, request.cause()); // not the time-out
            assertEquals(4096, sendBytes());
        }
    }
}
