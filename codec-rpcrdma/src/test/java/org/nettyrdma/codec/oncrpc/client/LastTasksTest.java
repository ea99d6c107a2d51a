package org.nettyrdma.codec.oncrpc.client;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.SingleThreadEventExecutor;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.nettyrdma.codec.oncrpc.RpcConnectionException;

/** A client whose event loop runs its last tasks: timers that these make it leaves behind, and does not let be cancelled. */
class LastTasksTest extends ReconnectingClientFixture {

    @Test
    void shouldEndTheCallsThatAreMadeInThem() throws Exception {
        EventLoopGroup own = new NioEventLoopGroup(1);
        ReconnectingRpcClient client = ReconnectingRpcClient.builder(RestartedServer.client(own), List::of).policy(QUICK)
                .connect();
        SingleThreadEventExecutor loop = (SingleThreadEventExecutor) own.next();
        CompletableFuture<Future<ByteBuf>> made = new CompletableFuture<>();
        loop.addShutdownHook(new Runnable() {
            @Override
            public void run() {
                if (loop.isShutdown()) {
                    made.complete(client.call(request(RestartedServer.ECHO, 1)));
                } else {
                    loop.execute(() -> loop.addShutdownHook(this)); // it runs hooks more than once
                }
            }
        });
        own.shutdownGracefully(0, 30, TimeUnit.SECONDS).sync();

        assertInstanceOf(RpcConnectionException.class, failure(made.get(30, TimeUnit.SECONDS)));
        assertTrue(client.closeFuture().await(30, TimeUnit.SECONDS));
    }
}
