package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.nettyrdma.codec.rpcrdma.RpcRdmaPair.awaitValue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultChannelPromise;
import io.netty.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nettyrdma.channel.RdmaWrite;
import org.nettyrdma.codec.oncrpc.ExhaustedAllocator;
import org.nettyrdma.codec.oncrpc.RpcConnectionException;
import org.nettyrdma.codec.oncrpc.RpcServerHandler;
import org.nettyrdma.codec.oncrpc.RpcTransportException;

/** Calls and replies that find no memory when they are put together: each ends, and what it had is free. */
@Timeout(60)
class ExhaustedMemoryTest {

    private static final int LENGTH = 5000;
    private static final String NULL_CALL = "0000cafe 00000000 00000002 20000099 00000001 00000000" + "00000000".repeat(4);

    @Test
    void shouldFailTheCallWhoseReplyCannotBePutTogether() throws Exception {
        try (RawServer server = new RawServer(ShortSends.client().binding(BulkProgram.BINDING))) {
            RawServer.Offer offer = server.offer(LENGTH);
            ByteBufAllocator alloc = server.channel.config().getAllocator();
            server.channel.config().setAllocator(new ExhaustedAllocator(0));
            server.peer.send(new RdmaWrite(Unpooled.wrappedBuffer(Bytes.pattern(LENGTH, 1)), offer.segment()));
            server.peer.sendHex(offer.xid() + "00000001 00000020 00000000 00000000 00000001 00000001"
                    + RawPeer.hex(offer.segment().withLength(LENGTH)) + "00000000 00000000" + offer.xid() + RawServer.SUCCESS
                    + "00000000" + String.format("%08x", LENGTH));
            Throwable failure = RpcRdmaPair.failure(offer.call());
            assertInstanceOf(RpcTransportException.class, failure);
            assertInstanceOf(OutOfMemoryError.class, failure.getCause());
            awaitValue(() -> server.client.memory().usedBytes(), 0);

            server.channel.config().setAllocator(alloc);
            Future<ByteBuf> next = server.start(BulkProgram.NULL, Unpooled.EMPTY_BUFFER);
            String xid = server.peer.receiveHex().substring(0, 8);
            server.peer.sendHex(xid + "00000001 00000020 00000000" + RawServer.NO_CHUNKS + xid + RawServer.SUCCESS);
            RpcRdmaPair.result(next).release();
        }
    }

    /** It finds none when it was entered as outstanding, and has no credit yet. */
    @Test
    void shouldForgetTheCallThatCannotBeWritten() throws Exception {
        try (RawServer server = new RawServer(RpcRdma.client().limits(RpcRdmaLimits.DEFAULT.withDefaultReplyChunkBytes(0)))) {
            server.requireAlive(); // calls without chunks take the short path from now on
            ByteBuf call = Bytes.hex(NULL_CALL);
            ChannelPromise promise = new DefaultChannelPromise(server.channel) {
                @Override
                public boolean setUncancellable() {
                    throw new OutOfMemoryError("expected");
                }
            };
            server.channel.write(call, promise);
            assertInstanceOf(OutOfMemoryError.class, promise.await().cause());
            assertEquals(0, call.refCnt());

            server.channel.writeAndFlush(Bytes.hex(NULL_CALL)).sync();
            assertEquals("0000cafe", server.peer.receiveHex().substring(0, 8));
        }
    }

    @Test
    void shouldReleaseReplyOfTheReverseDirectionThatCannotBeReplaced() throws Exception {
        try (RawServer server = new RawServer(ShortSends.client().reverse(1).program(new BulkProgram(true)))) {
            server.channel.config().setAllocator(new ExhaustedAllocator(0));
            ByteBuf reply = Unpooled.buffer().writeBytes(Bytes.hex("00000007" + RawServer.SUCCESS)).writeZero(LENGTH);
            ChannelFuture written = server.channel.writeAndFlush(reply).await();
            assertInstanceOf(OutOfMemoryError.class, written.cause());
            assertEquals(0, reply.refCnt());
        }
    }

    /** Takes the memory away when a reply is written. */
    private static final class Taker extends ChannelOutboundHandlerAdapter {

        @Override
        public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
            ctx.channel().config().setAllocator(new ExhaustedAllocator(0));
            ctx.write(msg, promise);
        }
    }

    @Test
    void shouldEndTheConnectionWhoseReplyCannotBePutTogether() throws Exception {
        RpcRdmaBuilder server = ShortSends.server().binding(BulkProgram.BINDING)
                .handlers(pipeline -> pipeline.addLast(new Taker(), new RpcServerHandler(new BulkProgram(true))));
        try (RpcRdmaPair pair = new RpcRdmaPair(server, ShortSends.client().binding(BulkProgram.BINDING))) {
            Throwable failure = RpcRdmaPair.failure(pair.start(BulkProgram.LOAD_TWO, pair.words(LENGTH, LENGTH)));
            assertInstanceOf(RpcConnectionException.class, failure);
            awaitValue(() -> pair.server.memory().usedBytes(), 0);
            assertEquals(0, pair.client.memory().usedBytes());
        }
    }
}
