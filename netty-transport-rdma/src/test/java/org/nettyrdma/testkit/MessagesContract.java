package org.nettyrdma.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPromise;
import io.netty.channel.WriteBufferWaterMark;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.nettyrdma.channel.ExposedMemory;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaChannelOption;
import org.nettyrdma.channel.RdmaChannelStatistics.Counter;
import org.nettyrdma.channel.RdmaSend;
import org.nettyrdma.channel.RdmaWrite;
import org.nettyrdma.channel.RemoteAccess;
import org.nettyrdma.channel.RemoteSegment;

/** Messages arrive whole and in order, and their memory is released. A part of {@link RdmaTransportContract}. */
public abstract class MessagesContract extends TransportFixture {

    private static final int LARGEST_MESSAGE = 1 << 20;

    @Sharable
    private static final class Echo extends ChannelInboundHandlerAdapter {

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ctx.write(message);
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            ctx.flush();
        }
    }

    private static ByteBuf pattern(ByteBufAllocator allocator, int length, int seed) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (seed + i * 31);
        }
        return allocator.buffer(Math.max(1, length)).writeBytes(bytes);
    }

    @Test
    void shouldEchoMessagesOfManySizes() throws Exception {
        Connection connection = connect(
                serverBootstrap().childHandler(recording(new Echo()))
                        .childOption(RdmaChannelOption.RECEIVE_BUFFER_SIZE, LARGEST_MESSAGE)
                        .childOption(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, 4),
                bootstrap().option(RdmaChannelOption.RECEIVE_BUFFER_SIZE, LARGEST_MESSAGE)
                        .option(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, 4));
        Endpoint client = connection.client();
        for (int length : new int[] {0, 1, 2, 3, 4, 5, 63, 64, 65, 1023, 1024, 1025, 4095, 4096, 4097, 65_535, 65_536, 65_537,
                LARGEST_MESSAGE - 1, LARGEST_MESSAGE}) {
            ByteBuf expected = pattern(UnpooledByteBufAllocator.DEFAULT, length, length);
            client.channel().writeAndFlush(pattern(client.channel().alloc(), length, length));
            ByteBuf echoed = client.awaitMessage();
            assertSameBytes(expected, echoed);
            assertEquals(0, echoed.readerIndex());
            assertEquals(1, echoed.refCnt());
            echoed.release();
            expected.release();
        }
        assertEquals(0, client.count(Counter.COPIED_BYTES));
        assertEquals(0, connection.server().count(Counter.COPIED_BYTES));
        assertEquals(20, client.count(Counter.SENDS));
        assertEquals(20, client.count(Counter.RECEIVES));
        assertEquals(client.count(Counter.SENT_BYTES), client.count(Counter.RECEIVED_BYTES));
    }

    @Test
    void shouldKeepTheOrderOfMessagesAndPromises() throws Exception {
        assumeTrue(provider().capabilities().receiverWaits());
        Connection connection = connect(serverBootstrap(), bootstrap().option(RdmaChannelOption.SEND_QUEUE_DEPTH, 8));
        Endpoint client = connection.client();
        int count = 10_000;
        List<Integer> confirmed = new ArrayList<>();
        ChannelFuture last = client.call(() -> {
            ChannelFuture future = null;
            for (int i = 0; i < count; i++) {
                int number = i;
                future = client.channel().write(client.channel().alloc().buffer(4).writeInt(i))
                        .addListener(f -> confirmed.add(number));
                if (i % 100 == 0) {
                    client.channel().flush();
                }
            }
            client.channel().flush();
            return future;
        });
        for (int i = 0; i < count; i++) {
            ByteBuf message = connection.server().awaitMessage();
            assertEquals(i, message.readInt());
            message.release();
        }
        Endpoint.await(last);
        List<Integer> inOrder = client.call(() -> confirmed);
        assertEquals(count, inOrder.size());
        for (int i = 0; i < count; i++) {
            assertEquals(i, inOrder.get(i));
        }
        assertTrue(client.count(Counter.FULL_SEND_QUEUES) > 0);
        assertEquals(count, client.count(Counter.SENDS));
    }

    @Test
    void shouldLetTheServerSpeakFirst() throws Exception {
        Connection connection = connect(serverBootstrap().childHandler(recording(new ChannelInboundHandlerAdapter() {
            @Override
            public void channelActive(ChannelHandlerContext ctx) {
                ctx.writeAndFlush(ctx.alloc().buffer().writeBytes("hello".getBytes()));
                ctx.fireChannelActive();
            }
        })), bootstrap());
        assertEquals("hello", connection.client().awaitText());
        connection.client().send("and hello");
        assertEquals("and hello", connection.server().awaitText());
    }

    /** As with an accepted socket, which stands when its pipeline is made. */
    @Test
    void shouldSendWhatTheServerHasWrittenBeforeItIsActive() throws Exception {
        List<ChannelFuture> writes = new CopyOnWriteArrayList<>();
        Connection connection = connect(serverBootstrap().childHandler(recording(new ChannelInboundHandlerAdapter() {
            @Override
            public void handlerAdded(ChannelHandlerContext ctx) {
                assertFalse(ctx.channel().isActive());
                write(ctx, "first");
            }

            @Override
            public void channelRegistered(ChannelHandlerContext ctx) {
                write(ctx, "second");
                ctx.fireChannelRegistered();
            }

            @Override
            public void channelActive(ChannelHandlerContext ctx) {
                write(ctx, "third");
                ctx.fireChannelActive();
            }

            private void write(ChannelHandlerContext ctx, String text) {
                writes.add(ctx.writeAndFlush(ByteBufUtil.writeUtf8(ctx.alloc(), text)));
            }
        })), bootstrap());
        for (String text : List.of("first", "second", "third")) {
            assertEquals(text, connection.client().awaitText());
        }
        for (ChannelFuture write : writes) {
            Endpoint.await(write);
        }
    }

    @Test
    void shouldHoldMessagesBackWhileNoReadIsWanted() throws Exception {
        assumeTrue(provider().capabilities().receiverWaits());
        int depth = 4;
        int count = 500;
        Connection connection = connect(serverBootstrap().childOption(ChannelOption.AUTO_READ, false)
                .childOption(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, depth), bootstrap());
        Endpoint server = connection.server();
        List<ChannelFuture> writes = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            writes.add(connection.client().send("message " + i));
        }
        awaitTrue(() -> server.count(Counter.RECEIVES) == depth, "no more than the queue holds");
        assertEquals(0, server.messageCount());
        assertEquals(depth, server.count(Counter.RECEIVES_HELD_BACK));
        assertEquals(depth, server.call(server.channel()::heldMessages));

        server.channel().read();
        assertEquals("message 0", server.awaitText());
        awaitTrue(() -> server.count(Counter.RECEIVES) == depth + 1, "one was read, one more may arrive");
        assertEquals(0, server.messageCount());

        server.channel().config().setAutoRead(true);
        for (int i = 1; i < count / 2; i++) {
            assertEquals("message " + i, server.awaitText());
        }
        server.channel().config().setAutoRead(false);
        server.channel().config().setAutoRead(true);
        for (int i = count / 2; i < count; i++) {
            assertEquals("message " + i, server.awaitText());
        }
        for (ChannelFuture write : writes) {
            Endpoint.await(write);
        }
    }

    @Test
    void shouldNameTheOptionWhenAMessageIsLongerThanAReceiveBuffer() throws Exception {
        Connection connection = connect(serverBootstrap().childOption(RdmaChannelOption.RECEIVE_BUFFER_SIZE, 1000), bootstrap());
        connection.client().channel().writeAndFlush(pattern(connection.client().channel().alloc(), 1500, 1));
        String atServer = connection.server().awaitCause().getMessage();
        assertTrue(atServer.contains("RECEIVE_BUFFER_SIZE") && atServer.contains("buffer of 1000 bytes"), atServer);
        if (provider().name().matches("iwarp|shm|iwarp-shm")) { // a device tells neither
            assertTrue(atServer.contains("1500"), atServer);
            String atClient = connection.client().awaitCause().getMessage();
            assertTrue(atClient.contains("RECEIVE_BUFFER_SIZE") && atClient.contains("1500 bytes"), atClient);
        }
        connection.server().awaitInactive();
        connection.client().awaitInactive();
    }

    @Test
    void shouldBecomeUnwritableWhileThePeerDoesNotRead() throws Exception {
        assumeTrue(provider().capabilities().receiverWaits());
        Connection connection = connect(serverBootstrap().childOption(ChannelOption.AUTO_READ, false)
                .childOption(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, 1)
                .childOption(RdmaChannelOption.RECEIVE_BUFFER_SIZE, 65_536), bootstrap()
                .option(ChannelOption.WRITE_BUFFER_WATER_MARK, new WriteBufferWaterMark(100_000, 200_000)));
        Endpoint client = connection.client();
        BlockingQueue<Boolean> changes = new LinkedBlockingQueue<>();
        client.call(() -> client.channel().pipeline().addFirst(new ChannelInboundHandlerAdapter() {
            @Override
            public void channelWritabilityChanged(ChannelHandlerContext ctx) {
                changes.add(ctx.channel().isWritable());
            }
        }));
        ByteBuf message = pattern(client.channel().alloc(), 65_536, 1);
        int sent = 0;
        long settledNanos = System.nanoTime();
        // Full for good: the kernel takes no more either.
        while (client.channel().isWritable() || System.nanoTime() - settledNanos < 300_000_000L) {
            if (client.channel().isWritable()) {
                client.channel().writeAndFlush(message.retainedDuplicate());
                sent++;
                settledNanos = System.nanoTime();
            }
            Thread.yield();
        }
        assertFalse(client.channel().isWritable());
        changes.clear();
        connection.server().channel().config().setAutoRead(true);
        assertEquals(true, changes.poll(Endpoint.TIMEOUT_SECONDS, TimeUnit.SECONDS));
        for (int i = 0; i < sent; i++) {
            ByteBuf received = connection.server().awaitMessage();
            assertSameBytes(message, received);
            received.release();
        }
        message.release();
    }

    @Test
    void shouldPassNothingOnWhileThePeerDoesNotTakeItsAnswers() throws Exception {
        assumeTrue(provider().capabilities().receiverWaits());
        int most = 8;
        int count = 500;
        Connection connection = connect(serverBootstrap().childHandler(recording(new Echo()))
                .childOption(RdmaChannelOption.RECEIVE_BUFFER_SIZE, 65_536)
                .childOption(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, 4)
                .childOption(RdmaChannelOption.MAX_OUTBOUND_MESSAGES, most), bootstrap()
                .option(ChannelOption.AUTO_READ, false)
                .option(RdmaChannelOption.RECEIVE_BUFFER_SIZE, 65_536)
                .option(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, 1));
        Endpoint client = connection.client();
        Endpoint server = connection.server();
        ByteBuf message = pattern(client.channel().alloc(), 65_536, 1);
        ChannelFuture last = client.call(() -> {
            ChannelFuture write = null;
            for (int i = 0; i < count; i++) {
                write = client.channel().write(message.retainedDuplicate());
            }
            client.channel().flush();
            return write;
        });
        awaitTrue(() -> server.count(Counter.OUTBOUND_LIMIT_REACHED) > 0, "the limit is reached");
        awaitTrue(() -> server.call(server.channel()::heldMessages) == 4, "what comes then stays in the receives");
        long held = server.call(() -> {
            int answers = server.channel().unsafe().outboundBuffer().size();
            assertTrue(answers > most && answers <= most + 4, answers + " answers are kept");
            return server.count(Counter.RECEIVES);
        });
        assertTrue(held < count, held + " of " + count + " messages were received");

        client.channel().config().setAutoRead(true);
        for (int i = 0; i < count; i++) {
            ByteBuf answer = client.awaitMessage();
            assertSameBytes(message, answer);
            answer.release();
        }
        Endpoint.await(last);
        message.release();
    }

    @Test
    void shouldPassNothingOnBeyondItsShareOfTheMemoryOfAllChannels() throws Exception {
        assumeTrue(provider().capabilities().receiverWaits());
        int depth = 4;
        Connection connection = connect(serverBootstrap().childHandler(recording(new Echo()))
                .childOption(RdmaChannelOption.RECEIVE_BUFFER_SIZE, 4 << 20)
                .childOption(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, depth)
                .childOption(RdmaChannelOption.MAX_OUTBOUND_MESSAGES, 400), bootstrap()
                .option(ChannelOption.AUTO_READ, false)
                .option(RdmaChannelOption.RECEIVE_BUFFER_SIZE, 65_536)
                .option(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, 1));
        Endpoint client = connection.client();
        Endpoint server = connection.server();
        int share = server.call(server.channel()::fairMessages);
        assertTrue(share < 200, share + " messages of 4 MiB"); // by far less than the option says
        ByteBuf message = pattern(client.channel().alloc(), 65_536, 1);
        client.call(() -> {
            for (int i = 0; i < 1000; i++) {
                client.channel().write(message.retainedDuplicate());
            }
            return client.channel().flush();
        });
        awaitTrue(() -> server.count(Counter.OUTBOUND_LIMIT_REACHED) > 0, "the limit is reached");
        int answers = server.call(() -> server.channel().unsafe().outboundBuffer().size());
        assertTrue(answers <= share + depth, answers + " answers are kept, of " + share);
        message.release();
    }

    @Test
    void shouldHoldNothingBackForWhatWasCancelled() throws Exception {
        Connection connection = connect(serverBootstrap().childOption(RdmaChannelOption.MAX_OUTBOUND_MESSAGES, 1), bootstrap());
        Endpoint server = connection.server();
        server.call(() -> {
            List<ChannelPromise> promises = List.of(server.channel().newPromise(), server.channel().newPromise());
            for (ChannelPromise promise : promises) {
                server.channel().write(server.text("never sent"), promise);
                assertTrue(promise.cancel(false));
            }
            return server.channel().flush();
        });
        connection.client().send("read all the same");
        assertEquals("read all the same", server.awaitText());
    }

    @Test
    void shouldPassOnWhatIsHeldBackWhenTheConnectionEnds() throws Exception {
        assumeTrue(provider().capabilities().receiverWaits());
        Connection connection = connect(serverBootstrap().childHandler(recording(new Echo()))
                .childOption(RdmaChannelOption.RECEIVE_BUFFER_SIZE, 65_536)
                .childOption(RdmaChannelOption.MAX_OUTBOUND_MESSAGES, 1), bootstrap()
                .option(ChannelOption.AUTO_READ, false)
                .option(RdmaChannelOption.RECEIVE_BUFFER_SIZE, 65_536)
                .option(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, 1));
        Endpoint client = connection.client();
        Endpoint server = connection.server();
        ByteBuf message = pattern(client.channel().alloc(), 65_536, 1);
        client.call(() -> {
            for (int i = 0; i < 300; i++) {
                client.channel().write(message.retainedDuplicate());
            }
            return client.channel().flush();
        });
        awaitTrue(() -> server.count(Counter.OUTBOUND_LIMIT_REACHED) > 0, "the limit is reached");
        client.channel().close();
        server.awaitInactive();
        message.release();
    }

    @Test
    void shouldSkipWritesCancelledBeforeTheFlush() throws Exception {
        Connection connection = connect(serverBootstrap(), bootstrap().option(RdmaChannelOption.SEND_QUEUE_DEPTH, 2));
        Endpoint client = connection.client();
        RdmaChannel channel = client.channel();
        List<ChannelFuture> kept = new ArrayList<>();
        List<ChannelPromise> cancelled = new ArrayList<>();
        List<String> expected = new ArrayList<>();
        client.call(() -> {
            for (int i = 0; i < 100; i++) {
                boolean empty = i % 5 == 0;
                ByteBuf message = empty ? Unpooled.EMPTY_BUFFER : client.text("message " + i);
                if (i % 3 == 0) {
                    ChannelPromise promise = channel.newPromise();
                    channel.write(message, promise);
                    assertTrue(promise.cancel(false));
                    cancelled.add(promise);
                } else {
                    kept.add(channel.write(message));
                    expected.add(empty ? "" : "message " + i);
                }
                if (i % 10 == 9) {
                    channel.flush();
                }
            }
            return null;
        });
        for (String text : expected) {
            assertEquals(text, connection.server().awaitText());
        }
        for (ChannelFuture write : kept) {
            Endpoint.await(write);
        }
        cancelled.forEach(promise -> assertTrue(promise.isCancelled()));
        assertEquals(kept.size(), client.count(Counter.SENDS));
        Endpoint.await(client.send("last"));
        assertEquals("last", connection.server().awaitText());
    }

    @Test
    void shouldSendTheSameBufferSeveralTimes() throws Exception {
        Connection connection = connect();
        Endpoint client = connection.client();
        ByteBuf message = client.text("again");
        List<ChannelFuture> writes = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            writes.add(client.channel().writeAndFlush(message.retain()));
        }
        for (ChannelFuture write : writes) {
            Endpoint.await(write);
            assertEquals("again", connection.server().awaitText());
        }
        assertEquals(1, message.refCnt());
        message.release();
    }

    @Test
    void shouldReleaseAMessageBeforeItsPromiseSucceeds() throws Exception {
        Connection connection = connect();
        ByteBuf plain = connection.client().text("plain");
        ByteBuf wrapped = connection.client().text("wrapped");
        List<Integer> counts = new ArrayList<>();
        connection.client().channel().write(plain).addListener(f -> counts.add(plain.refCnt()));
        Endpoint.await(connection.client().channel().writeAndFlush(new RdmaSend(wrapped))
                .addListener(f -> counts.add(wrapped.refCnt())));
        assertEquals(List.of(0, 0), connection.client().call(() -> counts));
        assertEquals("plain", connection.server().awaitText());
        assertEquals("wrapped", connection.server().awaitText());
    }

    @Test
    void shouldCopyOnlyWhatTheDeviceCannotReach() throws Exception {
        Connection connection = connect(serverBootstrap().childOption(RdmaChannelOption.RECEIVE_BUFFER_SIZE, 65_536),
                bootstrap());
        Endpoint client = connection.client();
        ByteBufAllocator registered = client.channel().alloc();
        sendAndCompare(connection, pattern(registered, 100, 1), 0);
        sendAndCompare(connection, pattern(registered, 100, 1).skipBytes(10), 0);
        sendAndCompare(connection, pattern(registered, 100, 2).slice(10, 50), 0);
        sendAndCompare(connection, pattern(Unpooled.buffer().alloc(), 100, 3), 100);
        sendAndCompare(connection, Unpooled.directBuffer(100).writeZero(100), 100);
        sendAndCompare(connection, Unpooled.wrappedBuffer(new byte[10]), 10);
        sendAndCompare(connection, composite(registered, 2), 0);
        int gatherable = provider().capabilities().maxGatherElements();
        sendAndCompare(connection, composite(registered, gatherable), 0);
        sendAndCompare(connection, composite(registered, gatherable + 1), 10L * (gatherable + 1));
        sendAndCompare(connection, composite(registered, 3).addComponent(true, Unpooled.wrappedBuffer(new byte[7])), 37);
        assertEquals(0, connection.server().count(Counter.COPIED_BYTES));
    }

    @Test
    void shouldCopyTheContentOfHoldersToo() throws Exception {
        assumeTrue(provider().capabilities().sendWithInvalidate());
        Connection connection = connect();
        RdmaChannel client = connection.client().channel();
        ByteBuf memory = connection.server().channel().alloc().buffer(10);
        ExposedMemory exposed = connection.server().call(
                () -> connection.server().channel().expose(memory, 0, 10, RemoteAccess.WRITE));
        ByteBuf sent = Unpooled.copiedBuffer("sent", StandardCharsets.UTF_8);
        ByteBuf written = Unpooled.copiedBuffer("written", StandardCharsets.UTF_8);
        client.write(new RdmaWrite(written, exposed.segment()));
        Endpoint.await(client.writeAndFlush(new RdmaSend(sent, exposed.segment().steeringTag())));
        assertEquals("sent", connection.server().awaitText());
        assertEquals("written", memory.writerIndex(7).toString(StandardCharsets.UTF_8));
        assertEquals(0, sent.refCnt());
        assertEquals(0, written.refCnt());
        assertEquals(11, connection.client().count(Counter.COPIED_BYTES));
        memory.release();
    }

    private static CompositeByteBuf composite(ByteBufAllocator allocator, int components) {
        CompositeByteBuf composite = allocator.compositeBuffer(components + 1);
        for (int i = 0; i < components; i++) {
            composite.addComponent(true, pattern(allocator, 10, i));
        }
        return composite;
    }

    private static void sendAndCompare(Connection connection, ByteBuf message, long copiedBytes) throws Exception {
        ByteBuf expected = Unpooled.copiedBuffer(message);
        long before = connection.client().count(Counter.COPIED_BYTES);
        Endpoint.await(connection.client().channel().writeAndFlush(message));
        ByteBuf received = connection.server().awaitMessage();
        assertSameBytes(expected, received);
        assertEquals(0, message.refCnt());
        assertEquals(copiedBytes, connection.client().count(Counter.COPIED_BYTES) - before, message.toString());
        received.release();
        expected.release();
    }

    @Test
    void shouldReceiveIntoRegisteredMemoryWhateverTheAllocator() throws Exception {
        Connection connection = connect(
                serverBootstrap().childOption(ChannelOption.ALLOCATOR, UnpooledByteBufAllocator.DEFAULT), bootstrap());
        assertEquals(UnpooledByteBufAllocator.DEFAULT, connection.server().channel().alloc());
        connection.client().send("text");
        assertEquals("text", connection.server().awaitText());
    }

    @Test
    void shouldFailOnlyTheWriteOfWhatItDoesNotKnow() throws Exception {
        Connection connection = connect();
        Throwable cause = Endpoint.awaitFailure(connection.client().channel().writeAndFlush("a string"));
        assertInstanceOf(UnsupportedOperationException.class, cause);
        assertTrue(cause.getMessage().contains("String"), cause.getMessage());
        connection.client().send("a buffer");
        assertEquals("a buffer", connection.server().awaitText());
    }

    @Test
    void shouldReleaseOnceWhatCannotBeCopied() throws Exception {
        Connection connection = connect();
        RdmaChannel client = connection.client().channel();
        ByteBuf grown = Unpooled.buffer().writeInt(1);
        RdmaWrite write = new RdmaWrite(grown, new RemoteSegment(1, 4, 0));
        grown.writeInt(2).retain();
        assertInstanceOf(IllegalArgumentException.class, Endpoint.awaitFailure(client.writeAndFlush(write)));
        assertEquals(1, grown.refCnt());
        grown.release();
        ByteBuf released = Unpooled.wrappedBuffer(new byte[10]);
        released.release();
        Endpoint.awaitFailure(client.writeAndFlush(released));
        connection.client().send("a buffer"); // the leak detector tells of copies
        assertEquals("a buffer", connection.server().awaitText());
    }

    @Test
    void shouldEndTheConnectionWhenAMessageIsTooLongForThePeer() throws Exception {
        Connection connection = connect(serverBootstrap().childOption(RdmaChannelOption.RECEIVE_BUFFER_SIZE, 100), bootstrap());
        connection.client().send("short");
        assertEquals("short", connection.server().awaitText());
        connection.client().channel().writeAndFlush(pattern(connection.client().channel().alloc(), 101, 0));
        connection.server().awaitInactive();
        connection.client().awaitInactive();
        assertTrue(connection.server().hasCause());
    }

    @Test
    void shouldDeliverWhatWasWrittenBeforeTheClose() throws Exception {
        Connection connection = connect(serverBootstrap().childHandler(recording(new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object message) {
                for (int i = 0; i < 20; i++) {
                    ctx.write(((ByteBuf) message).retainedDuplicate());
                }
                ctx.writeAndFlush(message).addListener(ChannelFutureListener.CLOSE);
            }
        })), bootstrap());
        connection.client().send("answer me");
        connection.client().awaitInactive();
        for (int i = 0; i < 21; i++) {
            assertEquals("answer me", connection.client().awaitText());
        }
    }
}
