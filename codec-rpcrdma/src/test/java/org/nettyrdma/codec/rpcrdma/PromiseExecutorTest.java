package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nettyrdma.codec.rpcrdma.RpcRdmaPair.awaitValue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledHeapByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultChannelPromise;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.DefaultEventExecutor;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nettyrdma.codec.oncrpc.AcceptStatus;
import org.nettyrdma.codec.oncrpc.OpaqueAuth;
import org.nettyrdma.codec.oncrpc.ReplySpace;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.oncrpc.RpcCallHeader;
import org.nettyrdma.codec.oncrpc.RpcMessage;
import org.nettyrdma.codec.oncrpc.RpcReplyHeader;

/**
 * Promises whose listeners run on an executor of their own, which may be busy for as long as it likes: nothing of the channel
 * waits for them, and nothing of it is done there.
 */
@Timeout(120)
class PromiseExecutorTest {

    private static final int LENGTH = 5000;
    private static final int FIRST_XID = 0x70000001;

    private final DefaultEventExecutor other = new DefaultEventExecutor();
    private final CountDownLatch free = new CountDownLatch(1);
    private RpcRdmaPair pair;

    @AfterEach
    void close() {
        free.countDown();
        if (pair != null) {
            pair.close();
        }
        other.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private void keepBusy() {
        other.execute(() -> {
            try {
                free.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
    }

    private ChannelPromise promise(Channel channel) {
        return new DefaultChannelPromise(channel, other);
    }

    private static ByteBuf call(ByteBuf message, int xid, int procedure, int... arguments) {
        new RpcCallHeader(xid, BulkProgram.PROGRAM, 1, procedure, OpaqueAuth.NONE, OpaqueAuth.NONE).write(message);
        for (int argument : arguments) {
            message.writeInt(argument);
        }
        return message;
    }

    private static ByteBuf call(int xid, int procedure, int... arguments) {
        return call(Unpooled.buffer(), xid, procedure, arguments);
    }

    private void awaitEventLoop() throws Exception {
        pair.channel.eventLoop().submit(() -> { }).get(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS);
    }

    /** Refuses the first message that goes down. */
    private static final class RefusalOfFirst extends ChannelOutboundHandlerAdapter {

        private final IOException cause = new IOException("refused");
        private boolean refused;

        @Override
        public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
            if (refused) {
                ctx.write(msg, promise);
                return;
            }
            refused = true;
            ReferenceCountUtil.release(msg);
            promise.setFailure(cause);
        }
    }

    @Test
    void shouldTakeBackTheMemoryOfACallThatIsNotWritten() throws Exception {
        pair = RpcRdmaPair.of(new BulkProgram(true));
        RefusalOfFirst refusal = new RefusalOfFirst();
        pair.channel.pipeline().addFirst(refusal);
        keepBusy();
        ChannelPromise promise = promise(pair.channel);
        pair.channel.writeAndFlush(call(FIRST_XID, BulkProgram.LOAD, LENGTH, 0), promise);
        awaitEventLoop();
        assertSame(refusal.cause, promise.cause());
        assertEquals(0, pair.client.memory().usedBytes());
        // The XID is free, and so is the credit.
        ChannelPromise again = pair.channel.newPromise();
        pair.channel.writeAndFlush(call(FIRST_XID, BulkProgram.LOAD, LENGTH, 0), again).sync();
    }

    @Test
    void shouldTakeBackTheMemoryOfACallThatIsAnswered() throws Exception {
        Answers answers = new Answers();
        pair = new RpcRdmaPair(ShortSends.server().binding(BulkProgram.BINDING).handlers(pipeline -> pipeline.addLast(answers)),
                ShortSends.client().binding(BulkProgram.BINDING));
        keepBusy();
        pair.call(BulkProgram.LOAD, Unpooled.buffer().writeInt(LENGTH).writeInt(0)).release();
        awaitValue(() -> pair.server.memory().usedBytes(), 0);
        assertTrue(answers.promise.await(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS) && answers.promise.isSuccess());
    }

    /** Answers a call of LOAD. */
    private final class Answers extends ChannelInboundHandlerAdapter {

        private volatile ChannelPromise promise;

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ByteBuf call = (ByteBuf) msg;
            ByteBuf reply = ctx.alloc().buffer(100 + LENGTH);
            new RpcReplyHeader.Accepted(call.readInt(), AcceptStatus.SUCCESS).write(reply);
            call.release();
            reply.writeInt(0).writeInt(LENGTH).writeZero(LENGTH);
            promise = promise(ctx.channel());
            ctx.writeAndFlush(reply, promise);
        }
    }

    @Test
    void shouldGoOnWithTheVersionWhenTheFirstCallIsNotWritten() throws Exception {
        pair = new RpcRdmaPair(ShortSends.server().program(new BulkProgram(true)).versions(VersionPolicy.V2_ONLY),
                ShortSends.client().versions(VersionPolicy.V2_ONLY));
        pair.channel.pipeline().addFirst(new RefusalOfFirst());
        keepBusy();
        pair.channel.writeAndFlush(call(FIRST_XID, BulkProgram.NULL), promise(pair.channel));
        pair.call(BulkProgram.NULL, Unpooled.EMPTY_BUFFER).release();
    }

    /** A message that tells which thread has dropped it. */
    private static final class Dropped extends UnpooledHeapByteBuf {

        private final CompletableFuture<Thread> thread = new CompletableFuture<>();

        Dropped() {
            super(UnpooledByteBufAllocator.DEFAULT, 100, 100);
        }

        @Override
        protected void deallocate() {
            thread.complete(Thread.currentThread());
            super.deallocate();
        }
    }

    private static void requireDroppedOnTheEventLoop(Dropped dropped, ChannelPromise promise) throws Exception {
        Thread loop = promise.channel().eventLoop().submit(Thread::currentThread).get(); // when the call has been taken up
        assertTrue(promise.cancel(false));
        assertSame(loop, dropped.thread.get(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS));
    }

    @Test
    void shouldDropACancelledCallThatWaitsForTheVersionOnTheEventLoop() throws Exception {
        try (RawServer silent = new RawServer(ShortSends.client().versions(VersionPolicy.V2_ONLY))) {
            silent.start(BulkProgram.NULL, Unpooled.EMPTY_BUFFER);
            Dropped message = new Dropped();
            ChannelPromise promise = promise(silent.channel);
            silent.channel.writeAndFlush(call(message, FIRST_XID, BulkProgram.NULL), promise);
            requireDroppedOnTheEventLoop(message, promise);
        }
    }

    @Test
    void shouldDropACancelledCallThatWaitsForACreditOnTheEventLoop() throws Exception {
        BulkProgram program = new BulkProgram(true);
        pair = RpcRdmaPair.of(program);
        // there is one credit until its reply is here
        Future<ByteBuf> first = pair.start(BulkProgram.HANG, Unpooled.EMPTY_BUFFER);
        Dropped message = new Dropped();
        ChannelPromise promise = promise(pair.channel);
        pair.channel.writeAndFlush(call(message, FIRST_XID, BulkProgram.NULL), promise);
        requireDroppedOnTheEventLoop(message, promise);
        answer(program);
        RpcRdmaPair.result(first).release();
        pair.channel.writeAndFlush(call(FIRST_XID, BulkProgram.NULL)).sync(); // its XID is free
    }

    @Test
    void shouldDropACancelledCallThatWaitsForMemoryOnTheEventLoop() throws Exception {
        BulkProgram program = new BulkProgram(true);
        pair = new RpcRdmaPair(ShortSends.server().program(program),
                ShortSends.client().resources(ResourceLimits.DEFAULT.withMaxTotalBytes(LENGTH)));
        ReplySpace space = new ReplySpace(24, List.of(LENGTH));
        pair.channel.writeAndFlush(new RpcMessage(call(FIRST_XID, BulkProgram.HANG), List.of(), space)).sync();
        Dropped message = new Dropped();
        ChannelPromise promise = promise(pair.channel);
        pair.channel.writeAndFlush(new RpcMessage(call(message, FIRST_XID + 1, BulkProgram.NULL), List.of(), space), promise);
        requireDroppedOnTheEventLoop(message, promise);
        answer(program);
        awaitValue(() -> pair.client.memory().usedBytes(), 0);
    }

    private static void answer(BulkProgram program) throws InterruptedException {
        RpcCall call = program.takeHanging();
        call.reply(Unpooled.EMPTY_BUFFER);
    }

    /** What comes after the exposure fails: what was opened to the peer is closed again, and nothing of the call is left. */
    @Test
    void shouldCloseTheMemoryOfACallThatCannotBePutTogether() throws Exception {
        pair = RpcRdmaPair.of(new BulkProgram(true));
        ByteBuf data = pair.registered(new byte[LENGTH]);
        ByteBuf head = call(new UnpooledHeapByteBuf(UnpooledByteBufAllocator.DEFAULT, 100, 100) {
            @Override
            public ByteBuf slice(int index, int length) {
                throw new OutOfMemoryError("no memory for a slice");
            }
        }, FIRST_XID, BulkProgram.STORE, BulkProgram.MARK, LENGTH);
        ByteBuf tail = Unpooled.buffer().writeInt(BulkProgram.MARK);
        ByteBuf message = pair.channel.alloc().compositeBuffer().addComponent(true, head).addComponent(true, data)
                .addComponent(true, tail);
        ChannelPromise promise = pair.channel.newPromise();
        pair.channel.writeAndFlush(message, promise);
        assertTrue(promise.await(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS));
        assertInstanceOf(OutOfMemoryError.class, promise.cause());
        awaitEventLoop();
        awaitValue(data::refCnt, 0);
        assertEquals(0, message.refCnt());
        assertEquals(0, pair.client.memory().usedBytes());
        pair.call(BulkProgram.LOAD, Unpooled.buffer().writeInt(LENGTH).writeInt(0)).release();
    }
}
