package org.nettyrdma.codec.rpcrdma.responder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledHeapByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaRead;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.codec.oncrpc.MemoryBudget;
import org.nettyrdma.codec.rpcrdma.ResourceLimits;
import org.nettyrdma.codec.rpcrdma.RpcRdmaLimits;
import org.nettyrdma.codec.rpcrdma.RpcRdmaPrivateData;
import org.nettyrdma.codec.rpcrdma.VersionPolicy;
import org.nettyrdma.codec.rpcrdma.connection.NegotiatedConnection;
import org.nettyrdma.codec.rpcrdma.header.ChunkLists;
import org.nettyrdma.codec.rpcrdma.header.PropertySet;
import org.nettyrdma.codec.rpcrdma.header.ReadChunk;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Msg;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaMessage;
import org.nettyrdma.codec.rpcrdma.header.WriteChunk;
import org.nettyrdma.codec.rpcrdma.shared.BindingTable;
import org.nettyrdma.codec.rpcrdma.shared.ChunkCounters;
import org.nettyrdma.codec.rpcrdma.shared.ConnectionParts;
import org.nettyrdma.handler.credit.CreditedMessage.Role;

/** An application that has AUTO_READ off gets one call for each read, over a channel whose RDMA Reads complete on demand. */
class CallDemandTest {

    private static final int INLINE_BYTES = 44;
    private static final int CHUNK_BYTES = 64;
    private static final RemoteSegment SEGMENT = new RemoteSegment(7, CHUNK_BYTES, 0);

    /** How the call comes that satisfies a read while another is being fetched. */
    private enum Other {
        INLINE(ChunkLists.EMPTY),
        WITH_WRITE_CHUNK(new ChunkLists(List.of(), List.of(new WriteChunk(List.of(SEGMENT))), null));

        private final ChunkLists chunks;

        Other(ChunkLists chunks) {
            this.chunks = chunks;
        }
    }

    private final Queue<ChannelPromise> fetches = new ArrayDeque<>();
    private final List<Integer> delivered = new ArrayList<>();
    private boolean isReplyForNobody;
    private final EmbeddedChannel channel = new EmbeddedChannel(
            new ChannelOutboundHandlerAdapter() {
                @Override
                public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
                    ((RdmaRead) msg).release();
                    fetches.add(promise);
                }
            },
            new ResponderChunkHandler(new ConnectionParts(RpcRdmaLimits.DEFAULT, ResourceLimits.DEFAULT,
                    new MemoryBudget(1 << 20), new BindingTable(List.of()), new ChunkCounters(), new NegotiatedConnection(
                    new RdmaChannel(), true, VersionPolicy.V1_ONLY, RpcRdmaPrivateData.NONE, 4096,
                    PropertySet.EMPTY)), null),
            new ChannelInboundHandlerAdapter() {
                @Override
                public void channelRead(ChannelHandlerContext ctx, Object msg) {
                    if (msg instanceof ByteBuf call) {
                        delivered.add(call.getInt(0));
                    } else if (isReplyForNobody) {
                        ctx.read();
                    }
                    ReferenceCountUtil.release(msg);
                }
            });

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
    }

    private void receive(int xid, ChunkLists chunks) {
        receive(Role.REQUEST, xid, chunks);
    }

    private void receive(Role role, int xid, ChunkLists chunks) {
        ByteBuf inline = Unpooled.directBuffer().writeInt(xid).writeInt(0).writeZero(INLINE_BYTES - 8);
        channel.pipeline().fireChannelRead(RpcRdmaMessage.of(role, new Msg(xid, 1, chunks), inline));
        channel.pipeline().fireChannelReadComplete();
    }

    private void receiveToFetch(int xid) {
        receive(xid, new ChunkLists(List.of(new ReadChunk(INLINE_BYTES, List.of(SEGMENT))), List.of(), null));
    }

    @ParameterizedTest
    @EnumSource
    void shouldHoldFetchedCallWhenAnotherHasSatisfiedTheRead(Other other) {
        receiveToFetch(1);
        channel.config().setAutoRead(false);
        channel.read();
        receive(2, other.chunks);
        fetches.remove().setSuccess();
        assertEquals(List.of(2), delivered);

        channel.read();
        channel.runPendingTasks();
        assertEquals(List.of(2, 1), delivered);
    }

    /** Whoever keeps a reply that is for nobody asks for another message. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldHoldFetchedCallWhenAReplyOfTheOtherDirectionHasSatisfiedTheRead(boolean isForNobody) {
        isReplyForNobody = isForNobody;
        receiveToFetch(1);
        channel.config().setAutoRead(false);
        channel.read();
        receive(Role.RESPONSE, 2, ChunkLists.EMPTY);
        fetches.remove().setSuccess();
        assertEquals(isForNobody ? List.of(1) : List.of(), delivered);

        channel.read();
        channel.runPendingTasks();
        assertEquals(List.of(1), delivered);
    }

    /** Its caller would wait in vain, and has lost a credit. */
    @Test
    void shouldEndTheConnectionWhereACallCannotBeKept() {
        ByteBuf call = new UnpooledHeapByteBuf(UnpooledByteBufAllocator.DEFAULT, 100, 100) {
            @Override
            public int getInt(int index) {
                throw new OutOfMemoryError("expected");
            }
        }.writeZero(100);
        channel.pipeline().fireChannelRead(RpcRdmaMessage.of(Role.REQUEST, new Msg(1, 1, Other.WITH_WRITE_CHUNK.chunks), call));
        assertThrows(OutOfMemoryError.class, channel::checkException);
        assertEquals(0, call.refCnt());
        assertFalse(channel.isOpen());
    }

    @Test
    void shouldDeliverFetchedCallToReadThatNoOtherHasSatisfied() {
        receiveToFetch(1);
        channel.config().setAutoRead(false);
        channel.read();
        fetches.remove().setSuccess();
        assertEquals(List.of(1), delivered);

        receive(2, ChunkLists.EMPTY);
        assertEquals(List.of(1, 2), delivered, "what the channel passes on has been asked for");
    }
}
