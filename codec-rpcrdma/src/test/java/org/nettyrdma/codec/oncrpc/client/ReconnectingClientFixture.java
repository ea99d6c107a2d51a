package org.nettyrdma.codec.oncrpc.client;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nettyrdma.codec.oncrpc.client.RestartedServer.PROGRAM;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.util.concurrent.Future;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.oncrpc.RpcRequest;

/** A server over TCP that can be stopped and started, and clients that come back to it. */
@Timeout(60)
abstract class ReconnectingClientFixture {

    static final ReconnectPolicy QUICK = ReconnectPolicy.DEFAULT.withDelayMillis(1, 20).withCallTimeoutMillis(30_000);

    final EventLoopGroup group = new NioEventLoopGroup(3);
    final List<ReconnectingRpcClient> clients = new ArrayList<>();
    final BlockingQueue<String> events = new LinkedBlockingQueue<>();
    final ReconnectListener listener = new ReconnectListener() {
        @Override
        public void connected(SocketAddress server) {
            events.add("connected");
        }

        @Override
        public void connectionLost(SocketAddress server, Throwable cause) {
            events.add("lost");
        }

        @Override
        public void connectFailed(SocketAddress server, Throwable cause, long retryMillis) {
            events.add("failed");
        }
    };
    RestartedServer server;

    @BeforeEach
    void start() throws Exception {
        server = new RestartedServer(group);
    }

    @AfterEach
    void shutDown() throws Exception {
        for (ReconnectingRpcClient client : clients) {
            client.close();
            client.closeFuture().sync();
        }
        server.close();
        group.shutdownGracefully(0, 30, TimeUnit.SECONDS).sync();
    }

    ReconnectingRpcClient connect(ReconnectPolicy policy, int connections) {
        ReconnectingRpcClient client = ReconnectingRpcClient.builder(RestartedServer.client(group), server::addresses)
                .policy(policy).connections(connections).listener(listener).connect();
        clients.add(client);
        return client;
    }

    void expect(String event) throws InterruptedException {
        for (String next = ""; !event.equals(next);) {
            next = events.poll(30, TimeUnit.SECONDS);
            if (next == null) {
                throw new AssertionError("not told: " + event);
            }
        }
    }

    static RpcRequest request(int procedure, int value) {
        return new RpcRequest(PROGRAM, 1, procedure, ByteBufAllocator.DEFAULT.buffer().writeInt(value));
    }

    static int result(Future<ByteBuf> call) throws Exception {
        ByteBuf results = call.get(30, TimeUnit.SECONDS);
        int value = results.readInt();
        results.release();
        return value;
    }

    static Throwable failure(Future<ByteBuf> call) throws InterruptedException {
        assertTrue(call.await(30, TimeUnit.SECONDS));
        assertFalse(call.isSuccess());
        return call.cause();
    }

    RpcCall held() throws InterruptedException {
        RpcCall call = server.held.poll(30, TimeUnit.SECONDS);
        assertTrue(call != null, "the call has not arrived");
        return call;
    }
}
