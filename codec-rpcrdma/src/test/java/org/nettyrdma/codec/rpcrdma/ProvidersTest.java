package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.channel.IdleStrategy;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaChannelOption;
import org.nettyrdma.channel.RdmaEventLoopGroup;
import org.nettyrdma.channel.RdmaServerChannel;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.verbs.Capabilities;
import org.nettyrdma.verbs.MemoryRegion;
import org.nettyrdma.verbs.VerbsContext;
import org.nettyrdma.verbs.VerbsProvider;
import org.nettyrdma.verbs.iwarp.IwarpProvider;

/** One {@link RpcRdma} whose connections are on providers that cannot do the same: each goes by its own. */
@Timeout(120)
class ProvidersTest {

    private static final int LENGTH = 5000;

    private final IwarpProvider iwarp = new IwarpProvider();
    private final List<RdmaEventLoopGroup> groups = new ArrayList<>();
    private final List<Channel> channels = new ArrayList<>();

    private final RdmaEventLoopGroup full = group(iwarp);
    private final RdmaEventLoopGroup withoutInvalidation =
            group(new Lesser(iwarp, iwarp.capabilities().maxPrivateDataBytes(), false));
    private final RdmaEventLoopGroup withoutPrivateData = group(new Lesser(iwarp, 0, true));

    private RdmaEventLoopGroup group(VerbsProvider provider) {
        RdmaEventLoopGroup group = new RdmaEventLoopGroup(1, new DefaultThreadFactory(ProvidersTest.class), provider,
                IdleStrategy.ADAPTIVE);
        groups.add(group);
        return group;
    }

    @AfterEach
    void close() {
        channels.forEach(channel -> channel.close().syncUninterruptibly());
        groups.forEach(group -> group.shutdownGracefully(0, RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS).syncUninterruptibly());
    }

    @ParameterizedTest
    @EnumSource(value = VersionPolicy.class, names = {"V1_ONLY", "V2_ONLY"})
    void shouldInvalidateRemotelyOnlyWhereBothProvidersHaveIt(VersionPolicy versions) throws Exception {
        RpcRdma server = server().versions(versions).build();
        RpcRdma client = client().versions(versions).build();
        for (RdmaEventLoopGroup serverGroup : List.of(withoutInvalidation, full)) {
            Channel listener = listen(server, serverGroup);
            for (RdmaEventLoopGroup clientGroup : List.of(withoutInvalidation, full)) {
                long before = server.statistics().get(Counter.REMOTE_INVALIDATIONS);
                load(connect(client, clientGroup, listener));
                assertEquals(serverGroup == full && clientGroup == full ? 1 : 0,
                        server.statistics().get(Counter.REMOTE_INVALIDATIONS) - before);
            }
        }
        assertEquals(3, server.statistics().get(Counter.REPLIES_WITHOUT_INVALIDATION));
        assertEquals(3, client.statistics().get(Counter.LOCAL_INVALIDATIONS));
    }

    @Test
    void shouldNotInvalidateOnTheWordOfTheApplicationWhatItsProviderCannot() throws Exception {
        RpcRdma server = server().build();
        Channel listener = server.configure(new ServerBootstrap().group(withoutInvalidation).channel(RdmaServerChannel.class))
                .childOption(RdmaChannelOption.PRIVATE_DATA, new RpcRdmaPrivateData(true, 4096, 4096).toBytes())
                .bind(RawPeer.loopback()).sync().channel();
        channels.add(listener);
        load(connect(client().build(), full, listener));
        assertEquals(1, server.statistics().get(Counter.REPLIES_WITHOUT_INVALIDATION));
    }

    @Test
    void shouldTellItsThresholdOnlyWhereTheProviderHasPrivateData() throws Exception {
        RpcRdma client = client().inlineThresholdBytes(8192).build();
        Channel listener = listen(server().inlineThresholdBytes(8192).build(), full);
        RdmaChannel silent = connect(client, withoutPrivateData, listener);
        assertEquals(0, silent.config().getOption(RdmaChannelOption.PRIVATE_DATA).length);
        assertEquals(1024, RpcRdma.connection(silent).terms().receiveBytes());
        load(silent);

        RdmaChannel telling = connect(client, full, listener);
        assertEquals(RpcRdmaPrivateData.LENGTH, telling.config().getOption(RdmaChannelOption.PRIVATE_DATA).length);
        assertEquals(8192, RpcRdma.connection(telling).terms().receiveBytes());
        load(telling);
    }

    private static RpcRdmaBuilder server() {
        return ShortSends.server().program(new BulkProgram(true)).binding(BulkProgram.BINDING);
    }

    private static RpcRdmaBuilder client() {
        return ShortSends.client().binding(BulkProgram.BINDING);
    }

    private Channel listen(RpcRdma server, RdmaEventLoopGroup group) throws Exception {
        Channel listener = server.configure(new ServerBootstrap().group(group).channel(RdmaServerChannel.class))
                .bind(RawPeer.loopback()).sync().channel();
        channels.add(listener);
        return listener;
    }

    private RdmaChannel connect(RpcRdma client, RdmaEventLoopGroup group, Channel listener) throws Exception {
        Channel channel = client.configure(new Bootstrap().group(group).channel(RdmaChannel.class))
                .connect(listener.localAddress()).sync().channel();
        channels.add(0, channel);
        return (RdmaChannel) channel;
    }

    /** A call whose result comes in its only chunk. */
    private static void load(RdmaChannel channel) throws Exception {
        ByteBuf arguments = channel.alloc().buffer().writeInt(LENGTH).writeInt(0);
        Future<ByteBuf> call = channel.pipeline().get(RpcClient.class)
                .call(new RpcRequest(BulkProgram.PROGRAM, 1, BulkProgram.LOAD, arguments));
        ByteBuf result = RpcRdmaPair.result(call);
        assertEquals(Integer.BYTES + Integer.BYTES + LENGTH, result.readableBytes());
        result.release();
    }

    /** Software iWARP as a device that has less to offer. */
    private record Lesser(VerbsProvider real, int maxPrivateDataBytes, boolean sendWithInvalidate) implements VerbsProvider {

        @Override
        public String name() {
            return "lesser";
        }

        @Override
        public Throwable unavailabilityCause() {
            return null;
        }

        @Override
        public Capabilities capabilities() {
            Capabilities all = real.capabilities();
            return new Capabilities(all.maxGatherElements(), all.maxReadScatterElements(), all.maxQueueDepth(),
                    all.maxReadDepth(),
                    all.maxMessageBytes(), maxPrivateDataBytes, sendWithInvalidate, all.writeWithImmediate(), all.exposure(),
                    all.receiverWaits());
        }

        @Override
        public MemoryRegion registerMemory(ByteBuffer memory) throws IOException {
            return real.registerMemory(memory);
        }

        @Override
        public VerbsContext openContext() throws IOException {
            return real.openContext();
        }
    }
}
