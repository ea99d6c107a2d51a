package org.nettyrdma.codec.oncrpc.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.nettyrdma.codec.oncrpc.client.RestartedServer.ECHO;
import static org.nettyrdma.codec.oncrpc.client.RestartedServer.PROGRAM;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.util.concurrent.DefaultEventExecutor;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.nettyrdma.codec.oncrpc.RecordMarkingCodec;
import org.nettyrdma.codec.oncrpc.RpcClient;

/** A client whose {@link RpcClient} has an executor that is busy when it should add it. */
class LateRpcClientTest extends ReconnectingClientFixture {

    private final EventExecutor executor = new DefaultEventExecutor();
    private final CountDownLatch free = new CountDownLatch(1);

    @AfterEach
    void free() {
        free.countDown();
        executor.shutdownGracefully(0, 30, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private Bootstrap bootstrap(Runnable whenActive) {
        executor.submit(() -> free.await(30, TimeUnit.SECONDS));
        return RestartedServer.client(group).handler(new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.pipeline().addLast(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelActive(ChannelHandlerContext ctx) {
                        whenActive.run();
                        ctx.fireChannelActive();
                    }
                }).addLast(new RecordMarkingCodec(1024)).addLast(executor, new RpcClient());
            }
        });
    }

    @Test
    void shouldTryAgainWhereTheServerCannotBeAsked() throws Exception {
        ReconnectingRpcClient client = ReconnectingRpcClient.builder(bootstrap(() -> { }), server::addresses).ping(PROGRAM, 1)
                .policy(QUICK).listener(listener).connect();
        clients.add(client);
        expect("failed");
        free.countDown();
        assertEquals(1, result(client.call(request(ECHO, 1))));
    }

    /** The channel becomes active behind all that hear that it is connected, which those do that have calls for it. */
    @Test
    void shouldSendNoCallBeforeItIsAdded() throws Exception {
        AtomicBoolean called = new AtomicBoolean();
        ReconnectingRpcClient client = ReconnectingRpcClient.builder(bootstrap(free::countDown),
                () -> called.get() ? server.addresses() : List.of()).policy(QUICK).connect();
        clients.add(client);
        Future<ByteBuf> call = client.call(request(ECHO, 1));
        called.set(true);
        assertEquals(1, result(call));
        assertEquals(1, client.statistics().connects());
    }
}
