package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nettyrdma.codec.rpcrdma.Bytes.digits;
import static org.nettyrdma.codec.rpcrdma.Bytes.hex;
import static org.nettyrdma.codec.rpcrdma.RpcRdmaPair.awaitValue;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaChannelOption;
import org.nettyrdma.channel.RdmaRead;
import org.nettyrdma.channel.RdmaServerChannel;
import org.nettyrdma.channel.RemoteAccess;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.codec.oncrpc.ExhaustedAllocator;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.legacy.LegacyProfile;

/** A server with the legacy profile as an old client sees it that writes its messages by hand, byte for byte. */
@Timeout(120)
public class LegacyServerWireTest {

    private static final String CALL = " 00000000 00000002 20000099 00000001 ";
    private static final String NO_AUTH = " 00000000 00000000 00000000 00000000 ";
    private static final String NO_CHUNKS = " 00000000 00000000 00000000 ";
    private static final String SUCCESS = " 00000001 00000000 00000000 00000000 00000000 ";
    private static final String LATER = "00000001 00000020";

    private final BulkProgram program = new BulkProgram(true);
    private RpcRdma server;
    private Channel listener;
    private RawPeer peer;

    /** An old client has no private data, so 1024 bytes is all that it is sent inline. */
    private void connect(RpcRdmaBuilder builder) throws Exception {
        server = builder.program(program).binding(BulkProgram.BINDING).build();
        listener = server.configure(new ServerBootstrap().group(RawPeer.GROUP).channel(RdmaServerChannel.class))
                .bind(RawPeer.loopback()).sync().channel();
        peer = RawPeer.connect(listener, "");
    }

    private void connect(LegacyProfile profile) throws Exception {
        connect(ShortSends.server().legacy(profile));
    }

    @AfterEach
    void disconnect() {
        for (RpcCall call = program.hanging.poll(); call != null; call = program.hanging.poll()) {
            call.arguments().release();
        }
        peer.close();
        listener.close().syncUninterruptibly();
    }

    /** Whether the program tells where its items are, or the binding does. */
    @ParameterizedTest
    @CsvSource({"1000,0", "3000,0", "3001,0", "3003,500", "100000,900"})
    void shouldPutEligibleResultIntoReadChunk(int length, int extra) throws Exception {
        connect(LegacyProfile.DEFAULT);
        peer.sendHex("00000007 00000001 00000020 00000000" + NO_CHUNKS + loadCall("00000007", length, extra));

        String reply = peer.receiveHex();
        RemoteSegment segment = segmentAt(reply, 24);
        assertEquals(length, segment.length());
        int position = 24 + 4 + extra + 4;
        assertEquals(digits("00000007 00000001 00000020 00000000 00000001" + String.format("%08x", position)
                + RawPeer.hex(segment) + "00000000 00000000 00000000 00000007" + SUCCESS + String.format("%08x", extra)
                + ByteBufUtil.hexDump(Bytes.pattern(extra, 1)) + String.format("%08x", length)), reply);
        assertArrayEquals(Bytes.pattern(length, 2), read(segment));
        done("00000007");
        assertAlive(); // and RDMA_DONE has been handled

        assertEquals(1, server.statistics().get(Counter.REPLIES_WITH_READ_CHUNK));
        assertEquals(1, server.statistics().get(Counter.DONE_MESSAGES));
        assertEquals(length, server.statistics().get(Counter.READ_CHUNK_BYTES));
    }

    @Test
    void shouldPutWholeReplyIntoPositionZeroReadChunk() throws Exception {
        connect(LegacyProfile.DEFAULT);
        byte[] data = Bytes.pattern(2000, 5);
        peer.sendHex("00000008 00000001 00000020 00000000" + NO_CHUNKS + echoCall("00000008", data));

        assertArrayEquals(ByteBufUtil.getBytes(hex("00000008" + SUCCESS + "000007d0" + ByteBufUtil.hexDump(data))),
                longReply("00000008"));
        done("00000008");
        assertAlive();
    }

    /** If the client does not provide a Reply chunk, or it is too small (draft-ietf-nfsv4-rpcrdma-02, section 5.2). */
    @Test
    void shouldUseReadChunkWhereTheReplyChunkIsTooSmall() throws Exception {
        connect(LegacyProfile.DEFAULT);
        ByteBuf sink = peer.registered(new byte[2000]);
        RemoteSegment offered = peer.expose(sink, 0, 2000, RemoteAccess.WRITE).segment();
        peer.sendHex("00000008 00000001 00000020 00000000 00000000 00000000 00000001 00000001" + RawPeer.hex(offered)
                + echoCall("00000008", Bytes.pattern(2000, 5)));

        assertEquals(2028, longReply("00000008").length);
        sink.release();
    }

    /** Of 980 bytes: with the header that returns the Reply chunk 1028 would be sent, and without it 1008. */
    @Test
    void shouldUseReadChunkWhereTheReplyFitsInlineButForAReplyChunkThatIsTooSmall() throws Exception {
        connect(LegacyProfile.DEFAULT);
        ByteBuf sink = peer.registered(new byte[100]);
        RemoteSegment offered = peer.expose(sink, 0, 100, RemoteAccess.WRITE).segment();
        peer.sendHex("00000008 00000001 00000020 00000000 00000000 00000000 00000001 00000001" + RawPeer.hex(offered)
                + "00000008" + CALL + "00000005" + NO_AUTH); // HANG
        program.takeHanging().reply(Unpooled.wrappedBuffer(Bytes.pattern(956, 1)));

        assertEquals(980, longReply("00000008").length);
        done("00000008");
        assertAlive();
        sink.release();
    }

    @Test
    void shouldUseReplyChunkThatIsLargeEnough() throws Exception {
        connect(LegacyProfile.DEFAULT);
        ByteBuf sink = peer.registered(new byte[2028]);
        RemoteSegment offered = peer.expose(sink, 0, 2028, RemoteAccess.WRITE).segment();
        peer.sendHex("00000008 00000001 00000020 00000000 00000000 00000000 00000001 00000001" + RawPeer.hex(offered)
                + echoCall("00000008", Bytes.pattern(2000, 5)));

        assertEquals(digits("00000008 00000001 00000020 00000001 00000000 00000000 00000001 00000001" + RawPeer.hex(offered)),
                peer.receiveHex());
        sink.release();
    }

    @Test
    void shouldSendShortRepliesInlineAsEver() throws Exception {
        connect(LegacyProfile.DEFAULT);
        assertAlive();
        assertEquals(0, server.statistics().get(Counter.REPLIES_WITH_READ_CHUNK));
    }

    @Test
    void shouldWithdrawTheMemoryAtDone() throws Exception {
        connect(LegacyProfile.DEFAULT);
        RemoteSegment segment = load("00000001");
        read(segment);
        done("00000001");
        assertAlive(); // and RDMA_DONE has been handled

        assertReadEndsConnection(segment);
    }

    @Test
    void shouldWithdrawTheMemoryWhenDoneDoesNotComeInTime() throws Exception {
        connect(new LegacyProfile(1, 1 << 20, 20));
        load("00000001");
        awaitTimeouts(1);

        assertLoadRefused("00000002"); // its place is taken until RDMA_DONE is here
        done("00000001");
        RemoteSegment next = load("00000003");
        awaitTimeouts(2);
        assertReadEndsConnection(next); // withdrawn by the timer alone
    }

    @Test
    void shouldWithdrawOneReplyAfterTheOther() throws Exception {
        connect(new LegacyProfile(16, 1 << 20, 20));
        for (int xid = 1; xid <= 16; xid++) {
            load(String.format("%08x", xid));
        }
        awaitTimeouts(16);
        assertLoadRefused("00000020");
    }

    @Test
    void shouldBoundTheRepliesThatWaitForDone() throws Exception {
        connect(new LegacyProfile(2, 1 << 20, 60_000));
        RemoteSegment first = load("00000001");
        load("00000002");
        assertLoadRefused("00000003");
        assertLoadRefused("00000003");
        assertEquals(3000, read(first).length); // unharmed
        done("00000002");
        load("00000004");
        assertLoadRefused("00000005");
        assertAlive();
    }

    @Test
    void shouldBoundTheBytesThatWaitForDone() throws Exception {
        connect(new LegacyProfile(16, 7000, 60_000)); // each reply has 3036
        load("00000001");
        load("00000002");
        assertLoadRefused("00000003");
        done("00000001");
        load("00000004");
        assertAlive();
    }

    @Test
    void shouldRefuseReplyAboveTheLargestMessage() throws Exception {
        connect(ShortSends.server().legacy(LegacyProfile.DEFAULT).maxMessageBytes(4096));
        peer.sendHex("00000001" + LATER + "00000000" + NO_CHUNKS + loadCall("00000001", 4097, 0));
        assertEquals(digits("00000001 00000001 00000020 00000004 00000002"), peer.receiveHex());
        load("00000002");
    }

    @Test
    void shouldWithdrawTheMemoryOfAReplyThatCannotBePutTogether() throws Exception {
        connect(new LegacyProfile(1, 1 << 20, 60_000));
        RdmaChannel channel = hang("00000009");
        ByteBufAllocator alloc = channel.config().getAllocator();
        channel.config().setAllocator(new OneCompositeAllocator(alloc)); // which the program's reply takes
        peer.sendHex("00000001" + LATER + "00000000" + NO_CHUNKS + "00000001" + CALL + "00000004" + NO_AUTH
                + "00001389 00001772"); // LOAD_TWO, with items of 5001 and 6002 bytes
        assertEquals(digits("00000001 00000001 00000020 00000004 00000002"), peer.receiveHex());
        assertEquals(2, server.statistics().get(Counter.EXPOSURES));
        assertEquals(2, server.statistics().get(Counter.LOCAL_INVALIDATIONS));
        assertEquals(0, server.statistics().get(Counter.REPLIES_WITH_READ_CHUNK));

        channel.config().setAllocator(alloc);
        assertEquals(3000, read(load("00000002")).length); // it has a place
    }

    @Test
    void shouldDropDoneThatComesTwiceOrBelongsToNothing() throws Exception {
        connect(LegacyProfile.DEFAULT);
        RemoteSegment other = load("00000002");
        load("00000001");
        done("00000001");
        done("00000001");
        done("00000bad");
        assertAlive();

        assertEquals(1, server.statistics().get(Counter.DONE_MESSAGES));
        assertEquals(2, server.statistics().get(Counter.DONE_MESSAGES_DROPPED));
        assertEquals(3000, read(other).length);
    }

    @Test
    void shouldMatchDoneWithTheOldestReplyOfItsXid() throws Exception {
        connect(LegacyProfile.DEFAULT);
        RemoteSegment first = load("00000001");
        RemoteSegment second = load("00000001");
        done("00000001");
        assertAlive();
        assertEquals(3000, read(second).length);
        assertReadEndsConnection(first);
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "00000001 00000001 00000020 00000003 00000000 00000000 00000000",
        "00000001 00000001 00000020 00000003 00",
        "00000001 00000002 00000020 00000003",
    })
    void shouldDropDoneThatHasChunksOrIsNoVersionOne(String message) throws Exception {
        connect(LegacyProfile.DEFAULT);
        RemoteSegment segment = load("00000001");
        peer.sendHex(message);
        assertAlive(); // and what it answers is the next call

        assertEquals(1, server.statistics().get(Counter.MALFORMED_MESSAGES));
        assertEquals(0, server.statistics().get(Counter.DONE_MESSAGES));
        assertEquals(3000, read(segment).length);
    }

    @Test
    void shouldWithdrawTheMemoryWhenTheConnectionEnds() throws Exception {
        connect(new LegacyProfile(16, 1 << 20, 60_000));
        peer.sendHex("00000009 00000001 00000020 00000000" + NO_CHUNKS + "00000009" + CALL + "00000005" + NO_AUTH); // HANG
        RpcCall hanging = program.takeHanging();
        // Only memory that was withdrawn is released; the test harness fails the build for what is not.
        ByteBuf results = hanging.alloc().directBuffer().writeBytes(Bytes.pattern(4000, 1));
        hanging.reply(results);
        assertEquals(4024, longReply("00000009").length);
        assertEquals(1, results.refCnt());
        peer.close();
        hanging.channel().closeFuture().sync();
        awaitValue(results::refCnt, 0); // the device gives it back later
    }

    @Test
    void shouldHaveAReceiveForEveryDone() throws Exception {
        connect(ShortSends.server().legacy(new LegacyProfile(3, 1 << 20, 60_000)).credits(5));
        peer.sendHex("00000009 00000001 00000020 00000000" + NO_CHUNKS + "00000009" + CALL + "00000005" + NO_AUTH); // HANG
        RpcCall hanging = program.takeHanging();
        assertEquals(5 + 3, ((RdmaChannel) hanging.channel()).config().getOption(RdmaChannelOption.RECEIVE_QUEUE_DEPTH));
        hanging.reply(Unpooled.EMPTY_BUFFER);
        assertEquals(digits("00000009 00000001 00000005 00000000" + NO_CHUNKS + "00000009" + SUCCESS), peer.receiveHex());
    }

    /** Of eight receives three are for RDMA_DONE, and four are in use. */
    @Test
    void shouldGrantNoReceiveThatIsForDoneWhileReadingIsOff() throws Exception {
        connect(ShortSends.server().legacy(new LegacyProfile(3, 1 << 20, 60_000)).credits(5));
        RdmaChannel channel = hang("00000009");
        sendHanging("00000001");
        RpcCall first = program.takeHanging();
        setAutoRead(channel, false);
        for (int i = 2; i <= 5; i++) {
            sendHanging("0000000" + i);
        }
        awaitHeld(channel, 4);
        first.reply(Unpooled.EMPTY_BUFFER);
        assertEquals(digits("00000001 00000001 00000001 00000000" + NO_CHUNKS + "00000001" + SUCCESS), peer.receiveHex());
        setAutoRead(channel, true);
        for (int i = 2; i <= 5; i++) {
            program.takeHanging().reply(Unpooled.EMPTY_BUFFER);
        }
    }

    @Test
    void shouldHaveReceivesForAllCallsAndEveryDoneWhileReadingIsOff() throws Exception {
        connect(ShortSends.server().legacy(new LegacyProfile(3, 1 << 20, 60_000)).credits(5));
        RdmaChannel channel = hang("00000009");
        for (int i = 1; i <= 3; i++) {
            peer.sendHex("0000000" + i + LATER + "00000000" + NO_CHUNKS + loadCall("0000000" + i, 3000, 0));
            peer.receive().release();
        }
        setAutoRead(channel, false);
        for (int i = 1; i <= 5; i++) {
            sendHanging("0000001" + i);
        }
        for (int i = 1; i <= 3; i++) {
            done("0000000" + i);
        }
        awaitHeld(channel, 5 + 3);
        setAutoRead(channel, true);
        for (int i = 1; i <= 5; i++) {
            program.takeHanging().reply(Unpooled.EMPTY_BUFFER);
            peer.receive().release();
        }
        assertEquals(3, server.statistics().get(Counter.DONE_MESSAGES));
    }

    @Test
    void shouldRefuseReplyThatThePeerCouldNotRead() throws Exception {
        server = ShortSends.server().legacy(LegacyProfile.DEFAULT).program(program).build();
        listener = server.configure(new ServerBootstrap().group(RawPeer.GROUP).channel(RdmaServerChannel.class))
                .childOption(RdmaChannelOption.INBOUND_READ_DEPTH, 0).bind(RawPeer.loopback()).sync().channel();
        peer = RawPeer.connect(listener, "");
        assertLoadRefused("00000001");
    }

    @Test
    void shouldRefuseOversizedReplyAndDropDoneByDefault() throws Exception {
        connect(ShortSends.server());
        assertLoadRefused("00000001");
        done("00000001");
        assertAlive();
        assertEquals(1, server.statistics().get(Counter.DONE_MESSAGES_DROPPED));
        assertEquals(0, server.statistics().get(Counter.DONE_MESSAGES));
    }

    @Test
    void shouldCloseWhereThereIsNoMemoryToTakeOutPadding() throws Exception {
        server = ShortSends.server().legacy(LegacyProfile.DEFAULT).program(program).binding(BulkProgram.BINDING).build();
        listener = server.configure(new ServerBootstrap().group(RawPeer.GROUP).channel(RdmaServerChannel.class))
                .childOption(ChannelOption.ALLOCATOR, new ExhaustedAllocator(0)).bind(RawPeer.loopback()).sync().channel();
        peer = RawPeer.connect(listener, "");
        peer.sendHex("0000000a 00000001 00000020 00000002 00000100 00000064" + NO_CHUNKS + storeCall("0000000a", 200)
                + "ee".repeat(172 + 200) + "00000002");
        assertTrue(peer.channel().closeFuture().await(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS));
    }


    /** 48 bytes from the RPC message on, and that 36 from the start of the Send, is where the data would begin. */
    @ParameterizedTest
    @CsvSource({"256,100,172", "512,200,428", "84,1,0", "1,1,0", "4,4,0", "0,1,0", "512,201,0", "85,0,1"})
    void shouldTakeOutPaddingAheadOfLargeArgument(int align, int threshold, int padding) throws Exception {
        connect(LegacyProfile.DEFAULT);
        byte[] data = Bytes.pattern(200, 7);
        peer.sendHex("00000001 00000001 00000020 00000002" + String.format("%08x%08x", align, threshold) + NO_CHUNKS
                + storeCall("00000001", 200) + "ee".repeat(padding) + ByteBufUtil.hexDump(data) + "00000002");

        assertStored("00000001", data);
    }

    @ParameterizedTest
    @ValueSource(strings = {"00000100 00000064", "ffffffff 00000000", "7fffffff 00000001"})
    void shouldRefuseCallThatEndsWithinItsPadding(String hint) throws Exception {
        connect(LegacyProfile.DEFAULT);
        peer.sendHex("00000001 00000001 00000020 00000002" + hint + NO_CHUNKS + storeCall("00000001", 200) + "00".repeat(200));

        assertEquals(digits("00000001 00000001 00000020 00000004 00000002"), peer.receiveHex());
        assertAlive();
    }

    /** Treated as RDMA_MSG, whatever the hint says (rfc5666bis-01, section 5.7.1, the draft of RFC 8166). */
    @ParameterizedTest
    @ValueSource(strings = {"00000000 00000000", "00000100 00000064", "ffffffff ffffffff"})
    void shouldIgnoreAlignmentByDefault(String hint) throws Exception {
        connect(ShortSends.server());
        byte[] data = Bytes.pattern(200, 7);
        peer.sendHex("00000001 00000001 00000020 00000002" + hint + NO_CHUNKS + storeCall("00000001", 200)
                + ByteBufUtil.hexDump(data) + "00000002");

        assertStored("00000001", data);
    }

    /** The channel of the server, by way of a call that is answered with nothing. */
    private RdmaChannel hang(String xid) throws Exception {
        sendHanging(xid);
        RpcCall hanging = program.takeHanging();
        hanging.reply(Unpooled.EMPTY_BUFFER);
        peer.receive().release();
        return (RdmaChannel) hanging.channel();
    }

    private void sendHanging(String xid) throws Exception {
        peer.sendHex(xid + LATER + "00000000" + NO_CHUNKS + xid + CALL + "00000005" + NO_AUTH);
    }

    private static void setAutoRead(RdmaChannel channel, boolean autoRead) throws Exception {
        channel.eventLoop().submit(() -> channel.config().setAutoRead(autoRead)).sync();
    }

    private static void awaitHeld(RdmaChannel channel, int messages) {
        awaitValue(() -> channel.eventLoop().submit(channel::heldMessages).syncUninterruptibly().getNow(), messages);
    }

    /** Reads what the server has exposed. */
    private byte[] read(RemoteSegment segment) throws Exception {
        ByteBuf sink = peer.channel().alloc().directBuffer((int) segment.length());
        try {
            peer.send(new RdmaRead(segment, sink.retain()));
            return ByteBufUtil.getBytes(sink);
        } finally {
            sink.release();
        }
    }

    private void assertReadEndsConnection(RemoteSegment segment) throws Exception {
        peer.channel().writeAndFlush(new RdmaRead(segment, peer.channel().alloc().directBuffer((int) segment.length())));
        peer.awaitClose();
    }

    /** A call whose 3000 bytes of result are exposed. */
    private RemoteSegment load(String xid) throws Exception {
        peer.sendHex(xid + LATER + "00000000" + NO_CHUNKS + loadCall(xid, 3000, 0));
        String reply = peer.receiveHex();
        RemoteSegment segment = segmentAt(reply, 24);
        assertEquals(digits(xid + "00000001 00000020 00000000 00000001 00000020" + RawPeer.hex(segment)),
                reply.substring(0, 2 * 40));
        return segment;
    }

    private void assertLoadRefused(String xid) throws Exception {
        peer.sendHex(xid + LATER + "00000000" + NO_CHUNKS + loadCall(xid, 3000, 0));
        assertEquals(digits(xid + "00000001 00000020 00000004 00000002"), peer.receiveHex());
    }

    /** Receives a reply that is in a Position Zero Read chunk whole, and reads it from the chunk's segments. */
    private byte[] longReply(String xid) throws Exception {
        String reply = peer.receiveHex();
        StringBuilder list = new StringBuilder();
        ByteBuf content = Unpooled.buffer();
        for (int index = 16; index + 24 < reply.length() / 2; index += 24) {
            RemoteSegment segment = segmentAt(reply, index + 8);
            list.append("00000001 00000000").append(RawPeer.hex(segment));
            content.writeBytes(read(segment));
        }
        assertEquals(digits(xid + "00000001 00000020 00000001" + list + NO_CHUNKS), reply);
        return ByteBufUtil.getBytes(content);
    }

    private void done(String xid) throws Exception {
        peer.sendHex(xid + LATER + "00000003");
    }

    /** Keeps the connection busy until the memory of so many replies was withdrawn. */
    private void awaitTimeouts(int count) throws Exception {
        while (server.statistics().get(Counter.DONE_TIMEOUTS) < count) {
            assertAlive();
        }
    }

    private void assertAlive() throws Exception {
        peer.sendHex("0000cafe 00000001 00000020 00000000" + NO_CHUNKS + "0000cafe" + CALL + "00000000" + NO_AUTH);
        assertEquals(digits("0000cafe 00000001 00000020 00000000" + NO_CHUNKS + "0000cafe" + SUCCESS), peer.receiveHex());
    }

    private void assertStored(String xid, byte[] data) throws Exception {
        assertEquals(digits(xid + "00000001 00000020 00000000" + NO_CHUNKS + xid + SUCCESS
                + String.format("%08x%08x", data.length, BulkProgram.sum(Unpooled.wrappedBuffer(data)))
                + "00000002"), peer.receiveHex());
    }

    private static RemoteSegment segmentAt(String message, int index) {
        ByteBuf bytes = hex(message);
        return new RemoteSegment(bytes.getInt(index), bytes.getUnsignedInt(index + 4), bytes.getLong(index + 8));
    }

    private static String loadCall(String xid, int length, int extra) {
        return xid + CALL + "00000003" + NO_AUTH + String.format("%08x%08x", length, extra);
    }

    private static String echoCall(String xid, byte[] data) {
        return xid + CALL + "00000001" + NO_AUTH + String.format("%08x", data.length)
                + ByteBufUtil.hexDump(Arrays.copyOf(data, (data.length + 3) / 4 * 4));
    }

    /** A call of STORE up to its data. */
    private static String storeCall(String xid, int length) {
        return xid + CALL + "00000002" + NO_AUTH + "00000001" + String.format("%08x", length);
    }

    /** Has memory for one message that is put together, and for all other buffers. */
    private static final class OneCompositeAllocator extends AbstractByteBufAllocator {

        private final ByteBufAllocator alloc;
        private boolean taken;

        OneCompositeAllocator(ByteBufAllocator alloc) {
            super(true);
            this.alloc = alloc;
        }

        @Override
        protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
            return alloc.heapBuffer(initialCapacity, maxCapacity);
        }

        @Override
        protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
            return alloc.directBuffer(initialCapacity, maxCapacity);
        }

        @Override
        public CompositeByteBuf compositeDirectBuffer(int maxNumComponents) {
            if (taken) {
                throw new OutOfMemoryError("no buffer left");
            }
            taken = true;
            return alloc.compositeDirectBuffer(maxNumComponents);
        }

        @Override
        public boolean isDirectBufferPooled() {
            return alloc.isDirectBufferPooled();
        }
    }
}
