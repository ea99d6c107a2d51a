package org.nettyrdma.codec.oncrpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nettyrdma.codec.oncrpc.Hex.dump;
import static org.nettyrdma.codec.oncrpc.Hex.hex;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.ReferenceCountUtil;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** With a budget, a program says how large its results get before it is called. */
class ServedCallMemoryTest {

    private static final String CALL =
            "00000007 00000000 00000002 00030d40 00000001 00000005 00000000 00000000 00000000 00000000";
    private static final String SYSTEM_ERROR = "00000007 00000001 00000000 00000000 00000000 00000005";

    private final MemoryBudget budget = new MemoryBudget(1 << 20);

    /** Fails like a program of which a class is missing. */
    private static final class IncompleteProgram implements SingleVersionProgram {

        @Override
        public int program() {
            return 200000;
        }

        @Override
        public int maxResultBytes(RpcCall call) {
            throw new NoClassDefFoundError("of the program");
        }

        @Override
        public void call(RpcCall call) {
            throw new NoClassDefFoundError("of the program");
        }
    }

    @Test
    void shouldAnswerWhereTheProgramFailsToSayHowLargeItsResultsGet() {
        EmbeddedChannel server = new EmbeddedChannel(new RpcServerHandler(List.of(new IncompleteProgram()), Runnable::run,
                RpcServerHandler.DEFAULT_MAX_BYTES_IN_PROGRESS, 0, budget, TransferLimits.DEFAULT));
        ByteBuf message = hex(CALL + "00000001");
        server.writeInbound(message);
        ByteBuf reply = server.readOutbound();
        assertEquals(SYSTEM_ERROR, dump(reply));
        reply.release();
        assertEquals(0, message.refCnt());
        server.close();
        assertEquals(0, budget.usedBytes());
    }

    /** Each reply that ends within its write lets the next call begin within the one before. */
    @Test
    void shouldStopReadingAgainAfterCallsThatBeganWithinOneAnother() {
        AtomicInteger reads = new AtomicInteger();
        EmbeddedChannel server = new EmbeddedChannel(new ChannelOutboundHandlerAdapter() {
            @Override
            public void read(ChannelHandlerContext ctx) {
                reads.getAndIncrement();
                ctx.read();
            }

            @Override
            public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
                ReferenceCountUtil.release(msg);
                promise.setSuccess();
            }
        }, new RpcServerHandler(List.of(new TestProgram(200000, 1, 1, call -> call.reply(Unpooled.EMPTY_BUFFER))), null,
                RpcServerHandler.DEFAULT_MAX_BYTES_IN_PROGRESS, 0, budget, TransferLimits.DEFAULT));
        MemoryBudget.Share other = budget.open(new InetSocketAddress("192.0.2.1", 1), Runnable::run, () -> { });
        assertTrue(other.tryTake(1 << 20));
        server.writeInbound(hex(CALL));
        server.writeInbound(hex(CALL));
        assertEquals(1, budget.waiting());
        int beforeThose = reads.get();
        server.read();
        assertEquals(beforeThose, reads.get(), "calls wait");
        other.release(1 << 20);
        server.runPendingTasks();
        assertEquals(0, budget.usedBytes());

        assertTrue(other.tryTake(1 << 20));
        server.writeInbound(hex(CALL));
        int before = reads.get();
        server.read();
        assertEquals(before, reads.get(), "a call waits");
        other.close();
        server.runPendingTasks();
        assertEquals(before + 1, reads.get());
        server.close();
    }
}
