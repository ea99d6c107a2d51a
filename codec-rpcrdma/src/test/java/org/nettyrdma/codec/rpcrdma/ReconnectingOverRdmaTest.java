package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nettyrdma.codec.rpcrdma.BulkProgram.ECHO;
import static org.nettyrdma.codec.rpcrdma.BulkProgram.HANG;
import static org.nettyrdma.codec.rpcrdma.BulkProgram.LOAD;
import static org.nettyrdma.codec.rpcrdma.BulkProgram.MARK;
import static org.nettyrdma.codec.rpcrdma.BulkProgram.STORE;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.security.MessageDigest;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaChannelStatistics;
import org.nettyrdma.channel.RdmaEventLoopGroup;
import org.nettyrdma.channel.RdmaServerChannel;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.oncrpc.RpcTimeoutException;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.codec.oncrpc.client.CuttingRelay;
import org.nettyrdma.codec.oncrpc.client.ReconnectPolicy;
import org.nettyrdma.codec.oncrpc.client.ReconnectingRpcClient;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaVersion;

/** A client that comes back, on the real channel: servers that change, and connections that are cut while data moves. */
@Timeout(120)
class ReconnectingOverRdmaTest {

    private static final ReconnectPolicy QUICK = ReconnectPolicy.DEFAULT.withDelayMillis(1, 50);
    private static final int BULK_BYTES = 300_001;

    private RdmaEventLoopGroup group = new RdmaEventLoopGroup(2);
    private final BulkProgram program = new BulkProgram(true);
    private final ChannelGroup accepted = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    private final List<RpcRdma> servers = new ArrayList<>();
    private final AtomicReference<SocketAddress> address = new AtomicReference<>();
    private Channel listener;

    @AfterEach
    void shutDown() throws Exception {
        stop();
        for (RpcCall call = program.hanging.poll(); call != null; call = program.hanging.poll()) {
            call.arguments().release();
        }
        shutDownGroup();
    }

    private void shutDownGroup() throws InterruptedException {
        group.shutdownGracefully(0, 30, TimeUnit.SECONDS).sync();
    }

    private void start(RpcRdmaBuilder builder) throws Exception {
        RpcRdma server = builder.program(program).binding(BulkProgram.BINDING)
                .extensionHandlers(pipeline -> accepted.add(pipeline.channel())).build();
        servers.add(server);
        listener = server.configure(new ServerBootstrap().group(group).channel(RdmaServerChannel.class))
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)).sync().channel();
        address.set(listener.localAddress());
    }

    private void stop() {
        address.set(null);
        if (listener != null) {
            listener.close().syncUninterruptibly();
            accepted.close().syncUninterruptibly();
            listener = null;
        }
    }

    private List<SocketAddress> addresses() {
        SocketAddress now = address.get();
        return now == null ? List.of() : List.of(now);
    }

    private Bootstrap bootstrap(RpcRdma client) {
        return client.configure(new Bootstrap().group(group).channel(RdmaChannel.class));
    }

    private RpcCall hanging() throws InterruptedException {
        RpcCall call = program.hanging.poll(30, TimeUnit.SECONDS);
        assertTrue(call != null, "the call has not arrived");
        return call;
    }

    private static RpcRequest request(int procedure, ByteBuf arguments) {
        return new RpcRequest(BulkProgram.PROGRAM, 1, procedure, arguments);
    }

    private static void assertStored(ReconnectingRpcClient client, ByteBufAllocator alloc) throws Exception {
        byte[] data = Bytes.pattern(BULK_BYTES, 3);
        ByteBuf tail = alloc.directBuffer();
        Xdr.writePadding(tail, data.length);
        ByteBuf arguments = alloc.compositeBuffer()
                .addComponent(true, alloc.directBuffer().writeInt(MARK).writeInt(data.length))
                .addComponent(true, alloc.directBuffer(data.length).writeBytes(data))
                .addComponent(true, tail.writeInt(MARK));
        ByteBuf results = client.callAndWait(request(STORE, arguments));
        assertEquals(data.length, results.readInt());
        assertEquals(BulkProgram.sum(Unpooled.wrappedBuffer(data)), results.readInt());
        results.release();
        assertEquals(0, arguments.refCnt());
    }

    private static void assertLoaded(ReconnectingRpcClient client) throws Exception {
        ByteBuf results = client.callAndWait(request(LOAD, Unpooled.buffer().writeInt(BULK_BYTES).writeInt(4)));
        assertArrayEquals(Bytes.pattern(4, 1), Xdr.readOpaque(results, 4, "extra"));
        assertArrayEquals(Bytes.pattern(BULK_BYTES, 2), Xdr.readOpaque(results, BULK_BYTES, "data"));
        results.release();
    }

    /** Each settles anew what the connection agrees on. */
    private List<RpcRdmaBuilder> changedServers() {
        return List.of(
                ShortSends.server().versions(VersionPolicy.PREFER_V2).credits(128).inlineThresholdBytes(16384),
                ShortSends.server().versions(VersionPolicy.PREFER_V2).credits(2).inlineThresholdBytes(1024),
                RpcRdma.server().versions(VersionPolicy.V1_ONLY).credits(1).inlineThresholdBytes(1024).remoteInvalidation(false),
                ShortSends.server().versions(VersionPolicy.PREFER_V2).credits(16),
                ShortSends.server().versions(VersionPolicy.V1_ONLY).credits(64).inlineThresholdBytes(8192));
    }

    @ParameterizedTest
    @EnumSource(names = {"PREFER_V2", "V1_ONLY"})
    void shouldServeCallersOfAServerThatComesBackAsAnother(VersionPolicy versions) throws Exception {
        RpcRdma rpcRdma = ShortSends.client().versions(versions).binding(BulkProgram.BINDING).inlineThresholdBytes(16384).build();
        try (ReconnectingRpcClient client = ReconnectingRpcClient.builder(bootstrap(rpcRdma), this::addresses).policy(QUICK)
                .ping(BulkProgram.PROGRAM, 1).connect()) {
            Future<ByteBuf> longest = client.call(request(HANG, Unpooled.buffer().writeInt(42)));
            int xid = 0;
            for (RpcRdmaBuilder server : changedServers()) {
                start(server);
                RpcCall call = hanging();
                assertTrue(xid == 0 || xid == call.header().xid());
                xid = call.header().xid();
                if (server.limits.credits() > 1) { // or there is none left for others
                    assertStored(client, RdmaAllocator.of(call));
                    assertLoaded(client);
                }
                RpcRdmaVersion version = versions == VersionPolicy.V1_ONLY || server.versions == VersionPolicy.V1_ONLY
                        ? RpcRdmaVersion.ONE : RpcRdmaVersion.TWO;
                assertEquals(version, RpcRdma.connection(call.channel()).terms().version());
                call.arguments().release();
                stop();
            }
            start(ShortSends.server());
            RpcCall last = hanging();
            last.arguments().release();
            last.reply(Unpooled.buffer().writeInt(43));
            ByteBuf results = RpcRdmaPair.result(longest);
            assertEquals(43, results.readInt());
            results.release();
            assertEquals(0, rpcRdma.statistics().get(Counter.COPIED_BYTES), "the pieces of the arguments stay what they are");
            assertCloses(client);
        }
        assertEquals(0, RpcRdmaPair.usedBytes(rpcRdma));
    }

    /** What a test needs of a channel: memory that the device knows. */
    private static final class RdmaAllocator {

        static ByteBufAllocator of(RpcCall call) {
            return call.channel().alloc();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"PREFER_V2", "V1_ONLY"})
    void shouldMoveTheSameBytesOverConnectionsThatAreCutInTheMiddleOfChunks(VersionPolicy versions) throws Exception {
        shutDownGroup();
        group = new RdmaEventLoopGroup(2, TestProviders.overTcp());
        start(ShortSends.server().versions(versions));
        RpcRdma rpcRdma = ShortSends.client().versions(versions).binding(BulkProgram.BINDING).build();
        Random random = new Random(versions.ordinal() + 1);
        // Each connection gets through at least one call in the end, as calls that pass are not made again.
        try (CuttingRelay relay = new CuttingRelay(address::get, () -> 200_000 + random.nextInt(6 << 20));
                ReconnectingRpcClient client = ReconnectingRpcClient.builder(bootstrap(rpcRdma), relay.address()).policy(QUICK)
                        .connections(2).connect()) {
            Queue<Future<ByteBuf>> calls = new ArrayDeque<>();
            Queue<byte[]> digests = new ArrayDeque<>();
            for (int i = 0; i < 80; i++) {
                byte[] data = new byte[random.nextInt(1 << 20)];
                random.nextBytes(data);
                ByteBuf arguments = PooledArguments.opaque(data);
                digests.add(sha256(arguments.nioBuffer()));
                calls.add(client.call(request(ECHO, arguments)));
                if (calls.size() == 8) {
                    assertDigest(digests.remove(), calls.remove());
                }
            }
            while (!calls.isEmpty()) {
                assertDigest(digests.remove(), calls.remove());
            }
            assertTrue(relay.cuts() > 5, () -> relay.cuts() + " cuts");
            assertTrue(client.statistics().retransmissions() > 0);
            assertCloses(client);
        }
        assertEquals(0, RpcRdmaPair.usedBytes(rpcRdma));
    }

    /** Arguments whose leaks are found. */
    private static final class PooledArguments {

        static ByteBuf opaque(byte[] data) {
            ByteBuf arguments = ByteBufAllocator.DEFAULT.directBuffer(8 + data.length);
            Xdr.writeOpaque(arguments, data);
            return arguments;
        }
    }

    private static void assertCloses(ReconnectingRpcClient client) throws InterruptedException {
        client.close();
        assertTrue(client.closeFuture().await(30, TimeUnit.SECONDS));
    }

    private static byte[] sha256(java.nio.ByteBuffer bytes) throws Exception {
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        digest.update(bytes);
        return digest.digest();
    }

    private static void assertDigest(byte[] digest, Future<ByteBuf> call) throws Exception {
        ByteBuf results = RpcRdmaPair.result(call);
        assertArrayEquals(digest, sha256(java.nio.ByteBuffer.wrap(ByteBufUtil.getBytes(results))));
        results.release();
    }

    @Test
    void shouldGoOnWithANewConnectionWhenAllCreditsAreLost() throws Exception {
        start(ShortSends.server().credits(4));
        RpcRdma rpcRdma = ShortSends.client().binding(BulkProgram.BINDING).build();
        try (ReconnectingRpcClient client = ReconnectingRpcClient.builder(bootstrap(rpcRdma), this::addresses)
                .policy(QUICK.withMaxLostCalls(4)).connect()) {
            assertLoaded(client); // the grant is known
            List<Future<ByteBuf>> lost = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                lost.add(client.call(request(HANG, Unpooled.buffer().writeInt(i)).setTimeoutMillis(100)));
                hanging().arguments().release();
            }
            Future<ByteBuf> next = client.call(request(ECHO, RpcRdmaPair.opaque(new byte[10_000])));
            for (Future<ByteBuf> call : lost) {
                assertInstanceOf(RpcTimeoutException.class, RpcRdmaPair.failure(call));
            }
            RpcRdmaPair.result(next).release();
            assertEquals(2, client.statistics().connects());
        }
    }

    @Test
    void shouldGoOnWithANewConnectionWhenCancelledCallsHaveTakenAllCredits() throws Exception {
        start(ShortSends.server().credits(4));
        RpcRdma rpcRdma = ShortSends.client().binding(BulkProgram.BINDING).build();
        try (ReconnectingRpcClient client = ReconnectingRpcClient.builder(bootstrap(rpcRdma), this::addresses)
                .policy(QUICK.withMaxLostCalls(4).withCallTimeoutMillis(300)).connect()) {
            // Only the silence of the server is to last as long as the policy says.
            RpcRdmaPair.result(client.call(request(ECHO, RpcRdmaPair.opaque(new byte[4])).setTimeoutMillis(30_000)))
                    .release(); // the grant is known
            for (int i = 0; i < 4; i++) {
                Future<ByteBuf> lost = client.call(request(HANG, Unpooled.buffer().writeInt(i)).setTimeoutMillis(30_000));
                hanging().arguments().release();
                assertTrue(lost.cancel(false));
            }
            RpcRdmaPair.result(client.call(request(ECHO, RpcRdmaPair.opaque(new byte[10_000])).setTimeoutMillis(30_000)))
                    .release();
            assertEquals(2, client.statistics().connects());
        }
    }

    @Test
    void shouldWithdrawMemoryOfLostAttempts() throws Exception {
        start(ShortSends.server());
        RpcRdma rpcRdma = ShortSends.client().build();
        try (ReconnectingRpcClient client = ReconnectingRpcClient.builder(bootstrap(rpcRdma), this::addresses).policy(QUICK)
                .connect()) {
            ByteBuf arguments = PooledArguments.opaque(new byte[100_000]);
            Future<ByteBuf> call = client.call(request(HANG, arguments));
            for (int i = 0; i < 5; i++) {
                RpcCall arrived = hanging();
                arrived.arguments().release();
                arrived.channel().close();
            }
            RpcCall last = hanging();
            last.arguments().release();
            last.reply(Unpooled.EMPTY_BUFFER);
            RpcRdmaPair.result(call).release();
            assertEquals(0, arguments.refCnt());
            assertEquals(5, client.statistics().lostConnections());
            assertCloses(client);
        }
        assertEquals(0, rpcRdma.connections().channelCounter(RdmaChannelStatistics.Counter.BUFFERS_LEAKED_ON_PURPOSE));
        assertEquals(0, RpcRdmaPair.usedBytes(rpcRdma));
    }
}
