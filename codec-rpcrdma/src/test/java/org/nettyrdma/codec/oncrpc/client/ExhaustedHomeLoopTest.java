package org.nettyrdma.codec.oncrpc.client;

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
import io.netty.channel.DefaultEventLoopGroup;
import io.netty.channel.EventLoop;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.local.LocalAddress;
import io.netty.channel.local.LocalChannel;
import io.netty.channel.local.LocalServerChannel;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nettyrdma.codec.oncrpc.ExhaustedEventLoop;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcConnectionException;
import org.nettyrdma.codec.oncrpc.RpcProgram;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.oncrpc.RpcServerHandler;
import org.nettyrdma.codec.oncrpc.SingleVersionProgram;

/** A client whose event loop has no memory for what becomes of its connections and calls. */
@Timeout(60)
class ExhaustedHomeLoopTest {

    private static final int SECONDS = 20;
    private static final int PROGRAM = 7;
    private static final LocalAddress ADDRESS = new LocalAddress(ExhaustedHomeLoopTest.class.getName());
    private static final ReconnectPolicy QUICK = ReconnectPolicy.DEFAULT.withDelayMillis(1, 20).withCallTimeoutMillis(30_000);

    private final List<ExhaustedEventLoop> loops = new ArrayList<>();
    private final DefaultEventLoopGroup group = new DefaultEventLoopGroup(2) {
        @Override
        protected EventLoop newChild(Executor executor, Object... arguments) {
            ExhaustedEventLoop loop = new ExhaustedEventLoop();
            loops.add(loop);
            return loop;
        }
    };
    private final DefaultEventLoopGroup serverGroup = new DefaultEventLoopGroup(1);
    private final ChannelGroup accepted = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    private final BlockingQueue<RpcCall> held = new LinkedBlockingQueue<>();
    private final BlockingQueue<String> events = new LinkedBlockingQueue<>();
    private ExhaustedEventLoop home;
    private ExhaustedEventLoop other;
    private Channel listener;
    private ReconnectingRpcClient client;

    @BeforeEach
    void listen() {
        home = loops.get(0); // that of a client is the next one of its group
        other = loops.get(1);
        RpcProgram program = new SingleVersionProgram() {
            @Override
            public int program() {
                return PROGRAM;
            }

            @Override
            public void call(RpcCall call) {
                held.add(call);
            }
        };
        listener = new ServerBootstrap().group(serverGroup).channel(LocalServerChannel.class)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        accepted.add(channel);
                        channel.pipeline().addLast(new RpcServerHandler(program));
                    }
                }).bind(ADDRESS).syncUninterruptibly().channel();
    }

    @AfterEach
    void end() throws Exception {
        listener.close().sync();
        client.close();
        boolean isClosed = client.closeFuture().await(SECONDS, TimeUnit.SECONDS);
        group.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS).sync();
        serverGroup.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS).sync();
        assertTrue(isClosed);
    }

    private void connect() throws InterruptedException {
        Bootstrap bootstrap = new Bootstrap().group(group).channel(LocalChannel.class).handler(new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.pipeline().addLast(new RpcClient());
            }
        });
        client = ReconnectingRpcClient.builder(bootstrap, ADDRESS).policy(QUICK).connections(2)
                .listener(new ReconnectListener() {
                    @Override
                    public void connected(SocketAddress server) {
                        events.add("connected");
                    }

                    @Override
                    public void connectionLost(SocketAddress server, Throwable cause) {
                        events.add("lost");
                    }
                }).connect();
        expectTwo("connected");
        serverGroup.submit(() -> { }).sync(); // a client is connected a moment before its server's channel is in the group
    }

    private void expectTwo(String event) throws InterruptedException {
        for (int i = 0; i < 2; i++) {
            assertEquals(event, events.poll(SECONDS, TimeUnit.SECONDS));
        }
    }

    /** The event loop of the client does not take what the other one brings it next. */
    private void refuse(int count) throws InterruptedException {
        other.submit(() -> home.refuseTasks(count)).sync();
    }

    private void assertRefused() throws Exception {
        assertEquals(0, other.submit(home::tasksToRefuse).get());
    }

    private Future<ByteBuf> call() {
        return client.call(new RpcRequest(PROGRAM, 1, 1, Unpooled.buffer(4).writeInt(1)));
    }

    private void answerOne() throws InterruptedException {
        held.poll(SECONDS, TimeUnit.SECONDS).reply(Unpooled.EMPTY_BUFFER);
    }

    private static void assertAnswered(Future<ByteBuf> call) throws Exception {
        call.get(SECONDS, TimeUnit.SECONDS).release();
    }

    @Test
    void shouldTakeUpAConnectionLater() throws Exception {
        refuse(2);
        connect();
        assertRefused();
    }

    @Test
    void shouldTakeUpTheEndOfACallLater() throws Exception {
        connect();
        List<Future<ByteBuf>> calls = List.of(call(), call()); // one on each connection
        refuse(1);
        answerOne();
        answerOne();
        for (Future<ByteBuf> call : calls) {
            assertAnswered(call);
        }
        assertRefused();
        assertEquals(0, client.statistics().calls());
    }

    @Test
    void shouldTakeUpTheEndOfAConnectionLater() throws Exception {
        connect();
        refuse(1);
        accepted.close().sync();
        List<String> seen = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            seen.add(events.poll(SECONDS, TimeUnit.SECONDS));
        }
        seen.sort(null);
        assertEquals(List.of("connected", "connected", "lost", "lost"), seen);
        assertRefused();
    }

    @Test
    void shouldConnectAgainWithTheNextCallWhereThereIsNoTimerForThat() throws Exception {
        connect();
        home.submit(() -> home.refuseTimers(2)).sync();
        accepted.close().sync();
        expectTwo("lost");
        Future<ByteBuf> call = call();
        expectTwo("connected");
        answerOne();
        assertAnswered(call);
    }

    @Test
    void shouldFailACallThatCanHaveNoTimer() throws Exception {
        connect();
        listener.close().sync();
        accepted.close().sync();
        expectTwo("lost");
        ByteBuf arguments = Unpooled.buffer(4).writeInt(1);
        Future<ByteBuf> call = home.submit(() -> {
            home.refuseTimers(1);
            return client.call(new RpcRequest(PROGRAM, 1, 1, arguments));
        }).get(SECONDS, TimeUnit.SECONDS);
        assertTrue(call.await(SECONDS, TimeUnit.SECONDS));
        assertFalse(assertInstanceOf(RpcConnectionException.class, call.cause()).mayHaveBeenSent());
        assertEquals(0, arguments.refCnt());
        assertEquals(0, client.statistics().calls());
    }

    @Test
    void shouldFailACallThatIsNotTakenFromAnotherThread() throws Exception {
        connect();
        ByteBuf arguments = Unpooled.buffer(4).writeInt(1);
        home.refuseTasks(1);
        Future<ByteBuf> call = client.call(new RpcRequest(PROGRAM, 1, 1, arguments));
        assertFalse(assertInstanceOf(RpcConnectionException.class, call.cause()).mayHaveBeenSent());
        assertEquals(0, arguments.refCnt());
    }
}
