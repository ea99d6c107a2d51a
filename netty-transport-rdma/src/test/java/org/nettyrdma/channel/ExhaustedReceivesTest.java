package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nettyrdma.testkit.Endpoint;
import org.nettyrdma.testkit.TransportFixture;
import org.nettyrdma.verbs.VerbsProvider;
import org.nettyrdma.verbs.iwarp.IwarpProvider;

/** Receives that are missing where the event loop has no memory for the timer that is to post them. */
@Timeout(60)
class ExhaustedReceivesTest extends TransportFixture {

    private static final int MESSAGES = 300;
    /** More often than the loop finds something else to do before it sleeps. */
    private static final int REFUSALS = 1000;
    private static final int TIMEOUT_SECONDS = 30;

    private final FaultyProvider faulty = new FaultyProvider();
    private final Semaphore arrived = new Semaphore(0);

    @Override
    protected VerbsProvider provider() {
        return faulty;
    }

    private Channel listenOn(ExhaustedRdmaEventLoop loop) throws Exception {
        // No other timer is to wake the loop.
        return listen(new ServerBootstrap().group(loop).channel(RdmaServerChannel.class)
                .option(RdmaChannelOption.REQUEST_TIMEOUT_MILLIS, 600_000).childHandler(new ChannelInboundHandlerAdapter() {
            private final Queue<Object> kept = new ArrayDeque<>();

            @Override
            public void channelRead(ChannelHandlerContext ctx, Object message) {
                kept.add(message);
                arrived.release();
            }

            @Override
            public void channelInactive(ChannelHandlerContext ctx) {
                kept.forEach(ReferenceCountUtil::release);
            }
        }));
    }

    @Test
    void shouldPostThemOnceThereIsMemory() throws Exception {
        faulty.sharesReceives = true;
        var loop = new ExhaustedRdmaEventLoop(faulty);
        var clientLoop = new RdmaEventLoopGroup(1, new DefaultThreadFactory("rdma-client"), new IwarpProvider(),
                IdleStrategy.ADAPTIVE); // with other memory
        try {
            Endpoint client = connect(bootstrap(clientLoop), listenOn(loop));
            loop.submit(() -> loop.refuse(0, REFUSALS)).sync();
            faulty.refuseRegistrations = true;
            Queue<ByteBuf> taken = takeAll();
            List<ChannelFuture> writes = new ArrayList<>();
            for (int i = 0; i < MESSAGES; i++) {
                writes.add(client.channel().writeAndFlush(Unpooled.wrappedBuffer(new byte[1])));
            }
            for (ChannelFuture write : writes) {
                write.sync();
            }
            assertTrue(loop.awaitRefusals(TIMEOUT_SECONDS));
            faulty.refuseRegistrations = false;
            taken.forEach(ByteBuf::release);
            assertTrue(arrived.tryAcquire(MESSAGES, TIMEOUT_SECONDS, TimeUnit.SECONDS), arrived + " messages");
            client.channel().close().sync();
        } finally {
            stop(clientLoop);
            loop.shutdownGracefully(0, TIMEOUT_SECONDS, TimeUnit.SECONDS).sync();
        }
    }

    /** All registered memory that is free. */
    private Queue<ByteBuf> takeAll() {
        Queue<ByteBuf> taken = new ArrayDeque<>();
        RegisteredByteBufAllocator allocator = RegisteredByteBufAllocator.of(faulty);
        boolean isRegistered = true;
        while (isRegistered) {
            RegisteredByteBuf buffer = allocator.newUntracked(4096, 4096);
            isRegistered = buffer.block() != null;
            taken.add(buffer);
        }
        return taken;
    }
}
