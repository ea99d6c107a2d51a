package org.nettyrdma.codec.oncrpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nettyrdma.codec.oncrpc.Hex.dump;
import static org.nettyrdma.codec.oncrpc.Hex.hex;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.TooLongFrameException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Records as RFC 5531, section 11, draws them. */
class RecordMarkingCodecTest {

    private final EmbeddedChannel channel = new EmbeddedChannel(new RecordMarkingCodec(64));

    @Test
    void shouldPassUpARecord() {
        channel.writeInbound(hex("80000004 01020304"));
        assertEquals("01020304", read());
        assertNull(channel.readInbound());
    }

    @Test
    void shouldPassUpTheRecordsOfOneBufferInOrder() {
        channel.writeInbound(hex("80000001 01 80000002 0202 80000003 030303"));
        assertEquals("01", read());
        assertEquals("0202", read());
        assertEquals("030303", read());
    }

    @Test
    void shouldNotCopyARecordThatIsWholeInOneBuffer() {
        ByteBuf in = Unpooled.buffer().writeBytes(hex("80000004 01020304"));
        channel.writeInbound(in);
        ByteBuf message = channel.readInbound();
        in.setByte(4, 0x7f);
        assertEquals(0x7f, message.readByte());
        assertTrue(message.release());
        assertEquals(0, in.refCnt());
    }

    @Test
    void shouldJoinFragments() {
        channel.writeInbound(hex("00000003 010203 00000002 0405 80000001 06"));
        assertEquals("01020304 0506", read());
    }

    @Test
    void shouldTakeEmptyFragments() {
        channel.writeInbound(hex("00000000 00000000 00000002 0102 00000000 80000000"));
        assertEquals("0102", read());
        channel.writeInbound(hex("80000000"));
        assertEquals("", read());
        channel.writeInbound(hex("00000000 80000001 07"));
        assertEquals("07", read());
    }

    @Test
    void shouldTakeEverySplitOfAStream() {
        String stream = "80000004 01020304 00000003 050607 00000000 80000001 08 80000000 00000001 09 80000002 0a0b";
        byte[] bytes = new byte[hex(stream).readableBytes()];
        hex(stream).readBytes(bytes);
        for (int first = 0; first <= bytes.length; first++) {
            for (int second = first; second <= bytes.length; second++) {
                channel.writeInbound(Unpooled.copiedBuffer(bytes, 0, first), Unpooled.copiedBuffer(bytes, first, second - first),
                        Unpooled.copiedBuffer(bytes, second, bytes.length - second));
                assertEquals("01020304", read());
                assertEquals("05060708", read());
                assertEquals("", read());
                assertEquals("090a0b", read());
                assertNull(channel.readInbound());
            }
        }
    }

    @Test
    void shouldTakeAStreamByteByByte() {
        for (int round = 0; round < 3; round++) {
            ByteBuf stream = hex("00000003 010203 80000001 04");
            while (stream.isReadable()) {
                assertNull(channel.readInbound());
                channel.writeInbound(stream.readRetainedSlice(1).copy());
                stream.release();
            }
            assertEquals("01020304", read());
        }
    }

    @Test
    void shouldJoinPiecesOfAnySize() {
        Random random = new Random(5531);
        for (int round = 0; round < 200; round++) {
            EmbeddedChannel large = new EmbeddedChannel(new RecordMarkingCodec(1 << 20));
            byte[] message = new byte[random.nextInt(20_000)];
            random.nextBytes(message);
            ByteBuf stream = Unpooled.buffer();
            for (int done = 0, length; done < message.length || stream.writerIndex() == 0; done += length) {
                length = Math.min(message.length - done, random.nextInt(9000));
                stream.writeInt(length | (done + length == message.length ? 0x80000000 : 0));
                stream.writeBytes(message, done, length);
                if (done + length == message.length) {
                    break;
                }
            }
            while (stream.isReadable()) {
                int length = Math.min(stream.readableBytes(), 1 + random.nextInt(random.nextBoolean() ? 10 : 5000));
                ByteBuf received = large.alloc().buffer(2048).writeBytes(stream, length);
                large.writeInbound(received);
            }
            ByteBuf joined = large.readInbound();
            assertEquals(Unpooled.wrappedBuffer(message), joined);
            joined.release();
            assertFalse(large.finish());
        }
    }

    @Test
    void shouldNotHoldWholeBuffersForSingleBytes() {
        List<ByteBuf> received = new ArrayList<>();
        channel.writeInbound(hex("80000020"));
        for (int i = 0; i < 32; i++) {
            ByteBuf in = channel.alloc().buffer(65536).writeByte(i);
            received.add(in);
            channel.writeInbound(in);
        }
        received.forEach(in -> assertEquals(0, in.refCnt()));
        ByteBuf message = channel.readInbound();
        assertEquals(32, message.readableBytes());
        message.release();
    }

    @Test
    void shouldKeepLargePiecesWithoutCopying() {
        channel.writeInbound(hex("80000028"));
        ByteBuf first = Unpooled.buffer(20, 20).writeZero(20);
        ByteBuf second = Unpooled.buffer(20, 20).writeZero(20);
        channel.writeInbound(first, second);
        CompositeByteBuf message = channel.readInbound();
        first.setByte(3, 1);
        second.setByte(4, 2);
        assertEquals(1, message.getByte(3));
        assertEquals(2, message.getByte(24));
        message.release();
        assertEquals(0, first.refCnt());
    }

    /** A receive buffer is as small as what came before, so that a slice would be as large a part of it as one likes. */
    @Test
    void shouldNotKeepObjectsForEachOfManyShortPieces() {
        EmbeddedChannel large = new EmbeddedChannel(new RecordMarkingCodec(1 << 20));
        large.writeInbound(hex("80010000"));
        for (int i = 0; i < 4096; i++) {
            large.writeInbound(large.alloc().buffer(16, 16).writeLong(i).writeLong(-i));
        }
        CompositeByteBuf message = large.readInbound();
        assertTrue(message.numComponents() <= RecordAssembler.FEW_PIECES + 1, () -> message.numComponents() + " pieces");
        for (int i = 0; i < 4096; i++) {
            assertEquals(i, message.readLong());
            assertEquals(-i, message.readLong());
        }
        assertFalse(message.isReadable());
        message.release();
    }

    @Test
    void shouldTakeARecordOfTheLimit() {
        channel.writeInbound(hex("80000040" + "ab".repeat(64)));
        assertEquals(dump(hex("ab".repeat(64))), read());
    }

    @Test
    void shouldCloseOnARecordOverTheLimit() {
        for (String start : new String[] {"80000041", "00000041", "7fffffff", "ffffffff",
                "00000040" + "00".repeat(64) + "80000001",
            "00000001 00 ffffffff", "00000001 00 7fffffff"}) {
            EmbeddedChannel victim = new EmbeddedChannel(new RecordMarkingCodec(64));
            ByteBuf in = Unpooled.buffer().writeBytes(hex(start + "0102"));
            TooLongFrameException e = assertThrows(TooLongFrameException.class, () -> victim.writeInbound(in));
            assertTrue(e.getMessage().endsWith(" bytes (limit: 64, maxMessageBytes)"), e.getMessage());
            assertFalse(victim.isOpen());
            assertNull(victim.readInbound());
            assertEquals(0, in.refCnt());
        }
    }

    @Test
    void shouldReleaseAnUnfinishedRecordOnClose() {
        ByteBuf in = hex("80000004 010203");
        channel.writeInbound(in);
        assertEquals(1, in.refCnt());
        assertFalse(channel.finish());
        assertEquals(0, in.refCnt());
    }

    @Test
    void shouldReleaseAnUnfinishedRecordOnRemoval() {
        ByteBuf in = hex("80000004 010203");
        channel.writeInbound(in);
        channel.pipeline().remove(RecordMarkingCodec.class);
        assertEquals(0, in.refCnt());
    }

    @Test
    void shouldReadOnUntilARecordIsWholeForWhoeverReadsOnDemand() {
        int[] reads = new int[1];
        EmbeddedChannel onDemand = onDemand(reads, new RecordMarkingCodec(64));
        onDemand.writeInbound(hex("80000002 01"));
        assertEquals(1, reads[0]);
        onDemand.writeInbound(hex("02"));
        assertEquals(1, reads[0]);
        assertEquals("0102", dumpAndRelease(onDemand.readInbound()));
    }

    @Test
    void shouldPassUpOneRecordForEachReadOfWhoeverReadsOnDemandWithABudget() {
        int[] reads = new int[1];
        EmbeddedChannel onDemand =
                onDemand(reads, new RecordMarkingCodec(64, new MemoryBudget(1 << 20), TransferLimits.DEFAULT));
        onDemand.writeInbound(hex("80000001 01 80000001 02 80000002 03"));
        assertEquals("01", dumpAndRelease(onDemand.readInbound()));
        assertNull(onDemand.readInbound());
        onDemand.read();
        assertEquals("02", dumpAndRelease(onDemand.readInbound()));
        assertEquals(0, reads[0]);
        onDemand.read();
        assertEquals(1, reads[0], "the rest of the third record");
        onDemand.writeInbound(hex("04"));
        assertEquals("0304", dumpAndRelease(onDemand.readInbound()));
        onDemand.writeInbound(hex("80000001 05"));
        assertNull(onDemand.readInbound(), "nobody has asked for it");
        assertFalse(onDemand.finishAndReleaseAll());
    }

    /** Each read is asked for at the end of the one before, so that all of them would nest. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldPassUpManyRecordsToWhoeverReadsOnDemandWithABudget(boolean atTheEndOfTheRead) {
        int[] reads = new int[1];
        EmbeddedChannel onDemand =
                onDemand(reads, new RecordMarkingCodec(64, new MemoryBudget(1 << 20), TransferLimits.DEFAULT));
        onDemand.pipeline().addLast(new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                ctx.fireChannelRead(msg);
                if (!atTheEndOfTheRead) {
                    ctx.read();
                }
            }

            @Override
            public void channelReadComplete(ChannelHandlerContext ctx) {
                if (atTheEndOfTheRead) {
                    ctx.read();
                }
            }
        });
        int records = 50_000;
        ByteBuf all = Unpooled.buffer();
        for (int i = 0; i < records; i++) {
            all.writeInt(0x8000_0004).writeInt(i);
        }
        onDemand.writeInbound(all);
        for (int i = 0; i < records; i++) {
            while (onDemand.inboundMessages().isEmpty() && onDemand.hasPendingTasks()) {
                onDemand.runPendingTasks(); // the next turn
            }
            ByteBuf record = onDemand.readInbound();
            assertEquals(i, record.readInt());
            record.release();
        }
        assertTrue(reads[0] > 0, "the last read is left");
        assertFalse(onDemand.finishAndReleaseAll());
    }

    /** Counts the reads that its codec asks for. */
    private static EmbeddedChannel onDemand(int[] reads, RecordMarkingCodec codec) {
        EmbeddedChannel onDemand = new EmbeddedChannel(new ChannelOutboundHandlerAdapter() {
            @Override
            public void read(ChannelHandlerContext ctx) {
                reads[0]++;
                ctx.read();
            }
        }, codec);
        onDemand.config().setAutoRead(false);
        reads[0] = 0;
        return onDemand;
    }

    @Test
    void shouldReadOnBehindARecordThatHasWaitedForMemory() {
        int recordBytes = 20 << 10;
        MemoryBudget memory = new MemoryBudget(64 << 10);
        EmbeddedChannel first = new EmbeddedChannel(new RecordMarkingCodec(1 << 20, memory, TransferLimits.DEFAULT));
        int[] reads = new int[1];
        EmbeddedChannel second = onDemand(reads, new RecordMarkingCodec(1 << 20, memory, TransferLimits.DEFAULT));
        first.writeInbound(Unpooled.buffer().writeInt(1 << 31 | recordBytes).writeByte(1));
        second.writeInbound(Unpooled.buffer().writeInt(1 << 31 | recordBytes).writeZero(recordBytes));
        assertNull(second.readInbound());
        first.writeInbound(Unpooled.buffer().writeZero(recordBytes - 1));
        second.runPendingTasks();
        ByteBuf record = second.readInbound();
        assertEquals(recordBytes, record.readableBytes());
        record.release();
        reads[0] = 0;
        second.writeInbound(hex("80000002 01"));
        assertEquals(1, reads[0]);
        first.finishAndReleaseAll();
        second.finishAndReleaseAll();
    }

    @Test
    void shouldWriteMarkerAndMessageAsTwoBuffersWithoutCopying() {
        ByteBuf message = hex("01020304 05");
        channel.writeOutbound(message);
        assertEquals("80000005", dumpAndRelease(channel.readOutbound()));
        assertSame(message, channel.readOutbound());
        message.release();
    }

    /** Some bytes of the record are lost then, and what follows would be taken for markers and calls. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void shouldEndTheConnectionWhereThereIsNoMemoryForARecord(int buffers) {
        List<ByteBuf> received = new ArrayList<>();
        for (int i = 0; i < 4; i++) { // the first and the last are copied, those between are kept
            received.add(i % 3 == 0 ? Unpooled.buffer(100) : Unpooled.buffer(8));
        }
        received.get(0).writeInt(0x8000_0020).writeZero(2);
        received.get(1).writeZero(8);
        received.get(2).writeZero(8);
        received.get(3).writeZero(14).writeBytes(hex("80000004 01020304"));
        channel.config().setAllocator(new ExhaustedAllocator(buffers));
        for (ByteBuf in : received) {
            if (channel.isOpen()) {
                channel.pipeline().fireChannelRead(in);
            } else {
                in.release();
            }
        }
        assertThrows(OutOfMemoryError.class, channel::checkException);
        assertFalse(channel.isOpen());
        assertNull(channel.readInbound());
        received.forEach(in -> assertEquals(0, in.refCnt()));
    }

    @Test
    void shouldFailAMessageForWhoseMarkerThereIsNoMemory() {
        ByteBuf message = hex("01020304 05");
        channel.config().setAllocator(new ExhaustedAllocator(0));
        assertInstanceOf(OutOfMemoryError.class, channel.writeOneOutbound(message).cause());
        channel.flushOutbound();
        assertNull(channel.readOutbound());
        assertEquals(0, message.refCnt());
    }

    @Test
    void shouldWriteAnRpcMessage() {
        ByteBuf content = hex("01020304 05060708");
        channel.writeOutbound(new RpcMessage(content, List.of(new DataItem(4, 4)), null));
        assertEquals("80000008", dumpAndRelease(channel.readOutbound()));
        assertSame(content, channel.readOutbound());
        content.release();
    }

    @Test
    void shouldWriteNoMarkerForACancelledMessage() {
        ByteBuf message = hex("01");
        ChannelPromise cancelled = new io.netty.channel.DefaultChannelPromise(channel) {
            @Override
            public boolean setUncancellable() {
                cancel(false); // the moment between the pipeline's own check and the codec
                return super.setUncancellable();
            }
        };
        channel.writeAndFlush(message, cancelled);
        assertNull(channel.readOutbound());
        assertEquals(0, message.refCnt());
    }

    @Test
    void shouldPassOtherMessages() {
        channel.writeInbound("text");
        assertEquals("text", channel.readInbound());
        channel.writeOutbound("text");
        assertEquals("text", channel.readOutbound());
    }

    private String read() {
        return dumpAndRelease(channel.readInbound());
    }

    private static String dumpAndRelease(ByteBuf message) {
        try {
            return dump(message);
        } finally {
            message.release();
        }
    }
}
