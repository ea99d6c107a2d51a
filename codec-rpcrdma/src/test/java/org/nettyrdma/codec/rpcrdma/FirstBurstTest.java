package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nettyrdma.channel.IdleStrategy;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaEventLoopGroup;
import org.nettyrdma.channel.RdmaServerChannel;
import org.nettyrdma.channel.RegisteredByteBufAllocator;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcRequest;

/**
 * What a connection registers for calls of which nobody knows yet how large their replies get; docs/migrating.md has the figure.
 */
@Timeout(60)
class FirstBurstTest {

    private static final int CALLS = 32;
    private static final int MOST_MEBIBYTES = 38;

    private final RdmaEventLoopGroup clients = group();
    private final RdmaEventLoopGroup servers = group();

    /** With memory of its own. */
    private static RdmaEventLoopGroup group() {
        return new RdmaEventLoopGroup(1, new DefaultThreadFactory(FirstBurstTest.class),
                TestProviders.withOwnMemory(), IdleStrategy.ADAPTIVE);
    }

    @AfterEach
    void stop() {
        clients.shutdownGracefully(0, RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS).syncUninterruptibly();
        servers.shutdownGracefully(0, RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS).syncUninterruptibly();
    }

    @Test
    void shouldRegisterLittleMoreThanTheCallsOffer() throws Exception {
        Channel listener = ShortSends.server().program(new BulkProgram(true)).build()
                .configure(new ServerBootstrap().group(servers).channel(RdmaServerChannel.class)).bind(RawPeer.loopback()).sync()
                .channel();
        // By default, in a JVM of a machine with little memory, some of the calls would wait for others.
        ResourceLimits enough = ResourceLimits.DEFAULT.withMaxTotalBytes(512 << 20);
        RdmaChannel channel = (RdmaChannel) ShortSends.client().resources(enough).build()
                .configure(new Bootstrap().group(clients).channel(RdmaChannel.class)).connect(listener.localAddress()).sync()
                .channel();
        RpcRdmaPair.result(call(channel)).release(); // from here there is more than one credit
        List<Future<ByteBuf>> calls = channel.eventLoop().submit(() -> {
            List<Future<ByteBuf>> burst = new ArrayList<>();
            for (int i = 0; i < CALLS; i++) {
                burst.add(call(channel));
            }
            return burst;
        }).get();
        for (Future<ByteBuf> call : calls) {
            RpcRdmaPair.result(call).release();
        }
        long registeredBytes = ((RegisteredByteBufAllocator) channel.alloc()).registeredBytes();
        long offeredBytes = (long) CALLS * RpcRdmaLimits.DEFAULT.defaultReplyChunkBytes();
        assertTrue(registeredBytes >= offeredBytes, () -> registeredBytes + " bytes; each call is to offer all there is");
        assertTrue(registeredBytes <= (long) MOST_MEBIBYTES << 20, () -> registeredBytes + " bytes");
    }

    private static Future<ByteBuf> call(RdmaChannel channel) {
        return channel.pipeline().get(RpcClient.class)
                .call(new RpcRequest(BulkProgram.PROGRAM, 1, BulkProgram.ECHO, RpcRdmaPair.opaque(Bytes.pattern(4, 1))));
    }
}
