package org.nettyrdma.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.channel.ExposedMemory;
import org.nettyrdma.channel.RdmaChannelStatistics.Counter;
import org.nettyrdma.channel.RdmaException;
import org.nettyrdma.channel.RdmaRead;
import org.nettyrdma.channel.RdmaSend;
import org.nettyrdma.channel.RdmaServerChannel;
import org.nettyrdma.channel.RdmaWrite;
import org.nettyrdma.channel.RegisteredByteBufAllocator;
import org.nettyrdma.channel.RemoteAccess;
import org.nettyrdma.channel.RemoteInvalidation;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.verbs.Capabilities;

/** RDMA Read and RDMA Write reach what is exposed, and nothing else. A part of {@link RdmaTransportContract}. */
public abstract class RemoteMemoryContract extends TransportFixture {

    private RdmaServerChannel listener;
    private Endpoint client;
    private Endpoint server;

    /**
     * What the provider refuses.
     *
     * @return all, unless a test overrides it
     */
    protected Refusals refusals() {
        return Refusals.ALL;
    }

    @BeforeEach
    void connectBoth() throws Exception {
        listener = listen(serverBootstrap());
        client = connect(bootstrap(), listener);
        server = awaitAccepted();
    }

    private static ByteBuf random(ByteBufAllocator allocator, int length) {
        byte[] bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        return allocator.buffer(length).writeBytes(bytes);
    }

    private static ExposedMemory expose(Endpoint owner, ByteBuf memory, RemoteAccess access) throws Exception {
        return owner.call(() -> owner.channel().expose(memory, 0, memory.capacity(), access));
    }

    private static ChannelFuture write(Endpoint from, ByteBuf source, RemoteSegment target) {
        return from.channel().writeAndFlush(new RdmaWrite(source, target));
    }

    private static ChannelFuture read(Endpoint to, RemoteSegment source, ByteBuf sink) {
        return to.channel().writeAndFlush(new RdmaRead(source, sink.retain()));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 1000, 65_536, 1_000_001, 16 << 20})
    void shouldWriteIntoThePeersMemoryBeforeTheSendThatFollows(int length) throws Exception {
        assumeTrue(length <= provider().capabilities().maxMessageBytes(), "longer than one message of this provider");
        ByteBuf memory = server.channel().alloc().buffer(length).setZero(0, length);
        ExposedMemory exposed = expose(server, memory, RemoteAccess.WRITE);
        ByteBuf data = random(client.channel().alloc(), length);
        ByteBuf expected = data.copy();
        client.channel().write(new RdmaWrite(data, exposed.segment()));
        ChannelFuture send = client.send("written");
        assertEquals("written", server.awaitText());
        Endpoint.await(server.call(exposed::invalidate));
        assertTrue(server.call(exposed::isInvalidated));
        assertSameBytes(expected, memory.writerIndex(length));
        assertEquals(1, memory.refCnt());
        Endpoint.await(send);
        assertEquals(1, client.count(Counter.WRITES));
        assertEquals(length, client.count(Counter.WRITTEN_BYTES));
        assertEquals(0, client.count(Counter.COPIED_BYTES));
        assertEquals(1, server.count(Counter.LOCAL_INVALIDATIONS));
        memory.release();
        expected.release();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 1000, 65_536, 1_000_001, 16 << 20})
    void shouldReadFromThePeersMemory(int length) throws Exception {
        assumeTrue(length <= provider().capabilities().maxMessageBytes(), "longer than one message of this provider");
        ByteBuf memory = random(server.channel().alloc(), length);
        ExposedMemory exposed = expose(server, memory, RemoteAccess.READ);
        ByteBuf sink = client.channel().alloc().buffer(length);
        Endpoint.await(read(client, exposed.segment(), sink));
        assertSameBytes(memory, sink);
        assertEquals(1, client.count(Counter.READS));
        assertEquals(length, client.count(Counter.READ_BYTES));
        assertEquals(0, client.count(Counter.COPIED_BYTES));
        Endpoint.await(server.call(exposed::invalidate));
        assertEquals(1, memory.refCnt());
        memory.release();
        sink.release();
    }

    @Test
    void shouldNotLetMemoryGrowThatThePeerMayWrite() throws Exception {
        ByteBuf memory = server.channel().alloc().buffer(1000).setZero(0, 1000);
        ExposedMemory exposed = expose(server, memory, RemoteAccess.WRITE);
        assertThrows(IllegalStateException.class, () -> memory.capacity(5000));
        memory.capacity(1024).capacity(1000); // as long as it stays where it is
        ByteBuf other = server.channel().alloc().buffer(1000).setZero(0, 1000);
        Endpoint.await(write(client, random(client.channel().alloc(), 1000), exposed.segment()));
        client.send("written");
        assertEquals("written", server.awaitText());
        ByteBuf expected = random(client.channel().alloc(), 1000);
        assertSameBytes(expected, memory.writerIndex(1000));
        assertSameBytes(Unpooled.wrappedBuffer(new byte[1000]), other.writerIndex(1000));
        Endpoint.await(server.call(exposed::invalidate));
        assertSameBytes(expected, memory.capacity(5000));
        expected.release();
        other.release();
        memory.release();
    }

    @Test
    void shouldLetMemoryGrowThatThePeerMayRead() throws Exception {
        ByteBuf memory = random(server.channel().alloc(), 1000);
        ByteBuf expected = memory.copy();
        ExposedMemory exposed = expose(server, memory, RemoteAccess.READ);
        memory.capacity(5000);
        ByteBuf other = server.channel().alloc().buffer(1000).setZero(0, 1000);
        ByteBuf sink = client.channel().alloc().buffer(1000);
        Endpoint.await(read(client, exposed.segment(), sink));
        assertSameBytes(expected, sink);
        Endpoint.await(server.call(exposed::invalidate));
        List.of(memory, expected, other, sink).forEach(ByteBuf::release);
    }

    @Test
    void shouldNotLetTheSinkOfAReadGrow() throws Exception {
        ByteBuf memory = random(server.channel().alloc(), 100_000);
        RemoteSegment segment = expose(server, memory, RemoteAccess.READ).segment();
        ByteBuf sink = client.channel().alloc().buffer(100_000);
        ChannelFuture done = client.call(() -> {
            ChannelFuture future = read(client, segment, sink);
            assertThrows(IllegalStateException.class, () -> sink.capacity(1_000_000));
            return future;
        });
        Endpoint.await(done);
        assertSameBytes(memory, sink.capacity(1_000_000));
        memory.release();
        sink.release();
    }

    @Test
    void shouldHoldTheComponentsOfExposedMemory() throws Exception {
        ByteBufAllocator allocator = server.channel().alloc();
        CompositeByteBuf memory = allocator.compositeBuffer().addComponent(true, allocator.buffer(1000).writeZero(1000));
        ExposedMemory exposed = expose(server, memory, RemoteAccess.WRITE);
        memory.removeComponent(0);
        ByteBuf other = allocator.buffer(1000).setZero(0, 1000);
        Endpoint.await(write(client, random(client.channel().alloc(), 1000), exposed.segment()));
        client.send("written");
        assertEquals("written", server.awaitText());
        assertSameBytes(Unpooled.wrappedBuffer(new byte[1000]), other.writerIndex(1000));
        Endpoint.await(server.call(exposed::invalidate));
        assertEquals(1, memory.refCnt());
        other.release();
        memory.release();
    }

    @Test
    void shouldCountReadsAndWritesTowardsTheWaterMarks() throws Exception {
        int length = 1_000_000;
        ByteBuf memory = random(server.channel().alloc(), length);
        RemoteSegment readable = expose(server, memory, RemoteAccess.READ).segment();
        ByteBuf target = server.channel().alloc().buffer(length);
        RemoteSegment writable = expose(server, target, RemoteAccess.WRITE).segment();
        ByteBuf sink = client.channel().alloc().buffer(length);
        List<ChannelFuture> done = client.call(() -> {
            assertTrue(client.channel().isWritable());
            ChannelFuture read = client.channel().write(new RdmaRead(readable, sink.retain()));
            assertFalse(client.channel().isWritable());
            long afterRead = client.channel().bytesBeforeWritable();
            assertTrue(afterRead >= length - client.channel().config().getWriteBufferLowWaterMark(), () -> "bytes: " + afterRead);
            ChannelFuture write = client.channel().write(new RdmaWrite(random(client.channel().alloc(), length), writable));
            assertTrue(client.channel().bytesBeforeWritable() >= afterRead + length);
            client.channel().flush();
            return List.of(read, write);
        });
        for (ChannelFuture future : done) {
            Endpoint.await(future);
        }
        assertTrue(client.call(() -> client.channel().isWritable()));
        List.of(memory, target, sink).forEach(ByteBuf::release);
    }

    /** What is beyond a sink may be memory of other buffers, and what is beyond a segment other memory of the peer. */
    @Test
    void shouldFailWhatDoesNotFitAnyMoreWhenItIsWritten() throws Exception {
        ByteBuf memory = random(server.channel().alloc(), 1000);
        RemoteSegment readable = expose(server, memory, RemoteAccess.READ).segment();
        ByteBuf target = server.channel().alloc().buffer(1000).setZero(0, 1000);
        RemoteSegment writable = expose(server, target, RemoteAccess.WRITE).segment();
        ByteBuf sink = client.channel().alloc().buffer(1500, 1500);
        RdmaRead second = new RdmaRead(readable, sink.retain());
        Endpoint.await(read(client, readable, sink));
        assertInstanceOf(IllegalArgumentException.class, Endpoint.awaitFailure(client.channel().writeAndFlush(second)));
        ByteBuf source = random(client.channel().alloc(), 400);
        RdmaWrite part = new RdmaWrite(source, new RemoteSegment(writable.steeringTag(), 400, writable.offset()));
        source.writeZero(1);
        assertInstanceOf(IllegalArgumentException.class, Endpoint.awaitFailure(client.channel().writeAndFlush(part)));
        assertEquals(0, source.refCnt());
        assertSameBytes(memory, sink);
        Endpoint.await(client.send("still there"));
        List.of(memory, target, sink).forEach(ByteBuf::release);
    }

    @Test
    void shouldPostNothingThatDoesNotFitAnyMore() throws Exception {
        ByteBuf memory = random(server.channel().alloc(), 1000).setByte(999, 1);
        RemoteSegment readable = expose(server, memory, RemoteAccess.READ).segment();
        ByteBuf whole = client.channel().alloc().buffer(2000).setZero(0, 2000);
        ByteBuf sink = whole.slice(0, 1000).writerIndex(0);
        ChannelFuture read = client.call(() -> {
            ChannelFuture written = client.channel().write(new RdmaRead(readable, sink.retain()));
            sink.writerIndex(1);
            client.channel().flush();
            return written;
        });
        assertInstanceOf(IllegalArgumentException.class, Endpoint.awaitFailure(read).getCause());
        client.awaitInactive();
        assertEquals(0, whole.getByte(1000), "written behind the sink");
        List.of(memory, whole).forEach(ByteBuf::release);
    }

    @Test
    void shouldReadIntoMemoryOfAnyKind() throws Exception {
        assumeTrue(provider().capabilities().maxReadScatterElements() >= 2);
        ByteBuf memory = random(server.channel().alloc(), 1000);
        RemoteSegment segment = expose(server, memory, RemoteAccess.READ).segment();
        ByteBuf heap = Unpooled.buffer(1010).writeZero(10);
        Endpoint.await(read(client, segment, heap));
        assertSameBytes(memory, heap.skipBytes(10));
        assertEquals(1000, client.count(Counter.COPIED_BYTES));
        ByteBufAllocator allocator = client.channel().alloc();
        CompositeByteBuf pieces = allocator.compositeBuffer().addComponent(allocator.buffer(400).writerIndex(400))
                .addComponent(allocator.buffer(700).writerIndex(700)).writerIndex(100);
        Endpoint.await(read(client, segment, pieces));
        assertSameBytes(memory, pieces.skipBytes(100));
        assertEquals(1000, client.count(Counter.COPIED_BYTES), "a composite of registered memory is not copied");
        heap.release();
        pieces.release();
        memory.release();
    }

    /** What is read by way of registered memory has to fit into one piece of it. */
    @Test
    void shouldFailOnlyAReadThatIsTooLongForTheMemoryItPasses() throws Exception {
        int length = RegisteredByteBufAllocator.MAX_POOLED_BYTES + 1;
        ByteBuf sink = Unpooled.buffer(length);
        Throwable cause = Endpoint.awaitFailure(read(client, new RemoteSegment(1, length, 0), sink));
        assertInstanceOf(RdmaException.class, cause);
        assertEquals(1, sink.refCnt());
        sink.release();
        client.send("still there");
        assertEquals("still there", server.awaitText());
    }

    @Test
    void shouldKeepManyReadsInFlightAndConfirmThemInOrder() throws Exception {
        int count = 300;
        int length = 5000;
        ByteBuf memory = random(server.channel().alloc(), count * length);
        RemoteSegment all = expose(server, memory, RemoteAccess.READ).segment();
        List<ByteBuf> sinks = new ArrayList<>();
        List<Integer> confirmed = new ArrayList<>();
        ChannelFuture last = client.call(() -> {
            ChannelFuture future = null;
            for (int i = 0; i < count; i++) {
                int number = i;
                ByteBuf sink = client.channel().alloc().buffer(length);
                sinks.add(sink);
                RemoteSegment part = new RemoteSegment(all.steeringTag(), length, all.offset() + (long) i * length);
                client.channel().write(new RdmaRead(part, sink.retain())).addListener(f -> confirmed.add(number));
                future = client.channel().write(client.text("after read " + i)).addListener(f -> confirmed.add(number));
            }
            client.channel().flush();
            return future;
        });
        Endpoint.await(last);
        List<Integer> order = client.call(() -> confirmed);
        for (int i = 0; i < count; i++) {
            assertSameBytes(memory.slice(i * length, length), sinks.get(i));
            sinks.get(i).release();
            assertEquals(i, order.get(2 * i));
            assertEquals(i, order.get(2 * i + 1));
            assertEquals("after read " + i, server.awaitText());
        }
        memory.release();
    }

    /** A Read may be asked for as soon as the answer to one before is there, which is before its owner may know that it is. */
    @Test
    void shouldTakeAReadAsSoonAsOneBeforeIsAnswered() throws Exception {
        int count = 2000;
        ByteBuf memory = random(server.channel().alloc(), 5000);
        RemoteSegment all = expose(server, memory, RemoteAccess.READ).segment();
        List<ByteBuf> sinks = new ArrayList<>();
        Endpoint.await(client.call(() -> {
            ChannelFuture last = null;
            for (int i = 0; i < count; i++) {
                ByteBuf sink = client.channel().alloc().buffer(5000);
                sinks.add(sink);
                last = client.channel().write(new RdmaRead(all, sink.retain()));
            }
            client.channel().flush();
            return last;
        }));
        for (ByteBuf sink : sinks) {
            assertSameBytes(memory, sink);
            sink.release();
        }
        memory.release();
    }

    @Test
    void shouldMarkMemoryInvalidatedBeforeTheMessageThatDidIt() throws Exception {
        assumeTrue(provider().capabilities().sendWithInvalidate());
        ByteBuf memory = client.channel().alloc().buffer(100);
        ExposedMemory exposed = expose(client, memory, RemoteAccess.WRITE);
        BlockingQueue<Boolean> invalidatedAtRead = new LinkedBlockingQueue<>();
        client.call(() -> client.channel().pipeline().addFirst(new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object message) {
                invalidatedAtRead.add(exposed.isInvalidated());
                ctx.fireChannelRead(message);
            }
        }));
        server.channel().writeAndFlush(new RdmaSend(server.text("done"), exposed.segment().steeringTag()));
        assertEquals("done", client.awaitText());
        assertTrue(invalidatedAtRead.poll(Endpoint.TIMEOUT_SECONDS, TimeUnit.SECONDS));
        assertEquals(1, memory.refCnt());
        Endpoint.await(client.call(exposed::invalidate));
        assertEquals(1, client.count(Counter.REMOTE_INVALIDATIONS_RECEIVED));
        assertEquals(0, client.count(Counter.LOCAL_INVALIDATIONS));
        awaitTrue(() -> server.count(Counter.REMOTE_INVALIDATIONS_SENT) == 1, "counted");
        memory.release();
    }

    /** All messages may be there before the first one is read, so what each one did cannot be told from the memory. */
    @Test
    void shouldTellBeforeEachMessageWhatItHasInvalidated() throws Exception {
        assumeTrue(provider().capabilities().sendWithInvalidate());
        ByteBuf memory = client.channel().alloc().buffer(100);
        int first = expose(client, memory, RemoteAccess.WRITE).segment().steeringTag();
        int second = expose(client, memory, RemoteAccess.WRITE).segment().steeringTag();
        BlockingQueue<Object> seen = new LinkedBlockingQueue<>();
        client.call(() -> client.channel().pipeline().addFirst(new ChannelInboundHandlerAdapter() {
            @Override
            public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
                seen.add(event);
            }

            @Override
            public void channelRead(ChannelHandlerContext ctx, Object message) {
                seen.add(((ByteBuf) message).toString(StandardCharsets.US_ASCII));
                ctx.fireChannelRead(message);
            }
        }));
        client.channel().config().setAutoRead(false);
        server.channel().write(new RdmaSend(server.text("one"), second));
        server.channel().write(server.text("two"));
        Endpoint.await(server.channel().writeAndFlush(new RdmaSend(server.text("three"), first)));
        awaitTrue(() -> client.count(Counter.RECEIVES) == 3, "arrived");
        client.channel().config().setAutoRead(true);

        for (Object expected : List.of(new RemoteInvalidation(second), "one", "two", new RemoteInvalidation(first), "three")) {
            assertEquals(expected, seen.poll(Endpoint.TIMEOUT_SECONDS, TimeUnit.SECONDS));
        }
        memory.release();
    }

    @Test
    void shouldInvalidateAgainWithoutHarm() throws Exception {
        ByteBuf memory = client.channel().alloc().buffer(100);
        ExposedMemory exposed = expose(client, memory, RemoteAccess.READ);
        assertSame(memory, exposed.memory());
        Endpoint.await(client.call(exposed::invalidate));
        Endpoint.await(client.call(exposed::invalidate));
        assertEquals(1, memory.refCnt());
        assertEquals(1, client.count(Counter.LOCAL_INVALIDATIONS));
        memory.release();
    }

    /** What a peer can do wrong, given a segment it may read 1000 bytes of and another that it may write to. */
    enum Violation {
        READ_UNKNOWN_TAG, WRITE_UNKNOWN_TAG, READ_WHAT_MAY_BE_WRITTEN, WRITE_WHAT_MAY_BE_READ, READ_BEYOND_THE_END,
        WRITE_BEYOND_THE_END, READ_BEFORE_THE_START, WRITE_WITH_WRAP, INVALIDATE_UNKNOWN_TAG, READ_INVALIDATED, WRITE_INVALIDATED;

        boolean isOutOfBounds() {
            return this == READ_BEYOND_THE_END || this == WRITE_BEYOND_THE_END || this == READ_BEFORE_THE_START;
        }

        ChannelFuture commit(Endpoint by, RemoteSegment readable, RemoteSegment writable) {
            return switch (this) {
                case READ_UNKNOWN_TAG -> readFrom(by, changed(readable, readable.steeringTag() ^ 0x5500, 0, 10));
                case WRITE_UNKNOWN_TAG -> writeTo(by, changed(writable, writable.steeringTag() ^ 0x5500, 0, 10));
                case READ_WHAT_MAY_BE_WRITTEN -> readFrom(by, writable);
                case WRITE_WHAT_MAY_BE_READ -> writeTo(by, readable);
                case READ_BEYOND_THE_END -> readFrom(by, changed(readable, readable.steeringTag(), 991, 10));
                case WRITE_BEYOND_THE_END -> writeTo(by, changed(writable, writable.steeringTag(), 991, 10));
                case READ_BEFORE_THE_START -> readFrom(by, changed(readable, readable.steeringTag(), -1, 10));
                case WRITE_WITH_WRAP -> writeTo(by, new RemoteSegment(writable.steeringTag(), 10, -5));
                case INVALIDATE_UNKNOWN_TAG -> by.channel().writeAndFlush(
                        new RdmaSend(by.text("x"), readable.steeringTag() ^ 0x5500));
                case READ_INVALIDATED -> readFrom(by, readable);
                case WRITE_INVALIDATED -> writeTo(by, writable);
            };
        }

        private static RemoteSegment changed(RemoteSegment segment, int tag, long distance, int length) {
            return new RemoteSegment(tag, length, segment.offset() + distance);
        }

        private static ChannelFuture readFrom(Endpoint by, RemoteSegment source) {
            return by.channel().writeAndFlush(new RdmaRead(source, by.channel().alloc().buffer((int) source.length())));
        }

        private static ChannelFuture writeTo(Endpoint by, RemoteSegment target) {
            int length = (int) target.length();
            return by.channel().writeAndFlush(new RdmaWrite(by.channel().alloc().buffer(length).writeZero(length), target));
        }
    }

    @ParameterizedTest
    @EnumSource(Violation.class)
    void shouldEndOnlyTheConnectionOfAPeerThatBreaksTheRules(Violation violation) throws Exception {
        assumeTrue(violation != Violation.INVALIDATE_UNKNOWN_TAG || provider().capabilities().sendWithInvalidate());
        assumeTrue(violation != Violation.READ_WHAT_MAY_BE_WRITTEN || refusals().checksRightToRead(), "by its driver");
        assumeTrue(!violation.isOutOfBounds() || refusals().checksBounds(), "by its driver");
        Endpoint otherClient = connect(bootstrap(), listener);
        Endpoint otherServer = awaitAccepted();
        ByteBuf readable = server.channel().alloc().buffer(1000).setZero(0, 1000);
        ByteBuf writable = server.channel().alloc().buffer(1000).setZero(0, 1000);
        ByteBuf pristine = writable.copy(0, 1000);
        ExposedMemory exposedForReading = expose(server, readable, RemoteAccess.READ);
        ExposedMemory exposedForWriting = expose(server, writable, RemoteAccess.WRITE);
        if (violation == Violation.READ_INVALIDATED || violation == Violation.WRITE_INVALIDATED) {
            Endpoint.await(server.call(exposedForReading::invalidate));
            Endpoint.await(server.call(exposedForWriting::invalidate));
        }
        ChannelFuture forbidden = violation.commit(client, exposedForReading.segment(), exposedForWriting.segment());

        server.awaitInactive();
        client.awaitInactive();
        if (isToldOf(violation, false)) {
            server.awaitCause();
        }
        if (isToldOf(violation, true)) {
            client.awaitCause();
        }
        if (violation.name().startsWith("READ")) {
            Endpoint.awaitFailure(forbidden);
        }
        awaitTrue(() -> server.call(() -> exposedForReading.isInvalidated() && exposedForWriting.isInvalidated()), "withdrawn");
        assertSameBytes(pristine, writable.writerIndex(1000));
        assertEquals(1, readable.refCnt());
        assertEquals(1, writable.refCnt());
        otherClient.send("still here");
        assertEquals("still here", otherServer.awaitText());
        readable.release();
        writable.release();
        pristine.release();
    }

    /** A device fails what waits for an answer; one without iWARP has done a Send that its peer then refuses. */
    private boolean isToldOf(Violation violation, boolean requester) {
        if (refusals().tellsBothEnds()) {
            return true;
        }
        return provider().capabilities().receiverWaits() ? !requester || violation != Violation.INVALIDATE_UNKNOWN_TAG
                : requester && violation.name().startsWith("READ");
    }

    @Test
    void shouldNotLetAConnectionUseTheTagsOfAnother() throws Exception {
        assumeTrue(provider().capabilities().exposure() == Capabilities.Exposure.PER_CALL, "tags belong to no connection");
        Endpoint stranger = connect(bootstrap(), listener);
        Endpoint strangersServer = awaitAccepted();
        ByteBuf memory = server.channel().alloc().buffer(1000).writeZero(1000);
        RemoteSegment segment = expose(server, memory, RemoteAccess.READ).segment();
        Endpoint.awaitFailure(stranger.channel().writeAndFlush(new RdmaRead(segment, stranger.channel().alloc().buffer(1000))));
        strangersServer.awaitInactive();
        ByteBuf sink = client.channel().alloc().buffer(1000);
        Endpoint.await(read(client, segment, sink));
        assertSameBytes(memory, sink);
        sink.release();
        memory.release();
    }

    @Test
    void shouldWithdrawExposedMemoryWhenTheConnectionEnds() throws Exception {
        ByteBuf memory = server.channel().alloc().buffer(100);
        ExposedMemory exposed = expose(server, memory, RemoteAccess.WRITE);
        assertEquals(2, memory.refCnt());
        client.channel().close();
        server.awaitInactive();
        awaitTrue(() -> server.call(exposed::isInvalidated), "withdrawn");
        Endpoint.await(server.call(exposed::invalidate));
        assertEquals(1, memory.refCnt());
        assertThrows(ClosedChannelException.class, () -> unwrapped(() -> expose(server, memory, RemoteAccess.READ)));
        memory.release();
    }

    @Test
    void shouldExposeOnlyRegisteredMemoryInOnePiece() throws Exception {
        ByteBuf heap = Unpooled.buffer(100);
        ByteBufAllocator allocator = client.channel().alloc();
        CompositeByteBuf divided = allocator.compositeBuffer().addComponents(true, allocator.buffer(10).writeZero(10),
                allocator.buffer(10).writeZero(10));
        assertThrows(RdmaException.class, () -> unwrapped(() -> expose(client, heap, RemoteAccess.READ)));
        assertThrows(RdmaException.class, () -> unwrapped(() -> expose(client, divided, RemoteAccess.READ)));
        assertThrows(IndexOutOfBoundsException.class, () -> unwrapped(() -> client.call(
                () -> client.channel().expose(divided, 15, 6, RemoteAccess.READ))));
        assertThrows(IndexOutOfBoundsException.class, () -> unwrapped(() -> client.call(
                () -> client.channel().expose(divided, 15, 0, RemoteAccess.READ))));
        ExposedMemory piece = client.call(() -> client.channel().expose(divided, 12, 5, RemoteAccess.READ));
        ByteBuf sink = server.channel().alloc().buffer(5);
        divided.setByte(12, 42);
        Endpoint.await(read(server, piece.segment(), sink));
        assertEquals(42, sink.readByte());
        Endpoint.await(client.call(piece::invalidate));
        sink.release();
        heap.release();
        divided.release();
        assertTrue(client.channel().isActive());
    }

    private interface Action {
        void run() throws Exception;
    }

    /** The failure of what ran on the event loop, without what the way back put around it. */
    private static void unwrapped(Action action) throws Throwable {
        try {
            action.run();
        } catch (AssertionError e) {
            throw e.getCause() != null ? e.getCause() : e;
        }
    }

    @Test
    void shouldGiveEveryExposureItsOwnTag() throws Exception {
        ByteBuf memory = client.channel().alloc().buffer(100);
        ExposedMemory first = expose(client, memory, RemoteAccess.READ);
        ExposedMemory second = expose(client, memory, RemoteAccess.READ);
        assertNotEquals(first.segment().steeringTag(), second.segment().steeringTag());
        assertEquals(100, first.segment().length());
        Endpoint.await(client.call(first::invalidate));
        assertFalse(client.call(second::isInvalidated));
        ByteBuf sink = server.channel().alloc().buffer(100);
        Endpoint.await(read(server, second.segment(), sink));
        sink.release();
        memory.release();
        assertEquals(2, client.count(Counter.EXPOSURES));
        assertTrue(client.channel().isActive());
    }
}
