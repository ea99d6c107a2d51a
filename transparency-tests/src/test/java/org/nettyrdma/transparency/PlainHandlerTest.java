package org.nettyrdma.transparency;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaChannelStatistics;
import org.nettyrdma.channel.RdmaEventLoopGroup;
import org.nettyrdma.channel.RdmaServerChannel;
import org.nettyrdma.codec.oncrpc.RecordMarkingCodec;
import org.nettyrdma.codec.oncrpc.ReplySpace;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcReplyHeader;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.RpcRdma;
import org.nettyrdma.codec.rpcrdma.RpcRdmaBuilder;

/** A handler that writes whole replies as plain buffers gets direct data placement from a binding alone. */
@Timeout(120)
class PlainHandlerTest {

    private static final int LENGTH = 1_000_003;
    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    private final BlobServer handler = new BlobServer(null);
    private final EventLoopGroup rdmaGroup = new RdmaEventLoopGroup(1);

    @AfterEach
    void stop() {
        rdmaGroup.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    @ParameterizedTest
    @ValueSource(ints = {5000, 65536, LENGTH})
    void shouldPlaceTheResultDirectly(int length) throws Exception {
        RpcRdma serverRpc = RpcRdma.server().binding(new BlobBinding()).handlers(pipeline -> pipeline.addLast(handler)).build();
        RpcRdmaBuilder shortSends = RpcRdma.client().inlineThresholdBytes(4096).binding(new BlobBinding());
        try (Client client = new Client(shortSends, serve(serverRpc))) {
            assertLoaded(client.call(load(length)), length);

            assertEquals(length, serverRpc.statistics().get(Counter.WRITE_CHUNK_BYTES), "carried by RDMA Write");
            assertEquals(1, serverRpc.statistics().get(Counter.REPLIES_WITH_WRITE_CHUNK));
            assertEquals(0, serverRpc.statistics().get(Counter.REPLY_CHUNK_BYTES));
            assertNothingCopied(client, serverRpc);
        }
    }

    @Test
    void shouldFetchTheArgumentDirectly() throws Exception {
        RpcRdma serverRpc = RpcRdma.server().binding(new BlobBinding()).handlers(pipeline -> pipeline.addLast(handler)).build();
        try (Client client = new Client(RpcRdma.client().binding(new BlobBinding()), serve(serverRpc))) {
            ByteBuf arguments = client.channel.alloc().buffer(Integer.BYTES + LENGTH + 3);
            arguments.writeInt(LENGTH).writeBytes(BlobServer.bytes(LENGTH)).writeZero(-LENGTH & 3);
            assertStored(client.call(new RpcRequest(BlobServer.PROGRAM, 1, BlobServer.STORE, arguments)));

            assertEquals(LENGTH, serverRpc.statistics().get(Counter.READ_CHUNK_BYTES), "fetched by RDMA Read");
            assertEquals(1, serverRpc.statistics().get(Counter.CALLS_WITH_READ_CHUNK));
            assertNothingCopied(client, serverRpc);
        }
    }

    @Test
    void shouldCopyAndCountAReplyThatIsNotInTheMemoryOfTheChannel() throws Exception {
        BlobServer heapHandler = new BlobServer(UnpooledByteBufAllocator.DEFAULT::heapBuffer);
        RpcRdma serverRpc = RpcRdma.server().binding(new BlobBinding()).handlers(pipeline -> pipeline.addLast(heapHandler))
                .build();
        try (Client client = new Client(RpcRdma.client().binding(new BlobBinding()), serve(serverRpc))) {
            assertLoaded(client.call(load(LENGTH)), LENGTH);

            assertEquals(LENGTH, serverRpc.statistics().get(Counter.WRITE_CHUNK_BYTES));
            assertTrue(((RdmaChannel) heapHandler.channel).statistics()
                    .get(RdmaChannelStatistics.Counter.COPIED_BYTES) >= LENGTH);
        }
    }

    @Test
    void shouldAnswerWithoutABindingByLongReply() throws Exception {
        RpcRdma serverRpc = RpcRdma.server().handlers(pipeline -> pipeline.addLast(handler)).build();
        try (Client client = new Client(RpcRdma.client(), serve(serverRpc))) {
            // Nobody else knows how large the reply can get.
            assertLoaded(client.call(load(LENGTH).setReplySpace(new ReplySpace(RpcReplyHeader.SUCCESS_BYTES + 2 * LENGTH))),
                    LENGTH);

            assertEquals(0, serverRpc.statistics().get(Counter.WRITE_CHUNK_BYTES));
            assertTrue(serverRpc.statistics().get(Counter.REPLY_CHUNK_BYTES) > LENGTH);
        }
    }

    @Test
    void shouldServeTheSameOverTcp() throws Exception {
        EventLoopGroup group = new NioEventLoopGroup(1);
        RpcClient client = new RpcClient();
        try {
            Channel listener = new ServerBootstrap().group(group).channel(NioServerSocketChannel.class)
                    .childHandler(new ChannelInitializer<>() {
                        @Override
                        protected void initChannel(Channel channel) {
                            channel.pipeline().addLast(new RecordMarkingCodec(2 * LENGTH), handler);
                        }
                    }).bind(ANY_PORT).sync().channel();
            new Bootstrap().group(group).channel(NioSocketChannel.class).handler(new ChannelInitializer<>() {
                @Override
                protected void initChannel(Channel channel) {
                    channel.pipeline().addLast(new RecordMarkingCodec(2 * LENGTH), client);
                }
            }).connect(listener.localAddress()).sync();
            assertLoaded(client.call(load(LENGTH)).get(30, TimeUnit.SECONDS), LENGTH);
        } finally {
            group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
        }
    }

    private InetSocketAddress serve(RpcRdma serverRpc) throws InterruptedException {
        return (InetSocketAddress) new ServerBootstrap().group(rdmaGroup).channel(RdmaServerChannel.class)
                .childHandler(serverRpc).bind(ANY_PORT).sync().channel().localAddress();
    }

    private void assertNothingCopied(Client client, RpcRdma serverRpc) {
        assertEquals(0, serverRpc.statistics().get(Counter.COPIED_BYTES));
        assertEquals(0, client.rpcRdma.statistics().get(Counter.COPIED_BYTES));
        for (Channel channel : new Channel[] {handler.channel, client.channel}) {
            assertEquals(0, ((RdmaChannel) channel).statistics().get(RdmaChannelStatistics.Counter.COPIED_BYTES));
        }
    }

    private static RpcRequest load(int length) {
        return new RpcRequest(BlobServer.PROGRAM, 1, BlobServer.LOAD, Unpooled.copyInt(length));
    }

    private static void assertLoaded(ByteBuf results, int length) {
        try {
            assertEquals(length, results.readInt());
            assertArrayEquals(BlobServer.bytes(length), ByteBufUtil.getBytes(results.readSlice(length)));
            assertEquals(-length & 3, results.readableBytes());
        } finally {
            results.release();
        }
    }

    private static void assertStored(ByteBuf results) {
        assertEquals(BlobServer.crc(BlobServer.bytes(LENGTH)), results.readInt());
        results.release();
    }
}
