package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.util.concurrent.Future;
import java.net.SocketAddress;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaEventLoopGroup;
import org.nettyrdma.channel.RdmaServerChannel;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.oncrpc.SingleVersionProgram;

/** A server that closes connections which nobody uses. */
@Timeout(60)
class IdleConnectionTest {

    private static final int PROGRAM = 0x20000001;
    private static final long IDLE_MILLIS = 400;

    private final RdmaEventLoopGroup loops = new RdmaEventLoopGroup(2);
    private final BlockingQueue<RpcCall> calls = new LinkedBlockingQueue<>();
    private SocketAddress server;

    @BeforeEach
    void listen() throws InterruptedException {
        RpcRdma handlers = ShortSends.server().idleTimeoutMillis(IDLE_MILLIS).program(new SingleVersionProgram() {
            @Override
            public int program() {
                return PROGRAM;
            }

            @Override
            public void call(RpcCall call) {
                calls.add(call); // whoever takes it answers it
            }
        }).build();
        server = new ServerBootstrap().group(loops).channel(RdmaServerChannel.class).childHandler(handlers)
                .bind(RawPeer.loopback()).sync().channel().localAddress();
    }

    private Channel connect() throws InterruptedException {
        return new Bootstrap().group(loops).channel(RdmaChannel.class).handler(ShortSends.client().build())
                .connect(server).sync().channel();
    }

    @AfterEach
    void stop() throws InterruptedException {
        loops.shutdownGracefully(0, 30, TimeUnit.SECONDS).sync();
    }

    @Test
    void shouldCloseAConnectionOnWhichNothingMoves() throws InterruptedException {
        connect().closeFuture().sync();
    }

    @Test
    void shouldWaitForTheCallThatIsInProgress() throws Exception {
        Channel client = null;
        Future<ByteBuf> answer = null;
        RpcCall call = null;
        while (call == null) { // where this thread had no processor for so long, the connection was closed before the call
            client = connect();
            RpcClient caller = client.pipeline().get(RpcClient.class);
            if (caller == null) {
                continue; // closed already
            }
            answer = caller.call(new RpcRequest(PROGRAM, 1, 1, client.alloc().buffer().writeInt(42)));
            while (call == null && !answer.isDone()) {
                call = calls.poll(1, TimeUnit.MILLISECONDS);
            }
        }
        boolean closed = client.closeFuture().await(3 * IDLE_MILLIS, TimeUnit.MILLISECONDS);
        assertEquals(false, closed);
        call.reply(client.alloc().buffer().writeInt(43));
        ByteBuf result = answer.sync().getNow();
        assertEquals(43, result.readInt());
        result.release();
        assertTrue(client.closeFuture().await(30, TimeUnit.SECONDS));
    }
}
