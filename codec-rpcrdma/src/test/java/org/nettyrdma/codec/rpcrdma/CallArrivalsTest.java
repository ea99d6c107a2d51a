package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.Test;
import org.nettyrdma.channel.RdmaRead;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.Msg;
import org.nettyrdma.handler.credit.CreditedMessage.Role;

/** The end of fetches, over a channel whose RDMA Reads complete when the test says so. */
class CallArrivalsTest {

    private static final int INLINE_BYTES = 44;
    private static final int CHUNK_BYTES = 64;

    private final Queue<ChannelPromise> reads = new ArrayDeque<>();
    private final List<Integer> arrived = new ArrayList<>();
    private int readBatches;
    private final ChannelInboundHandlerAdapter place = new ChannelInboundHandlerAdapter();
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
    private final CallArrivals arrivals = new CallArrivals(channel.pipeline().context(place), RpcRdmaLimits.DEFAULT,
            ResourceLimits.DEFAULT, new MemoryBudget(1 << 20), new UpperLayerBindings(List.of()), new ChunkStatistics(),
            new CallArrivals.Owner() {
                @Override
                public void arrived(int xid, ChunkLists chunks, ByteBuf message) {
                    assertEquals(INLINE_BYTES + CHUNK_BYTES, message.readableBytes());
                    arrived.add(xid);
                    message.release();
                }

                @Override
                public void unusable(RpcRdmaMessage call, RpcRdmaException cause) {
                    throw new AssertionError(cause);
                }

                @Override
                public void violatesBinding(int xid, ChunkLists chunks, ByteBuf message) {
                    throw new AssertionError("no binding");
                }
            });

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
}
