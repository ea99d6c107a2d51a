package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nettyrdma.codec.rpcrdma.RpcRdmaPair.awaitValue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nettyrdma.channel.IdleStrategy;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaEventLoopGroup;
import org.nettyrdma.channel.RdmaServerChannel;
import org.nettyrdma.channel.RemoteAccess;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;

/** So many addresses hold memory for calls that each has its share, and together they have all. */
@Timeout(120)
class HeldMemoryTest {

    private static final int DATA_BYTES = 64 << 10;
    private static final int HOLDERS = 8;
    /** Some more than there is memory for, in case one ends. */
    private static final int ADDRESSES = HOLDERS + 2;

    private final RdmaEventLoopGroup servers = group("server");
    private final RdmaEventLoopGroup clients = group("client");
    private final List<RawPeer> peers = new ArrayList<>();
    private final AtomicInteger addresses = new AtomicInteger();
    private RpcRdma server;
    private Channel listener;
    private ByteBuf data;

    private static RdmaEventLoopGroup group(String name) {
        return new RdmaEventLoopGroup(1, new DefaultThreadFactory(name, true), TestProviders.overTcp(), IdleStrategy.BLOCKING);
    }

    private void start(ResourceLimits limits) throws Exception {
        server = ShortSends.server().binding(BulkProgram.BINDING).program(new BulkProgram(true))
                .resources(limits.withMaxTotalBytes(HOLDERS * DATA_BYTES)).build();
        listener = server.configure(new ServerBootstrap().group(servers).channel(RdmaServerChannel.class))
                .bind(RawPeer.loopback()).sync().channel();
    }

    @AfterEach
    void stop() throws Exception {
        peers.forEach(RawPeer::close);
        if (data != null) {
            data.release();
        }
        listener.close().sync();
        servers.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
        clients.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
    }

    private SlowProxy proxy(int trickleMillis) throws Exception {
        return new SlowProxy(listener.localAddress(), trickleMillis,
                () -> new InetSocketAddress("127.0.1." + addresses.incrementAndGet(), 0));
    }

    /** Each asks the server to read what its call brings. */
    private void hold(SlowProxy proxy) throws Exception {
        for (int i = 0; i < ADDRESSES; i++) {
            RawPeer peer = RawPeer.connect(proxy.listener(), RawPeer.LINUX_CLIENT, clients);
            peers.add(peer);
            data = data == null ? peer.registered(new byte[DATA_BYTES]) : data;
            String segment = RawPeer.hex(peer.expose(data, 0, DATA_BYTES, RemoteAccess.READ).segment());
            peer.sendHex("00000001 00000001 00000020 00000000 00000001 00000030" + segment + RawClient.NO_CHUNKS + "00000001"
                    + RawClient.CALL + String.format("%08x", BulkProgram.STORE) + RawClient.NO_AUTH + "00000001"
                    + String.format("%08x", DATA_BYTES) + "00000002");
        }
        awaitValue(() -> server.memory().waiting(), ADDRESSES - HOLDERS);
        awaitValue(() -> server.memory().isGone() ? 1 : 0, 1); // which it may notice a moment later
    }

    private void load() throws Exception {
        Channel client = ShortSends.client().binding(BulkProgram.BINDING).build()
                .configure(new Bootstrap().group(clients).channel(RdmaChannel.class)).connect(listener.localAddress()).sync()
                .channel();
        ByteBuf arguments = client.alloc().buffer().writeInt(DATA_BYTES).writeInt(0);
        client.pipeline().get(RpcClient.class).call(new RpcRequest(BulkProgram.PROGRAM, 1, BulkProgram.LOAD, arguments))
                .get(20, TimeUnit.SECONDS).release();
        client.close().sync();
    }

    @Test
    void shouldServeOthersWhileManyAddressesDeliverNothing() throws Exception {
        start(ResourceLimits.DEFAULT);
        try (SlowProxy proxy = proxy(0)) {
            hold(proxy);
            load();
            assertTrue(server.statistics().get(Counter.STALLED_CONNECTIONS) > 0);
        }
    }

    /** A Read takes each of them several seconds, and is complete only then. */
    @Test
    void shouldNotEndPeersThatDeliverAsFastAsTheyMust() throws Exception {
        start(ResourceLimits.DEFAULT.withMinTransferBytesPerSecond(512));
        try (SlowProxy proxy = proxy(8)) {
            hold(proxy);
            load();
            assertEquals(0, server.statistics().get(Counter.STALLED_CONNECTIONS));
        }
    }

    /** Nobody waits who has no memory. */
    @Test
    void shouldLetPeersPauseWhileThereIsMemory() throws Exception {
        start(ResourceLimits.DEFAULT);
        try (SlowProxy proxy = proxy(0)) {
            hold(proxy);
            awaitValue(() -> server.memory().waiting(), 0);
            long stalled = server.statistics().get(Counter.STALLED_CONNECTIONS);
            clients.next().schedule(() -> { }, 2, TimeUnit.SECONDS).sync();
            assertEquals(stalled, server.statistics().get(Counter.STALLED_CONNECTIONS));
        }
    }
}
