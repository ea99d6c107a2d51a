package org.nettyrdma.codec.oncrpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.local.LocalAddress;
import io.netty.channel.local.LocalChannel;
import io.netty.channel.local.LocalServerChannel;
import io.netty.util.concurrent.Future;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Calls and replies of other threads that the queue of the event loop has no memory for. */
class ReplyHandOverTest {

    private static final int SECONDS = 20;
    private static final int MAX_BYTES_IN_PROGRESS = 4000;
    private static final int REFUSED = 2;
    private static final int ANSWERED_BEFORE = 3;

    private final ExhaustedEventLoop loop = new ExhaustedEventLoop();
    private final ExhaustedEventLoop serverLoop = new ExhaustedEventLoop();
    private final ExecutorService executor = Executors.newSingleThreadExecutor();
    private final RpcClient client = new RpcClient();
    private final ByteBuf results = Unpooled.buffer(2000).writeZero(2000); // so many that they are not copied
    private final CountDownLatch replied = new CountDownLatch(1);
    private RpcServerHandler server;
    private Channel channel;

    private void connect(int tasksToRefuse, long serveTimeoutMillis) {
        TestProgram program = new TestProgram(1, 1, 1, call -> {
            serverLoop.submit(() -> { }).syncUninterruptibly(); // now the call is known to be unanswered
            if (call.procedure() == ANSWERED_BEFORE) {
                call.reply(Unpooled.EMPTY_BUFFER);
                serverLoop.submit(() -> { }).syncUninterruptibly(); // written
                serverLoop.submit(() -> { }).syncUninterruptibly(); // and flushed
                serverLoop.refuseTasks(tasksToRefuse);
                return;
            }
            serverLoop.refuseTasks(tasksToRefuse);
            if (call.procedure() == REFUSED) {
                call.channel().config().setAllocator(new ExhaustedAllocator(0));
                call.replyProcedureUnavailable();
            } else {
                call.reply(results);
            }
            serverLoop.refuseTasks(0);
            replied.countDown();
        });
        server = new RpcServerHandler(List.of(program), executor, MAX_BYTES_IN_PROGRESS, serveTimeoutMillis);
        LocalAddress address = new LocalAddress(getClass().getName());
        new ServerBootstrap().group(serverLoop).channel(LocalServerChannel.class).childHandler(new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel accepted) {
                accepted.pipeline().addLast(server);
            }
        }).bind(address).syncUninterruptibly();
        channel = new Bootstrap().group(loop).channel(LocalChannel.class).handler(client).connect(address).syncUninterruptibly()
                .channel();
    }

    @AfterEach
    void end() {
        channel.close().syncUninterruptibly();
        executor.shutdownNow();
        loop.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS).syncUninterruptibly();
        serverLoop.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private static void assertLost(Future<ByteBuf> call) throws InterruptedException {
        assertTrue(call.await(SECONDS, TimeUnit.SECONDS));
        assertInstanceOf(RpcConnectionException.class, call.cause());
    }

    @Test
    void shouldCloseWhereAReplyIsNotTaken() throws Exception {
        connect(1, 0);
        assertLost(client.call(new RpcRequest(1, 1, 1)));
        assertEquals(0, results.refCnt());
        assertEquals(1, server.statistics().lostReplies());
    }

    @Test
    void shouldCloseWithTheNextCallWhereTheCloseIsNotTakenEither() throws Exception {
        connect(2, 0);
        Future<ByteBuf> call = client.call(new RpcRequest(1, 1, 1));
        assertTrue(replied.await(SECONDS, TimeUnit.SECONDS));
        assertEquals(0, results.refCnt());
        assertLost(client.call(new RpcRequest(1, 1, 1)));
        assertLost(call);
        assertEquals(1, server.statistics().lostReplies());
        assertEquals(1, server.statistics().calls());
    }

    @Test
    void shouldCloseWhenTheCallIsOverdueWhereTheCloseIsNotTakenEither() throws Exception {
        connect(2, 100);
        assertLost(client.call(new RpcRequest(1, 1, 1)));
        assertEquals(1, server.statistics().lostReplies());
        assertEquals(0, server.statistics().overdueCalls());
    }

    @Test
    void shouldCloseWithTheNextCallWhereARefusalCannotBeMade() throws Exception {
        connect(1, 0);
        Future<ByteBuf> call = client.call(new RpcRequest(1, 1, REFUSED));
        assertTrue(replied.await(SECONDS, TimeUnit.SECONDS));
        assertLost(client.call(new RpcRequest(1, 1, 1)));
        assertLost(call);
        assertEquals(1, server.statistics().lostReplies());
        results.release();
    }

    @Test
    void shouldCloseWhereReadingCannotGoOn() throws Exception {
        connect(1, 0);
        ByteBuf arguments = Unpooled.buffer(MAX_BYTES_IN_PROGRESS).writeZero(MAX_BYTES_IN_PROGRESS);
        client.call(new RpcRequest(1, 1, ANSWERED_BEFORE, arguments.writeInt(1))).get(SECONDS, TimeUnit.SECONDS).release();
        assertLost(client.call(new RpcRequest(1, 1, ANSWERED_BEFORE)));
        results.release();
    }

    @Test
    void shouldFailACallThatIsNotTaken() throws Exception {
        connect(0, 0);
        ByteBuf arguments = Unpooled.buffer(4).writeInt(1);
        Future<ByteBuf> call = executor.submit(() -> {
            loop.refuseTasks(1);
            return client.call(new RpcRequest(1, 1, 1, arguments));
        }).get(SECONDS, TimeUnit.SECONDS);
        assertLost(call);
        assertFalse(((RpcConnectionException) call.cause()).mayHaveBeenSent());
        assertInstanceOf(OutOfMemoryError.class, call.cause().getCause());
        assertEquals(0, arguments.refCnt());
    }
}
