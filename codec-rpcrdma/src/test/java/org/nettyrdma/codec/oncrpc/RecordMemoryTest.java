package org.nettyrdma.codec.oncrpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.DefaultEventLoopGroup;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.local.LocalChannel;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Records that wait for their memory. */
@Timeout(60)
class RecordMemoryTest {

    private static final int RECORD_BYTES = 20_000;
    private static final int RECORDS = 900;
    /** Less than a record, as a handler in front of the codec passes parts of what was read. */
    private static final int PIECE_BYTES = 6_000;

    private final MemoryBudget budget = new MemoryBudget(64 << 10);
    private final MemoryBudget.Share other =
            budget.records().open(new InetSocketAddress("192.0.2.1", 1), Runnable::run, () -> { });
    private final EventLoopGroup group = new DefaultEventLoopGroup(1);
    private final Channel channel = new LocalChannel();
    private final AtomicInteger passedUp = new AtomicInteger();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();

    @BeforeEach
    void start() {
        channel.pipeline().addLast(new ChannelOutboundHandlerAdapter() {
            @Override
            public void read(ChannelHandlerContext ctx) {
                // the channel has no peer
            }
        }, new RecordMarkingCodec(RECORD_BYTES, budget, TransferLimits.DEFAULT), new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                expect(passedUp.get(), (ByteBuf) msg);
                passedUp.getAndIncrement();
            }

            @Override
            public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                failure.compareAndSet(null, cause);
            }
        });
        group.register(channel).syncUninterruptibly();
    }

    @AfterEach
    void end() {
        other.close();
        channel.close().syncUninterruptibly();
        group.shutdownGracefully(0, 20, TimeUnit.SECONDS).syncUninterruptibly();
        assertEquals(0, budget.records().usedBytes());
    }

    /**
     * Memory that comes back between two looks for it, while what came meanwhile is decoded, must not let the later pieces pass
     * the rest of the first one. Nothing foreign runs between the looks, so another thread takes memory and gives it back.
     */
    @Test
    void shouldKeepTheOrderOfBytesWhereMemoryComesBackBetweenTwoLooks() throws InterruptedException {
        AtomicBoolean ended = new AtomicBoolean();
        Thread thread = new Thread(() -> {
            while (!ended.get()) {
                if (other.tryTake(RECORD_BYTES)) {
                    for (int i = 0; i < 50; i++) {
                        Thread.onSpinWait();
                    }
                    other.release(RECORD_BYTES);
                }
            }
        });
        thread.start();
        try {
            for (int begun = 0; begun < RECORDS;) {
                ByteBuf records = records(begun, 3);
                begun += 3;
                group.submit(() -> receive(records)).sync();
                while (passedUp.get() < begun && failure.get() == null && !Thread.interrupted()) {
                    Thread.yield();
                }
                assertNull(failure.get());
                assertEquals(begun, passedUp.get());
            }
        } finally {
            ended.set(true);
            thread.join();
        }
        assertTrue(budget.waits() > 0);
    }

    private void receive(ByteBuf records) {
        while (records.isReadable()) {
            channel.pipeline().fireChannelRead(records.readRetainedSlice(Math.min(PIECE_BYTES, records.readableBytes())));
        }
        records.release();
        channel.pipeline().fireChannelReadComplete();
    }

    private static ByteBuf records(int first, int count) {
        ByteBuf records = Unpooled.buffer(count * (Integer.BYTES + RECORD_BYTES));
        for (int i = 0; i < count; i++) {
            records.writeInt(0x8000_0000 | RECORD_BYTES);
            for (int k = 0; k < RECORD_BYTES; k += 8) {
                records.writeLong((long) (first + i) << 32 | k);
            }
        }
        return records;
    }

    private static void expect(int index, ByteBuf record) {
        try {
            assertEquals(RECORD_BYTES, record.readableBytes());
            for (int k = 0; k < RECORD_BYTES; k += 8) {
                assertEquals((long) index << 32 | k, record.getLong(record.readerIndex() + k));
            }
        } finally {
            record.release();
        }
    }
}
