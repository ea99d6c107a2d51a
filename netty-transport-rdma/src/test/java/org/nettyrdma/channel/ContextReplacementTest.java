package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nettyrdma.channel.RdmaChannelStatistics.Counter;
import org.nettyrdma.testkit.Endpoint;
import org.nettyrdma.testkit.TransportFixture;
import org.nettyrdma.verbs.VerbsProvider;
import org.nettyrdma.verbs.iwarp.IwarpProvider;

/** Clients that connect again as soon as their connection ends, where what ends it is the failure of their loop's context. */
@Timeout(120)
class ContextReplacementTest extends TransportFixture {

    private static final int CLIENTS = 3;
    /** Large ones, of which only few are posted. */
    private static final int RECEIVE_BYTES = 64 * 1024;
    private static final int MORE_THAN_POSTED = 500;

    private final VerbsProvider serverProvider = new IwarpProvider();
    private final FaultyProvider faulty = new FaultyProvider();
    private RdmaEventLoopGroup clients;
    private volatile boolean stopped;
    private final AtomicInteger attempts = new AtomicInteger();
    private final Queue<Endpoint> asked = new ConcurrentLinkedQueue<>();
    private final BlockingQueue<Endpoint> connected = new LinkedBlockingQueue<>();

    @Override
    protected VerbsProvider provider() {
        return serverProvider;
    }

    @AfterEach
    void stopClients() throws InterruptedException {
        stopped = true;
        stop(clients);
    }

    private void startClients() throws Exception {
        faulty.sharesReceives = true;
        clients = new RdmaEventLoopGroup(1, new DefaultThreadFactory("rdma-client"), faulty, IdleStrategy.ADAPTIVE);
        Channel server = listen(serverBootstrap());
        Bootstrap bootstrap = bootstrap(clients).remoteAddress(addressOf(server))
                .option(RdmaChannelOption.RECEIVE_BUFFER_SIZE, RECEIVE_BYTES);
        for (int i = 0; i < CLIENTS; i++) {
            connectForEver(bootstrap);
        }
    }

    private void connectForEver(Bootstrap bootstrap) {
        if (!stopped) {
            attempts.incrementAndGet();
            Endpoint endpoint = newEndpoint();
            ChannelFuture future = bootstrap.clone().handler(endpoint).connect();
            future.addListener(done -> {
                if (done.isSuccess()) {
                    asked.add(endpoint);
                    connected.add(endpoint);
                }
            });
            future.channel().closeFuture().addListener(closed -> connectForEver(bootstrap));
        }
    }

    /** The two ends of each connection; they come in any order. */
    private List<Connection> awaitConnections() throws Exception {
        List<Connection> connections = new ArrayList<>();
        List<Endpoint> servers = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            servers.add(awaitAccepted());
        }
        for (int i = 0; i < CLIENTS; i++) {
            Endpoint client = connected.poll(Endpoint.TIMEOUT_SECONDS, TimeUnit.SECONDS);
            assertNotNull(client, "not connected again");
            Endpoint server = servers.stream()
                    .filter(each -> each.channel().remoteAddress().equals(client.channel().localAddress())).findAny().get();
            connections.add(new Connection(client, server));
        }
        return connections;
    }

    private void failContext(Connection one) {
        faulty.nextPollFailure = new IOException("device removed");
        one.client().channel().eventLoop().execute(() -> { });
    }

    /** More arrives in one turn of the loop than there are receives. */
    private static void exhaustReceives(Connection connection) throws Exception {
        CountDownLatch arrived = new CountDownLatch(1);
        connection.client().channel().eventLoop().execute(() -> {
            try {
                arrived.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        try {
            List<ChannelFuture> futures = new ArrayList<>();
            for (int i = 0; i < MORE_THAN_POSTED; i++) {
                futures.add(connection.server().send("to client " + i));
            }
            for (ChannelFuture future : futures) {
                Endpoint.await(future);
            }
        } finally {
            arrived.countDown();
        }
        for (int i = 0; i < MORE_THAN_POSTED; i++) {
            assertEquals("to client " + i, connection.client().awaitText());
        }
    }

    private static void exchange(List<Connection> connections) throws Exception {
        for (Connection connection : connections) {
            connection.client().send("to server");
            assertEquals("to server", connection.server().awaitText());
            exhaustReceives(connection);
        }
    }

    @Test
    void shouldServeClientsThatConnectAgainWhenTheirContextFails() throws Exception {
        startClients();
        List<Connection> first = awaitConnections();
        exchange(first);
        failContext(first.get(0));
        List<Connection> second = awaitConnections();
        exchange(second);
        failContext(second.get(0));
        exchange(awaitConnections());
        assertEquals(3 * CLIENTS, attempts.get(), "each has connected again at once");
        assertEquals(3, faulty.contexts.get());
        stopped = true;
        for (Endpoint endpoint : asked) {
            endpoint.channel().close();
            Endpoint.await(endpoint.channel().releaseFuture());
            assertEquals(0, endpoint.count(Counter.BUFFERS_LEAKED_ON_PURPOSE));
        }
        assertEquals(0, RegisteredByteBufAllocator.of(faulty).connectionMemory().receiveBytes());
    }

    @Test
    void shouldConnectAgainOnceThereIsAContext() throws Exception {
        startClients();
        List<Connection> first = awaitConnections();
        faulty.refuseContexts = true;
        failContext(first.get(0));
        for (Connection connection : first) {
            connection.server().awaitInactive();
        }
        awaitTrue(() -> attempts.get() > 2 * CLIENTS, "some were told that there is none");
        faulty.refuseContexts = false;
        exchange(awaitConnections());
        stopped = true;
        for (Endpoint endpoint : asked) {
            endpoint.channel().close();
            Endpoint.await(endpoint.channel().releaseFuture());
            assertEquals(0, endpoint.count(Counter.BUFFERS_LEAKED_ON_PURPOSE));
        }
        assertTrue(asked.size() >= 2 * CLIENTS);
        assertEquals(0, RegisteredByteBufAllocator.of(faulty).connectionMemory().receiveBytes());
    }
}
