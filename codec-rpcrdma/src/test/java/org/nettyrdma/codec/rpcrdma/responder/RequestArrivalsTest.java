package org.nettyrdma.codec.rpcrdma.responder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.concurrent.EventExecutor;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.reflect.Proxy;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaRead;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.codec.oncrpc.ExhaustedAllocator;
import org.nettyrdma.codec.oncrpc.MemoryAdmission;
import org.nettyrdma.codec.oncrpc.MemoryBudget;
import org.nettyrdma.codec.rpcrdma.ResourceLimits;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException;
import org.nettyrdma.codec.rpcrdma.RpcRdmaLimits;
import org.nettyrdma.codec.rpcrdma.RpcRdmaPrivateData;
import org.nettyrdma.codec.rpcrdma.VersionPolicy;
import org.nettyrdma.codec.rpcrdma.connection.NegotiatedConnection;
import org.nettyrdma.codec.rpcrdma.header.ChunkLists;
import org.nettyrdma.codec.rpcrdma.header.PropertySet;
import org.nettyrdma.codec.rpcrdma.header.ReadChunk;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Msg;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaMessage;
import org.nettyrdma.codec.rpcrdma.shared.BindingTable;
import org.nettyrdma.codec.rpcrdma.shared.ChunkCounters;
import org.nettyrdma.codec.rpcrdma.shared.ConnectionParts;
import org.nettyrdma.handler.credit.CreditedMessage.Role;

/** The end of fetches, over a channel whose RDMA Reads complete when the test says so. */
class RequestArrivalsTest {

    private static final int INLINE_BYTES = 44;
    private static final int CHUNK_BYTES = 64;

    private final Queue<ChannelPromise> reads = new ArrayDeque<>();
    private final List<Integer> arrived = new ArrayList<>();
    private int readBatches;
    private int tasksToRefuse;
    private boolean callDemanded;
    private final MemoryBudget memory = new MemoryBudget(1 << 20);
    private final ChannelDuplexHandler place = new ChannelDuplexHandler() {
        @Override
        public void read(ChannelHandlerContext ctx) {
            boolean demanded = !ctx.channel().config().isAutoRead();
            callDemanded |= demanded;
            if (arrivals == null || !arrivals.passHeldSoon() || !demanded) {
                ctx.read();
            }
        }
    };
    private final EmbeddedChannel channel = new EmbeddedChannel(new ChannelOutboundHandlerAdapter() {
        @Override
        public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
            ((RdmaRead) msg).release();
            reads.add(promise);
        }
    }, place, new ChannelInboundHandlerAdapter() {
        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            readBatches++;
        }
    });
    private final RequestArrivals arrivals = new RequestArrivals(refusing(channel.pipeline().context(place)),
            new ConnectionParts(RpcRdmaLimits.DEFAULT, ResourceLimits.DEFAULT, memory, new BindingTable(List.of()),
                    new ChunkCounters(), new NegotiatedConnection(new RdmaChannel(), true, VersionPolicy.V1_ONLY,
                    RpcRdmaPrivateData.NONE, 4096, PropertySet.EMPTY)),
            new RequestArrivals.Owner() {
                @Override
                public void arrived(int xid, ChunkLists chunks, long memoryBytes, ByteBuf message) {
                    assertEquals(INLINE_BYTES + CHUNK_BYTES, message.readableBytes());
                    arrived.add(xid);
                    callDemanded = false;
                    message.release();
                }

                @Override
                public void unusable(RpcRdmaMessage call, RpcRdmaException cause) {
                    throw new AssertionError(cause);
                }

                @Override
                public void violatesBinding(int xid, ChunkLists chunks, long memoryBytes, ByteBuf message) {
                    throw new AssertionError("no binding");
                }

                @Override
                public boolean isCallWanted() {
                    return callDemanded || channel.config().isAutoRead();
                }
            });

    private ChannelHandlerContext refusing(ChannelHandlerContext ctx) {
        EventExecutor refusing = instead(EventExecutor.class, ctx.executor(), "execute", execute -> {
            if (tasksToRefuse > 0) {
                tasksToRefuse--;
                throw new OutOfMemoryError("expected");
            }
            return execute.call();
        });
        return instead(ChannelHandlerContext.class, ctx, "executor", executor -> refusing);
    }

    private interface Instead {
        Object of(Callable<?> call) throws Exception;
    }

    private static <T> T instead(Class<T> type, T target, String method, Instead instead) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, called, arguments) ->
                called.getName().equals(method) ? instead.of(() -> called.invoke(target, arguments))
                        : called.invoke(target, arguments)));
    }

    private void receive(int xid) {
        ByteBuf inline = Unpooled.directBuffer().writeInt(xid).writeInt(0).writeZero(INLINE_BYTES - 8);
        ReadChunk chunk = new ReadChunk(INLINE_BYTES, List.of(new RemoteSegment(7, CHUNK_BYTES, 0)));
        Msg header = new Msg(xid, 1, new ChunkLists(List.of(chunk), List.of(), null));
        arrivals.receive(RpcRdmaMessage.of(Role.REQUEST, header, inline));
    }

    @Test
    void shouldEndFetchesThatCompleteTogetherAsOneReadBatch() {
        receive(1);
        receive(2);
        receive(3);
        reads.remove().setSuccess();
        reads.remove().setSuccess();
        assertEquals(List.of(1, 2), arrived);
        assertEquals(0, readBatches, "before the other completions of the poll");

        channel.runPendingTasks();
        assertEquals(1, readBatches);

        reads.remove().setSuccess();
        channel.runPendingTasks();
        assertEquals(List.of(1, 2, 3), arrived);
        assertEquals(2, readBatches);
    }

    @Test
    void shouldEndReadBatchesWhereTheEventLoopOnceTakesNoTask() {
        receive(1);
        receive(2);
        tasksToRefuse = 1;
        reads.remove().setSuccess();
        assertEquals(List.of(1), arrived);
        assertEquals(1, readBatches, "replies are flushed now or never");
        reads.remove().setSuccess();
        channel.runPendingTasks();
        assertEquals(List.of(1, 2), arrived);
        assertEquals(2, readBatches);
    }

    private String logWhileReadsFail(Throwable cause) {
        PrintStream before = System.err;
        ByteArrayOutputStream log = new ByteArrayOutputStream();
        System.setErr(new PrintStream(log, true, StandardCharsets.UTF_8));
        try {
            reads.forEach(read -> read.tryFailure(cause));
        } finally {
            System.setErr(before);
        }
        return log.toString(StandardCharsets.UTF_8);
    }

    @Test
    void shouldWarnOnceOfFetchesThatFail() {
        receive(1);
        receive(2);
        String log = logWhileReadsFail(new IOException("no such segment"));
        assertTrue(log.endsWith("closing, a Read chunk could not be fetched: no such segment\n"), log);
        assertEquals(1, log.lines().count(), log);
        assertFalse(channel.isOpen());
    }

    @Test
    void shouldNotWarnOfFetchesThatEndSinceThisSideHasClosedTheChannel() {
        receive(1);
        receive(2);
        channel.close();
        assertEquals("", logWhileReadsFail(new ClosedChannelException()));
    }

    /** Its composite buffer comes after the place for the chunk, of which there is one for each call. */
    @Test
    void shouldCloseWhereThereIsNoMemoryToPutACallTogether() {
        channel.config().setAllocator(new ExhaustedAllocator(1));
        receive(1);
        reads.remove().setSuccess();
        assertFalse(channel.isOpen(), "the caller would wait in vain");
        arrivals.close();
        assertEquals(0, memory.usedBytes());
        assertEquals(List.of(), arrived);
    }

    @Test
    void shouldHoldACallThatWasFetchedWhileReadingIsOff() {
        receive(1);
        receive(2);
        receive(3);
        channel.config().setAutoRead(false);
        reads.remove().setSuccess();
        reads.remove().setSuccess();
        reads.remove().setSuccess();
        channel.runPendingTasks();
        assertEquals(List.of(), arrived);

        channel.read();
        channel.runPendingTasks();
        assertEquals(List.of(1), arrived, "one for each read");
        channel.config().setAutoRead(true);
        channel.runPendingTasks();
        assertEquals(List.of(1, 2, 3), arrived);
    }

    /** Nobody would ask again with AUTO_READ on. */
    @Test
    void shouldPassOnAtOnceWhatItHoldsWhereTheLoopDoesNotTakeTheTask() {
        receive(1);
        receive(2);
        channel.config().setAutoRead(false);
        reads.remove().setSuccess();
        reads.remove().setSuccess();
        channel.runPendingTasks();
        tasksToRefuse = 1;
        channel.config().setAutoRead(true);
        channel.runPendingTasks();
        assertEquals(List.of(1, 2), arrived);
        assertEquals(0, tasksToRefuse);
    }

    @Test
    void shouldDeliverToAReadThatWasAskedForWhileACallWasFetched() {
        channel.config().setAutoRead(false);
        receive(1);
        receive(2);
        channel.read();
        reads.remove().setSuccess();
        reads.remove().setSuccess();
        assertEquals(List.of(1), arrived);
        channel.read();
        channel.runPendingTasks();
        assertEquals(List.of(1, 2), arrived);
    }

    @Test
    void shouldHoldACallThatHadToWaitForMemoryWhileReadingIsOff() {
        MemoryAdmission other = new MemoryAdmission(memory, 1 << 20, channel.eventLoop(), channel::remoteAddress, () -> { });
        assertTrue(other.tryAdmit(1 << 20));
        receive(1);
        channel.config().setAutoRead(false);
        other.release(1 << 20);
        channel.runPendingTasks();
        reads.remove().setSuccess();
        channel.runPendingTasks();
        assertEquals(List.of(), arrived);
        channel.config().setAutoRead(true);
        channel.runPendingTasks();
        assertEquals(List.of(1), arrived);
        other.close();
    }

    @Test
    void shouldReleaseWhatItHoldsWhenTheConnectionEnds() {
        receive(1);
        channel.config().setAutoRead(false);
        reads.remove().setSuccess();
        arrivals.close();
        channel.config().setAutoRead(true);
        channel.runPendingTasks();
        assertEquals(List.of(), arrived);
    }
}
