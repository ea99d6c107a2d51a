package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ServerChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nettyrdma.verbs.VerbsProvider;

/** How much of a server's memory for receives the connections of one address get. */
@Timeout(60)
class AddressMemoryTest extends StreamFixture {

    private static final int STREAM_BYTES = StreamMemory.BYTES + 2 * StreamRing.FIRST_BLOCK_BYTES;
    private static final int OWN_RECEIVES_BYTES = 128 * 4096;

    private final FaultyProvider provider = new FaultyProvider();
    private final ConnectionMemory memory = RegisteredByteBufAllocator.of(provider).connectionMemory();
    private RdmaEventLoopGroup clients;

    /** That of the servers; clients have memory of their own. */
    @Override
    VerbsProvider provider() {
        return provider;
    }

    @BeforeEach
    void startClients() {
        clients = new RdmaEventLoopGroup(1, new DefaultThreadFactory("clients"), Rdma.provider("iwarp"), IdleStrategy.ADAPTIVE);
    }

    @AfterEach
    void stopClients() throws InterruptedException {
        clients.shutdownGracefully(0, TIMEOUT_SECONDS, TimeUnit.SECONDS);
        assertTrue(clients.awaitTermination(TIMEOUT_SECONDS, TimeUnit.SECONDS), "event loops did not stop");
    }

    private static ServerBootstrap server(RdmaEventLoopGroup group, Class<? extends ServerChannel> type) {
        return new ServerBootstrap().group(group).channel(type).childHandler(new ChannelInboundHandlerAdapter() {
            @Override
            public boolean isSharable() {
                return true;
            }
        });
    }

    private ChannelFuture connect(Class<? extends Channel> type, Channel server, String from) throws InterruptedException {
        ChannelFuture connected = new Bootstrap().group(clients).channel(type).handler(new ChannelInboundHandlerAdapter())
                .connect(server.localAddress(), new InetSocketAddress(from, 0));
        assertTrue(connected.await(TIMEOUT_SECONDS, TimeUnit.SECONDS), "no outcome");
        return connected;
    }

    private long takeAll() {
        return (long) memory.take(Integer.MAX_VALUE, STREAM_BYTES) * STREAM_BYTES + memory.take(Integer.MAX_VALUE, 1);
    }

    private void shouldKeepTheLast(Class<? extends Channel> type, ServerBootstrap bootstrap, int bytes) throws Exception {
        Channel server = bootstrap.bind("127.0.0.1", 0).sync().channel();
        long all = takeAll();
        try {
            memory.giveBack(4L * bytes);
            for (int i = 0; i < 3; i++) {
                assertTrue(connect(type, server, "127.0.0.1").isSuccess());
            }
            assertFalse(connect(type, server, "127.0.0.1").isSuccess());
            assertTrue(connect(type, server, "127.0.0.2").isSuccess());
        } finally {
            memory.giveBack(all - 4L * bytes);
        }
    }

    @Test
    void shouldKeepTheLastForStreamsOfAddressesThatHaveLittle() throws Exception {
        shouldKeepTheLast(RdmaStreamChannel.class, server(group, RdmaServerStreamChannel.class), STREAM_BYTES);
    }

    @Test
    void shouldKeepTheLastForChannelsWithReceivesOfTheirOwnOfAddressesThatHaveLittle() throws Exception {
        shouldKeepTheLast(RdmaChannel.class, server(group, RdmaServerChannel.class)
                .childOption(RdmaChannelOption.SHARED_RECEIVES, false), OWN_RECEIVES_BYTES);
    }

    @Test
    void shouldKeepNothingBackWhereOneAddressMayHaveAllConnections() throws Exception {
        Channel server = server(group, RdmaServerStreamChannel.class).option(RdmaChannelOption.MAX_CONNECTIONS, 100)
                .option(RdmaChannelOption.MAX_CONNECTIONS_PER_ADDRESS, 100).bind("127.0.0.1", 0).sync().channel();
        long all = takeAll();
        try {
            memory.giveBack(4L * STREAM_BYTES);
            for (int i = 0; i < 4; i++) {
                assertTrue(connect(RdmaStreamChannel.class, server, "127.0.0.1").isSuccess());
            }
            assertFalse(connect(RdmaStreamChannel.class, server, "127.0.0.2").isSuccess());
        } finally {
            memory.giveBack(all - 4L * STREAM_BYTES);
        }
    }
}
