package org.nettyrdma.codec.rpcrdma.requester;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.nettyrdma.channel.RdmaRead;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.codec.rpcrdma.ResourceLimits;
import org.nettyrdma.codec.rpcrdma.RpcRdmaLimits;
import org.nettyrdma.codec.rpcrdma.header.ChunkLists;
import org.nettyrdma.codec.rpcrdma.header.ReadChunk;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.NoMsg;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaMessage;
import org.nettyrdma.codec.rpcrdma.legacy.internal.LegacyReplyFetch;
import org.nettyrdma.codec.rpcrdma.shared.ChunkCounters;
import org.nettyrdma.codec.rpcrdma.shared.ConnectionParts;
import org.nettyrdma.verbs.support.ShortHeap;

/** A reply with Read chunks, and no heap: its call ends, and nothing of it is kept. */
class ShortHeapReplyFetchTest {

    @Test
    void shouldEndTheCallWhoseFetchCannotBegin() throws Exception {
        ShortHeap.run(Program.class, "begin");
    }

    @Test
    void shouldEndTheCallWhoseReplyIsHereAndCannotBePassedOn() throws Exception {
        ShortHeap.run(Program.class, "end");
    }

    static final class Program implements ReplyFetch.Owner {

        private static final int LENGTH = 4 * 1024;

        private final List<ByteBuf> sinks = new ArrayList<>();
        private final List<ChannelPromise> reads = new ArrayList<>();
        private int replied;
        private int lost;

        public static void main(String[] arguments) {
            new Program().run("begin".equals(arguments[0]));
        }

        private void run(boolean atBegin) {
            EmbeddedChannel channel = new EmbeddedChannel(new ChannelOutboundHandlerAdapter() {
                @Override
                public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
                    if (msg instanceof RdmaRead read) {
                        sinks.add(read.content());
                        reads.add(promise);
                    } else {
                        ctx.write(msg, promise);
                    }
                }
            }, new ChannelInboundHandlerAdapter());
            ChannelHandlerContext ctx = channel.pipeline().lastContext();
            LegacyReplyFetch fetches = new LegacyReplyFetch(ctx, new ConnectionParts(RpcRdmaLimits.DEFAULT,
                    ResourceLimits.DEFAULT, null, null, new ChunkCounters(), null), this);
            fetches.fetch(call(ctx), reply(1)); // for the classes, and the first of the memory
            fill(sinks.get(0), 1);
            completed(0);
            assertEquals(1, replied);

            RequesterCall call = call(ctx);
            RpcRdmaMessage reply = reply(2);
            if (!atBegin) {
                fetches.fetch(call, reply);
                fill(sinks.get(1), 2);
            }
            ShortHeap.whileFull(() -> {
                try {
                    if (atBegin) {
                        fetches.fetch(call, reply);
                    } else {
                        completed(1);
                    }
                } catch (OutOfMemoryError e) {
                    // Nor is there heap to tell of it.
                }
            });
            assertEquals(1, replied);
            assertEquals(1, lost);
            sinks.forEach(sink -> assertEquals(0, sink.refCnt()));
            fetches.close();
            assertEquals(1, lost);
        }

        private void completed(int read) {
            sinks.get(read).release(); // the reference of the device
            reads.get(read).setSuccess();
        }

        private static RequesterCall call(ChannelHandlerContext ctx) {
            return new RequesterCall(null, ctx);
        }

        private static RpcRdmaMessage reply(int xid) {
            ReadChunk whole = new ReadChunk(0, List.of(new RemoteSegment(1, LENGTH, 0)));
            NoMsg header = new NoMsg(xid, 1, new ChunkLists(List.of(whole), List.of(), null));
            return RpcRdmaMessage.reply(header, Unpooled.EMPTY_BUFFER);
        }

        /** What the device would have read: an RPC header as far as it is looked at. */
        private static void fill(ByteBuf sink, int xid) {
            sink.setInt(0, xid).setInt(Integer.BYTES, 1);
        }

        @Override
        public void replied(RequesterCall call, RpcRdmaMessage reply) {
            replied++;
            reply.release();
        }

        @Override
        public void lost(RequesterCall call) {
            lost++;
        }
    }
}
