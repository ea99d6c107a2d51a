package org.nettyrdma.codec.oncrpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.local.LocalChannel;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.net.InetAddress;
import java.net.Socket;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How much of what was received is decoded in one turn of the event loop. */
class RecordTurnTest {

    /** A marker, and what follows it. */
    private static final int STEPS_OF_RECORD = 2;
    private static final int RECORDS_OF_TURN = RecordTurn.MAX_STEPS / STEPS_OF_RECORD;
    private static final int RECORDS = 10 * RECORDS_OF_TURN;

    private final Reads reads = new Reads(true);
    private final RecordMarkingCodec codec = new RecordMarkingCodec(64, new MemoryBudget(1 << 20), TransferLimits.DEFAULT);
    private final Records records = new Records();
    private final EmbeddedChannel channel = new EmbeddedChannel(reads, codec, records);

    /** Counts the reads that the codec asks for. */
    private static final class Reads extends ChannelOutboundHandlerAdapter {

        private final boolean passOn;
        private int count;

        /** A channel without a peer cannot be read. */
        private Reads(boolean passOn) {
            this.passOn = passOn;
        }

        @Override
        public void read(ChannelHandlerContext ctx) {
            count++;
            if (passOn) {
                ctx.read();
            }
        }
    }

    /** Looks that each record comes in its place. */
    private static final class Records extends ChannelInboundHandlerAdapter {

        private int count;
        private int turnCount;
        private int longestTurn;
        private int turns;
        private boolean readsAtEach;
        private boolean readsAtTheEnd;

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ByteBuf record = (ByteBuf) msg;
            if (record.isReadable()) {
                assertEquals(count, record.readInt());
            }
            record.release();
            count++;
            turnCount++;
            longestTurn = Math.max(longestTurn, turnCount);
            if (readsAtEach) {
                ctx.read();
            }
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            turnCount = 0;
            turns++;
            if (readsAtTheEnd) {
                ctx.read();
            }
        }
    }

    @AfterEach
    void end() {
        assertFalse(channel.finishAndReleaseAll());
    }

    /** Each with its number. */
    private static ByteBuf records(int first, int count) {
        ByteBuf in = Unpooled.buffer();
        for (int i = first; i < first + count; i++) {
            in.writeInt(0x8000_0004).writeInt(i);
        }
        return in;
    }

    /** As the channel does in one turn of the event loop. */
    private void receive(ByteBuf... pieces) {
        for (ByteBuf piece : pieces) {
            channel.pipeline().fireChannelRead(piece);
        }
        channel.pipeline().fireChannelReadComplete();
    }

    /** Runs behind what the end of a turn has queued, and before the next turn. */
    private void betweenTurns(Runnable task) {
        channel.eventLoop().execute(task);
    }

    private void allTurns() {
        do {
            channel.runPendingTasks();
        } while (channel.hasPendingTasks());
        assertTrue(records.longestTurn <= RECORDS_OF_TURN);
        channel.checkException();
    }

    @Test
    void shouldDecodeOnlySoManyRecordsInATurn() {
        receive(records(0, RECORDS));
        assertEquals(RECORDS_OF_TURN, records.count);
        allTurns();
        assertEquals(RECORDS, records.count);
        assertEquals(RECORDS / RECORDS_OF_TURN, records.turns);
    }

    @Test
    void shouldDecodeOnlySoManyEmptyRecordsInATurn() {
        receive(empty(0x8000_0000, RECORDS), empty(0x8000_0000, RECORDS));
        assertEquals(RECORDS_OF_TURN, records.count);
        allTurns();
        assertEquals(2 * RECORDS, records.count);
    }

    @Test
    void shouldReadNothingMoreForEmptyFragmentsThatFillATurn() {
        channel.config().setAutoRead(false);
        reads.count = 0;
        receive(empty(0, RECORDS));
        assertEquals(0, reads.count, "what has come may still hold the record that was asked for");
        allTurns();
        assertEquals(0, records.count);
        assertEquals(1, reads.count);
    }

    private static ByteBuf empty(int marker, int count) {
        ByteBuf in = Unpooled.buffer(count * Integer.BYTES);
        for (int i = 0; i < count; i++) {
            in.writeInt(marker);
        }
        return in;
    }

    /** The piece of a record is a step, too. */
    @Test
    void shouldKeepTheOrderOfPiecesThatComeBehindTheEndOfATurn() {
        ByteBuf all = records(0, RECORDS);
        ByteBuf[] pieces = new ByteBuf[all.readableBytes() / 3 + 1];
        for (int i = 0; i < pieces.length; i++) {
            pieces[i] = all.readBytes(Math.min(3, all.readableBytes()));
        }
        all.release();
        receive(pieces);
        assertTrue(records.count < RECORDS_OF_TURN);
        allTurns();
        assertEquals(RECORDS, records.count);
    }

    @Test
    void shouldNotCountTheTurnsBefore() {
        for (int turn = 0; turn < 10; turn++) {
            receive(records(turn * RECORDS_OF_TURN, RECORDS_OF_TURN));
            assertEquals((turn + 1) * RECORDS_OF_TURN, records.count);
        }
    }

    @Test
    void shouldReadOnlyWhenAllIsDecoded() {
        reads.count = 0;
        receive(records(0, 3 * RECORDS_OF_TURN));
        assertFalse(channel.config().isAutoRead(), "a loop of reads ends here");
        betweenTurns(() -> {
            assertTrue(channel.config().isAutoRead());
            assertEquals(0, reads.count);
        });
        allTurns();
        assertEquals(3 * RECORDS_OF_TURN, records.count);
        assertEquals(1, reads.count);
    }

    @Test
    void shouldLeaveAutoReadAsTheApplicationHasSetItBeforeTheNextTurn() {
        receive(records(0, 3 * RECORDS_OF_TURN));
        betweenTurns(() -> channel.config().setAutoRead(false));
        allTurns();
        assertFalse(channel.config().isAutoRead());
        assertEquals(RECORDS_OF_TURN + 1, records.count, "behind one it shows that nobody reads on");
        channel.config().setAutoRead(true);
        allTurns();
        assertEquals(3 * RECORDS_OF_TURN, records.count);
    }

    @Test
    void shouldPassUpOneRecordForEachReadAcrossTurns() {
        channel.config().setAutoRead(false);
        receive(records(0, RECORDS));
        for (int i = 1; i <= RECORDS; i++) {
            allTurns();
            assertEquals(i, records.count);
            channel.read();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldEndATurnOfWhoeverAsksForEachRecord(boolean atTheEndOfTheRead) {
        channel.config().setAutoRead(false);
        records.readsAtEach = !atTheEndOfTheRead;
        records.readsAtTheEnd = atTheEndOfTheRead;
        receive(records(0, RECORDS));
        assertEquals(atTheEndOfTheRead ? 1 + RECORDS_OF_TURN : RECORDS_OF_TURN, records.count);
        allTurns();
        assertEquals(RECORDS, records.count);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldReleaseWhatWaitsForTheNextTurn(boolean removed) {
        ByteBuf first = records(0, RECORDS);
        ByteBuf second = records(RECORDS, RECORDS);
        receive(first, second);
        if (removed) {
            channel.pipeline().remove(codec);
        } else {
            channel.pipeline().close();
        }
        assertEquals(0, first.refCnt());
        assertEquals(0, second.refCnt());
        allTurns();
        assertEquals(RECORDS_OF_TURN, records.count);
    }

    @Test
    void shouldReadOnWhereItIsRemovedAtTheEndOfATurn() {
        receive(records(0, RECORDS));
        reads.count = 0;
        channel.pipeline().remove(codec);
        allTurns();
        assertTrue(channel.config().isAutoRead());
        assertEquals(1, reads.count);
    }

    /** A handler that is removed while a record is passed up, keeps nothing of the records behind it. */
    @Test
    void shouldKeepNothingOnceItIsRemovedWithinATurn() {
        channel.pipeline().addBefore(channel.pipeline().context(records).name(), null, new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                if (ctx.pipeline().context(codec) != null) {
                    ctx.pipeline().remove(codec);
                }
                ctx.fireChannelRead(msg);
            }
        });
        ByteBuf in = records(0, RECORDS);
        receive(in);
        assertEquals(0, in.refCnt());
        assertEquals(RECORDS, records.count);
    }

    @Test
    void shouldDropWhatFollowsARecordThatIsTooLongAcrossTurns() {
        ByteBuf in = records(0, RECORDS_OF_TURN + 1).writeInt(1 << 31 | 65).writeBytes(records(0, RECORDS));
        boolean[] lost = new boolean[1];
        channel.pipeline().addLast(new ChannelInboundHandlerAdapter() {
            @Override
            public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                lost[0] = true;
            }
        });
        receive(in);
        assertFalse(lost[0]);
        allTurns();
        assertTrue(lost[0]);
        assertFalse(channel.isOpen());
        assertEquals(RECORDS_OF_TURN + 1, records.count);
        assertEquals(0, in.refCnt());
        assertNull(channel.readInbound());
    }

    /** A task sees each turn of the event loop: in one the channel may be read, and what has waited for it be decoded. */
    @Test
    @Timeout(60)
    void shouldDecodeOnlySoManyRecordsInATurnOfTheEventLoop() throws Exception {
        EventLoopGroup group = new NioEventLoopGroup(1);
        Records received = new Records();
        ServerSocketChannel server = (ServerSocketChannel) new ServerBootstrap().group(group)
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel accepted) {
                        accepted.pipeline().addLast(
                                new RecordMarkingCodec(64, new MemoryBudget(1 << 20), TransferLimits.DEFAULT), received);
                    }
                }).bind(InetAddress.getLoopbackAddress(), 0).sync().channel();
        int count = 1 << 20;
        int[] most = new int[1];
        group.next().execute(new Runnable() {
            private int seen;

            @Override
            public void run() {
                most[0] = Math.max(most[0], received.count - seen);
                seen = received.count;
                if (seen < count) {
                    group.next().schedule(this, 0, TimeUnit.NANOSECONDS);
                }
            }
        });
        try (Socket peer = new Socket(InetAddress.getLoopbackAddress(), server.localAddress().getPort())) {
            peer.getOutputStream().write(ByteBufUtil.getBytes(empty(0x8000_0000, count)));
            while (group.submit(() -> received.count).get() < count) {
                Thread.yield();
            }
        }
        group.shutdownGracefully(0, 20, TimeUnit.SECONDS).sync();
        assertTrue(most[0] <= 2 * RECORDS_OF_TURN, most[0] + " records in a turn");
    }

    @Test
    @Timeout(60)
    void shouldDecodeOnWhereTheEventLoopHasNoMemoryForTheNextTurn() throws Exception {
        ExhaustedEventLoop loop = new ExhaustedEventLoop();
        Records received = new Records();
        Channel local = new LocalChannel();
        local.pipeline().addLast(new Reads(false),
                new RecordMarkingCodec(64, new MemoryBudget(1 << 20), TransferLimits.DEFAULT), received);
        loop.register(local).sync();
        loop.submit(() -> {
            loop.refuseTimers(RECORDS);
            local.pipeline().fireChannelRead(records(0, RECORDS));
            local.pipeline().fireChannelReadComplete();
            assertTrue(loop.timersToRefuse() < RECORDS);
            loop.refuseTimers(0);
            assertEquals(RECORDS, received.count);
            assertTrue(local.config().isAutoRead());
        }).get();
        local.close().sync();
        loop.shutdownGracefully(0, 20, TimeUnit.SECONDS).sync();
    }
}
