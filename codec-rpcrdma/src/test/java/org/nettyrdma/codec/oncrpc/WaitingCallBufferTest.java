package org.nettyrdma.codec.oncrpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nettyrdma.codec.oncrpc.Hex.dump;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What small calls hold while they wait that came with much else in one large buffer. */
class WaitingCallBufferTest {

    private static final int BURST_BYTES = 64 << 10;

    private final PooledByteBufAllocator alloc = new PooledByteBufAllocator(true);
    private final MemoryBudget budget = new MemoryBudget(16 << 20);

    @ParameterizedTest
    @ValueSource(ints = {0, 8, 2000})
    void shouldHoldLittleMoreThanIsCountedWhereCallsWaitForTheExecutor(int argumentBytes) {
        Queue<Runnable> tasks = new ArrayDeque<>();
        EmbeddedChannel server = server(tasks::add);
        for (int i = 0; i < 100; i++) {
            server.writeInbound(burst(argumentBytes));
        }
        assertEquals(100, tasks.size());
        long held = alloc.pinnedDirectMemory();
        assertTrue(held <= 4 * budget.usedBytes(), () -> held + " bytes held, " + budget.usedBytes() + " counted");
        while (!tasks.isEmpty()) {
            tasks.remove().run();
        }
        server.runPendingTasks();
        for (int i = 0; i < 100; i++) {
            readReply(server, argumentBytes);
        }
        end(server);
    }

    @Test
    void shouldLetGoOfTheBufferWhereACallWaitsForMemory() {
        EmbeddedChannel server = server(null);
        MemoryBudget.Share other = budget.open(new InetSocketAddress("192.0.2.1", 1), Runnable::run, () -> { });
        assertTrue(other.tryTake(budget.maxBytes()));
        ByteBuf burst = burst(8);
        server.writeInbound(burst);
        assertEquals(1, budget.waiting());
        assertEquals(0, burst.refCnt());
        other.close();
        server.runPendingTasks();
        readReply(server, 8);
        end(server);
    }

    /** A call that is decoded takes several times as much as one that is still in the buffer. */
    @Test
    void shouldNotDecodeCallsBehindOneThatWaitsForMemory() {
        EmbeddedChannel server = server(null);
        MemoryBudget.Share other = budget.open(new InetSocketAddress("192.0.2.1", 1), Runnable::run, () -> { });
        assertTrue(other.tryTake(budget.maxBytes()));
        ByteBuf calls = alloc.directBuffer(BURST_BYTES, BURST_BYTES);
        for (int xid = 0; xid < 1000; xid++) {
            RpcCallHeader header = new RpcCallHeader(xid, 200000, 1, 0, OpaqueAuth.NONE, OpaqueAuth.NONE);
            header.write(calls.writeInt(0x8000_0000 | header.encodedLength()));
        }
        server.writeInbound(calls);
        server.runPendingTasks();
        assertEquals(1, server.pipeline().get(RpcServerHandler.class).callsInProgress());
        other.close();
        server.runPendingTasks();
        ByteBuf replies = alloc.buffer();
        for (ByteBuf part = server.readOutbound(); part != null; part = server.readOutbound()) {
            replies.writeBytes(part);
            part.release();
        }
        for (int xid = 0; xid < 1000; xid++) {
            ByteBuf reply = replies.readSlice(replies.readInt() & Integer.MAX_VALUE);
            assertEquals(xid, reply.readInt());
        }
        assertFalse(replies.isReadable());
        replies.release();
        end(server);
    }

    /** The end of a connection shows only behind what has come before. */
    @Test
    void shouldReadALittleAheadWhereACallWaitsForMemory() {
        EmbeddedChannel server = server(null);
        AtomicInteger reads = new AtomicInteger();
        server.pipeline().addFirst(new ChannelOutboundHandlerAdapter() {
            @Override
            public void read(ChannelHandlerContext ctx) {
                reads.getAndIncrement();
            }
        });
        MemoryBudget.Share other = budget.open(new InetSocketAddress("192.0.2.1", 1), Runnable::run, () -> { });
        assertTrue(other.tryTake(budget.maxBytes()));
        int calls = 0;
        for (int before = -1; before < reads.get(); calls++) {
            before = reads.get();
            RpcCallHeader header = new RpcCallHeader(7, 200000, 1, 0, OpaqueAuth.NONE, OpaqueAuth.NONE);
            ByteBuf call = alloc.directBuffer(BURST_BYTES, BURST_BYTES);
            header.write(call.writeInt(0x8000_0000 | header.encodedLength()));
            server.writeInbound(call);
        }
        assertTrue(calls > 10 && calls < 100, calls + " calls were read");
        assertTrue(alloc.pinnedDirectMemory() < BURST_BYTES / 2);
        assertEquals(1, server.pipeline().get(RpcServerHandler.class).callsInProgress());
        other.close();
        server.runPendingTasks();
        assertEquals(0, server.pipeline().get(RpcServerHandler.class).callsInProgress());
        end(server);
    }

    @Test
    void shouldRefuseACallThatHasNoMemoryToWaitForTheExecutor() {
        EmbeddedChannel server = server(new Executor() {
            private boolean failed;

            @Override
            public void execute(Runnable task) {
                task.run();
            }

            @Override
            public int hashCode() { // where its calls wait is found by it
                if (!failed) {
                    failed = true;
                    throw new OutOfMemoryError("expected");
                }
                return 1;
            }
        });
        server.writeInbound(burst(8));
        StringBuilder reply = new StringBuilder();
        for (ByteBuf part = server.readOutbound(); part != null; part = server.readOutbound()) {
            reply.append(dump(part));
            part.release();
        }
        assertTrue(reply.toString().replace(" ", "").endsWith("000000070000000100000000000000000000000000000005"),
                reply::toString);
        assertEquals(0, server.pipeline().get(RpcServerHandler.class).callsInProgress());
        assertEquals(0, alloc.pinnedDirectMemory());
        server.writeInbound(burst(8));
        readReply(server, 8);
        end(server);
    }

    private EmbeddedChannel server(Executor executor) {
        EmbeddedChannel server = new EmbeddedChannel();
        server.config().setAllocator(alloc);
        server.pipeline().addLast(new RecordMarkingCodec(1 << 20, budget, TransferLimits.DEFAULT),
                new RpcServerHandler(List.of(TestProgram.echo()), executor, RpcServerHandler.DEFAULT_MAX_BYTES_IN_PROGRESS, 0,
                        budget, TransferLimits.DEFAULT));
        return server;
    }

    /** One call, and in front of it a record that is neither call nor reply. */
    private ByteBuf burst(int argumentBytes) {
        ByteBuf burst = alloc.directBuffer(BURST_BYTES, BURST_BYTES);
        RpcCallHeader header = new RpcCallHeader(7, 200000, 1, 0, OpaqueAuth.NONE, OpaqueAuth.NONE);
        int rest = burst.writableBytes() - 2 * Integer.BYTES - header.encodedLength() - argumentBytes;
        burst.writeInt(0x8000_0000 | rest).writeInt(1).writeInt(99).writeZero(rest - 8);
        burst.writeInt(0x8000_0000 | header.encodedLength() + argumentBytes);
        header.write(burst);
        for (int i = 0; i < argumentBytes; i++) {
            burst.writeByte(i);
        }
        return burst;
    }

    private static void readReply(EmbeddedChannel server, int argumentBytes) {
        StringBuilder reply = new StringBuilder();
        for (int left = Integer.BYTES + RpcReplyHeader.SUCCESS_BYTES + argumentBytes; left > 0;) {
            ByteBuf part = server.readOutbound();
            left -= part.readableBytes();
            if (left == 0 && argumentBytes > 0) {
                assertEquals(argumentBytes - 1 & 0xff, part.getUnsignedByte(part.writerIndex() - 1));
            }
            reply.append(dump(part));
            part.release();
        }
        assertTrue(reply.toString().replace(" ", "").contains("0000000700000001"), reply::toString);
    }

    private void end(EmbeddedChannel server) {
        server.finishAndReleaseAll();
        assertEquals(0, budget.usedBytes());
        assertEquals(0, alloc.pinnedDirectMemory());
    }
}
