package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.util.internal.PlatformDependent;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nettyrdma.channel.RdmaChannelStatistics.Counter;
import org.nettyrdma.verbs.VerbsProvider;
import org.nettyrdma.verbs.iwarp.IwarpProvider;

/** Data that is passed on where the peer has written it. */
@Timeout(60)
class StreamPieceTest extends StreamFixture {

    /** The largest block here, and the smallest of which pieces are passed on. */
    private static final int BLOCK_BYTES = 32768;

    /** Passes buffers to the test, which releases them. */
    private static final class Taker extends ChannelInboundHandlerAdapter {
        private final BlockingQueue<ByteBuf> taken = new LinkedBlockingQueue<>();

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            taken.add((ByteBuf) message);
        }

        ByteBuf take() throws InterruptedException {
            ByteBuf buffer = taken.poll(TIMEOUT_SECONDS, TimeUnit.SECONDS);
            assertNotNull(buffer, "nothing was read");
            return buffer;
        }
    }

    /** A peer that fills one half of the ring after the other, by one message each. */
    private static final class Filler implements AutoCloseable {
        private final RawStreamPeer peer;
        private final ArrayDeque<ByteBuffer> entries = new ArrayDeque<>();
        private int nextEntry = 1;

        Filler(RawStreamPeer peer) throws IOException {
            this.peer = peer;
            entries.add(ByteBuffer.wrap(new byte[16]).order(ByteOrder.LITTLE_ENDIAN)
                    .putLong(0, peer.hello.getLong(24)).putInt(8, peer.ringTag).putInt(12, peer.hello.getInt(36)));
            takeEntry();
        }

        private void takeEntry() throws IOException {
            peer.receive();
            entries.add(ByteBuffer.wrap(peer.list.clone(), 16 * nextEntry, 16).slice().order(ByteOrder.LITTLE_ENDIAN));
            nextEntry = 1 - nextEntry;
        }

        int size() {
            return entries.getFirst().getInt(12);
        }

        /** Fills the next half; returns where that was. */
        ByteBuffer fill(byte[] bytes) throws IOException {
            write(entries.getFirst(), bytes);
            return tell(bytes.length);
        }

        /** Says that it has filled the next half; returns where that was. */
        ByteBuffer tell(int bytes) throws IOException {
            ByteBuffer entry = entries.remove();
            peer.send(ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(bytes).array());
            takeEntry();
            return entry;
        }

        void write(ByteBuffer entry, byte[] bytes) throws IOException {
            peer.write(entry.getInt(8), entry.getLong(0), bytes);
        }

        @Override
        public void close() throws IOException {
            peer.close();
        }
    }

    /** Whose memory other tests do not share. */
    private static final VerbsProvider PROVIDER = new IwarpProvider();

    private final Taker taker = new Taker();

    @Override
    VerbsProvider provider() {
        return PROVIDER;
    }

    /** Until the ring has grown to its bound. */
    private Filler connect() throws Exception {
        return connect(RegisteredByteBufAllocator.of(PROVIDER));
    }

    private Filler connect(ByteBufAllocator allocator) throws Exception {
        return connect(allocator, 2 * BLOCK_BYTES, BLOCK_BYTES);
    }

    private Filler connect(ByteBufAllocator allocator, int ringBytes, int blockBytes) throws Exception {
        RdmaServerStreamChannel listener = listen(serverBootstrap(channel -> channel.pipeline().addLast(taker))
                .childOption(ChannelOption.ALLOCATOR, allocator)
                .childOption(ChannelOption.SO_RCVBUF, ringBytes)
                .childOption(ChannelOption.RCVBUF_ALLOCATOR, new FixedRecvByteBufAllocator(ringBytes)));
        Filler filler = new Filler(RawStreamPeer.connect(listener.localAddress()));
        while (filler.size() < blockBytes) {
            filler.tell(filler.size());
            taker.take().release();
        }
        return filler;
    }

    private static long copiedBytes(End end) {
        return end.channel.statistics().get(Counter.RECEIVED_COPIED_BYTES);
    }

    @Test
    void shouldLetNoPeerChangeAPieceThatWasNotCopied() throws Exception {
        try (Filler peer = connect()) {
            End server = awaitAccepted();
            long copied = copiedBytes(server);
            ByteBuffer entry = peer.fill(bytes(BLOCK_BYTES, 1));
            ByteBuf piece = taker.take();
            assertEquals(BLOCK_BYTES, piece.readableBytes());
            assertEquals(copied, copiedBytes(server));
            peer.write(entry, bytes(100, 2));
            server.awaitEvent("inactive");
            assertArrayEquals(bytes(BLOCK_BYTES, 1), ByteBufUtil.getBytes(piece));
            piece.release();
        }
    }

    /** Whoever keeps many such buffers counts their bytes, not their memory. */
    @Test
    void shouldCopyIntoNoMoreMemoryThanThereIsData() throws Exception {
        RdmaServerStreamChannel listener = listen(serverBootstrap(channel -> channel.pipeline().addLast(taker))
                .childOption(ChannelOption.RCVBUF_ALLOCATOR, new FixedRecvByteBufAllocator(2 * BLOCK_BYTES)));
        End client = connect(bootstrap(), listener.localAddress());
        client.write(bytes(10, 1));
        ByteBuf piece = taker.take();
        assertArrayEquals(bytes(10, 1), ByteBufUtil.getBytes(piece));
        assertEquals(10, piece.capacity());
        piece.release();
    }

    /** As with TCP: many a handler adds to what it has received, or changes it. */
    @Test
    void shouldPassOnPiecesThatCanGrow() throws Exception {
        try (Filler peer = connect()) {
            End server = awaitAccepted();
            long copied = copiedBytes(server);
            for (int i = 0; i < 5; i++) {
                byte[] sent = bytes(BLOCK_BYTES, i);
                peer.fill(sent);
                ByteBuf piece = taker.take();
                ByteBuf slice = piece.retainedSlice(0, 100);
                piece.setByte(1, sent[0]);
                piece.writeByte(7).ensureWritable(100).capacity(BLOCK_BYTES + 5000);
                sent[1] = sent[0];
                assertArrayEquals(sent, ByteBufUtil.getBytes(piece, 0, BLOCK_BYTES));
                assertEquals(7, piece.getByte(BLOCK_BYTES));
                assertArrayEquals(Arrays.copyOf(sent, 100), ByteBufUtil.getBytes(slice));
                assertTrue(RegisteredByteBufAllocator.of(PROVIDER).isRegistered(piece, 0, BLOCK_BYTES + 5000));
                assertFalse(slice.release());
                assertTrue(piece.release());
            }
            assertEquals(copied, copiedBytes(server));
        }
    }

    /** No block can be larger than a piece of registered memory. */
    @Test
    void shouldCopyNoFullBlockHoweverLargeTheRingMayBe() throws Exception {
        RegisteredByteBufAllocator allocator = RegisteredByteBufAllocator.of(PROVIDER);
        int largest = RegisteredByteBufAllocator.MAX_POOLED_BYTES - RegisteredByteBufAllocator.MAX_POOLED_BYTES
                % StreamOutput.MAX_MESSAGE_BYTES;
        assumeTrue(allocator.connectionMemory().shareOf(1) > 4 * largest, "the JVM has little direct memory");
        try (Filler peer = connect(allocator, 64 << 20, largest)) {
            End server = awaitAccepted();
            long copied = copiedBytes(server);
            for (int i = 0; i < 3; i++) {
                assertEquals(largest, peer.size());
                peer.tell(largest);
                ByteBuf piece = taker.take();
                assertEquals(largest, piece.readableBytes());
                piece.release();
            }
            assertEquals(copied, copiedBytes(server));
        }
    }

    /** Whoever writes there knows the memory, not the buffer. */
    @Test
    void shouldNotLetAPieceGrowThatAPeerWritesTo() throws Exception {
        try (Filler peer = connect()) {
            peer.fill(bytes(BLOCK_BYTES, 1));
            ByteBuf piece = taker.take();
            Pin pin = Pin.of(piece, true);
            assertThrows(IllegalStateException.class, () -> piece.writeByte(7));
            Pin.release(pin);
            assertEquals(BLOCK_BYTES + 1, piece.writeByte(7).readableBytes());
            piece.release();
        }
    }

    /** Some who set one release only what is not of theirs. */
    @Test
    void shouldCopyIntoBuffersOfTheAllocatorThatTheApplicationHasSet() throws Exception {
        try (Filler peer = connect(UnpooledByteBufAllocator.DEFAULT)) {
            End server = awaitAccepted();
            long copied = copiedBytes(server);
            peer.fill(bytes(BLOCK_BYTES, 1));
            ByteBuf copy = taker.take();
            assertSame(UnpooledByteBufAllocator.DEFAULT, copy.alloc());
            assertEquals(copied + BLOCK_BYTES, copiedBytes(server));
            copy.release();
        }
    }

    @Test
    void shouldUseABlockAgainOnlyWhenNobodyRefersToIt() throws Exception {
        assumeTrue(PlatformDependent.hasUnsafe(), "places are told apart by their addresses");
        try (Filler peer = connect()) {
            End server = awaitAccepted();
            long copied = copiedBytes(server);
            ByteBuf[] held = new ByteBuf[5];
            for (int i = 0; i < held.length; i++) {
                peer.fill(bytes(BLOCK_BYTES, i));
                held[i] = taker.take();
            }
            Set<Long> places = new HashSet<>();
            for (int i = 0; i < 9; i++) {
                peer.fill(bytes(BLOCK_BYTES, 100 + i));
                ByteBuf piece = taker.take();
                places.add(piece.memoryAddress());
                assertArrayEquals(bytes(BLOCK_BYTES, 100 + i), ByteBufUtil.getBytes(piece));
                piece.release();
            }
            for (int i = 0; i < held.length; i++) {
                assertArrayEquals(bytes(BLOCK_BYTES, i), ByteBufUtil.getBytes(held[i]));
                assertTrue(!places.contains(held[i].memoryAddress()) || i == held.length - 1);
                held[i].release();
            }
            assertTrue(places.size() <= 4, () -> "pieces lay in " + places.size() + " places");
            assertEquals(copied, copiedBytes(server));
        }
    }

    /** The peer may only have said that it has filled the block; what lies there is its own, and nobody else's. */
    @Test
    void shouldCopyWhatDoesNotFillABlock() throws Exception {
        try (Filler peer = connect()) {
            End server = awaitAccepted();
            long copied = copiedBytes(server);
            ByteBuffer entry = peer.entries.getFirst();
            peer.write(entry, bytes(BLOCK_BYTES - 1, 3));
            peer.peer.send("ff7f0000");
            ByteBuf copy = taker.take();
            assertEquals(copied + BLOCK_BYTES - 1, copiedBytes(server));
            peer.write(entry, bytes(BLOCK_BYTES - 1, 4));
            peer.peer.write(entry.getInt(8), entry.getLong(0) + BLOCK_BYTES - 1, new byte[1]).send("01000000");
            taker.take().release();
            assertArrayEquals(bytes(BLOCK_BYTES - 1, 3), ByteBufUtil.getBytes(copy));
            copy.release();
        }
    }

    @Test
    void shouldGiveRoomBackWhereThereAreManyMoreChannels() throws Exception {
        try (Filler peer = connect()) {
            ConnectionMemory memory = RegisteredByteBufAllocator.of(PROVIDER).connectionMemory();
            int channels = 1_000_000;
            for (int i = 0; i < channels; i++) {
                memory.join();
            }
            try {
                for (int i = 0; i < 8; i++) {
                    peer.fill(bytes(peer.size(), i));
                    taker.take().release();
                }
                assertEquals(StreamRing.FIRST_BLOCK_BYTES, peer.size());
            } finally {
                for (int i = 0; i < channels; i++) {
                    memory.leave();
                }
            }
            peer.fill(bytes(peer.size(), 1));
            taker.take().release();
            peer.fill(bytes(peer.size(), 1));
            taker.take().release();
            assertEquals(2 * StreamRing.FIRST_BLOCK_BYTES, peer.size());
        }
    }

    /** Both ends are ours, and nothing is released before the end. */
    @Test
    void shouldKeepEveryPieceAsItWas() throws Exception {
        RdmaServerStreamChannel listener = listen(serverBootstrap(channel -> channel.pipeline().addLast(taker)));
        End client = connect(bootstrap(), listener.localAddress());
        byte[] all = bytes(6_000_000, 5);
        client.write(all);
        ByteBuf joined = Unpooled.buffer(all.length);
        List<ByteBuf> kept = new ArrayList<>();
        for (int count = 0; count < all.length;) {
            ByteBuf next = taker.take();
            count += next.readableBytes();
            kept.add(next);
        }
        for (ByteBuf piece : kept) {
            joined.writeBytes(piece);
            piece.release();
        }
        assertArrayEquals(all, ByteBufUtil.getBytes(joined));
    }
}
