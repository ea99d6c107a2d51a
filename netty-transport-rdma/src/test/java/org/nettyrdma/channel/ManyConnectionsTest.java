package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.util.ResourceLeakDetector;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.nettyrdma.testkit.Endpoint;
import org.nettyrdma.testkit.TransportFixture;
import org.nettyrdma.verbs.VerbsProvider;

/** A thousand connections, both ends of them on one event loop, and what one end costs while nothing happens on it. */
class ManyConnectionsTest extends TransportFixture {

    private static final int CONNECTIONS = 1000;
    /** As many of them tell what a connection takes once it was used. */
    private static final int USED_CONNECTIONS = 200;
    /** More messages than a send queue has entries: what using them leaves behind counts too. */
    private static final int ROUNDS = 260;
    /** What one end of an idle connection may cost with default options, its part of the shared receives included. */
    private static final long MOST_BYTES_PER_END = 16 << 10;

    private ResourceLeakDetector.Level leakDetection;
    private EventLoopGroup oneLoop;

    /** Recorded traces of every buffer would cost more than the connections. */
    @BeforeEach
    void stopTracing() {
        leakDetection = ResourceLeakDetector.getLevel();
        ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.DISABLED);
        oneLoop = newGroup(1, IdleStrategy.ADAPTIVE);
    }

    @AfterEach
    void traceAgain() throws InterruptedException {
        stop(oneLoop);
        ResourceLeakDetector.setLevel(leakDetection);
    }

    @Override
    protected VerbsProvider provider() {
        return Rdma.provider("iwarp");
    }

    @Sharable
    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ctx.writeAndFlush(message);
        }
    }

    private List<Endpoint> connect(int count, Bootstrap client, RdmaServerChannel server) throws InterruptedException {
        List<Endpoint> endpoints = new ArrayList<>();
        List<ChannelFuture> connects = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Endpoint endpoint = newEndpoint();
            endpoints.add(endpoint);
            connects.add(client.clone().handler(endpoint).connect(addressOf(server)));
        }
        for (ChannelFuture connect : connects) {
            Endpoint.await(connect);
        }
        return endpoints;
    }

    private static void exchange(List<Endpoint> clients, int round) throws InterruptedException {
        for (int i = 0; i < clients.size(); i++) {
            clients.get(i).send(i + "/" + round);
        }
        for (int i = 0; i < clients.size(); i++) {
            assertEquals(i + "/" + round, clients.get(i).awaitText());
        }
    }


    @Test
    void shouldServeAThousandConnectionsOnOneLoop() throws Exception {
        ServerBootstrap bootstrap = serverBootstrap(oneLoop).childHandler(new Echo());
        Bootstrap client = bootstrap(oneLoop);
        RdmaServerChannel server = listen(bootstrap);
        exchange(connect(10, client, server), 0); // loads classes and fills the pools of the loop
        long before = UsedMemory.bytes(() -> 0);
        List<Endpoint> clients = connect(CONNECTIONS, client, server);
        exchange(clients, 0);
        long fresh = UsedMemory.bytes(() -> 0);
        for (int round = 1; round < ROUNDS; round++) {
            exchange(clients.subList(0, USED_CONNECTIONS), round);
        }
        long used = UsedMemory.bytes(() -> 0);
        long bytesPerEnd = (fresh - before) / (2 * CONNECTIONS) + (used - fresh) / (2 * USED_CONNECTIONS);
        System.getLogger(ManyConnectionsTest.class.getName()).log(System.Logger.Level.INFO,
                "{0} bytes for one end of an idle connection", bytesPerEnd);
        assertTrue(bytesPerEnd <= MOST_BYTES_PER_END, () -> bytesPerEnd + " bytes for one end of a connection");
    }
}
