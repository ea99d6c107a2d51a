package org.nettyrdma.streamtests.frameworks;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.SocketChannel;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.apache.spark.network.TransportContext;
import org.apache.spark.network.client.RpcResponseCallback;
import org.apache.spark.network.client.TransportClient;
import org.apache.spark.network.server.NoOpRpcHandler;
import org.apache.spark.network.server.RpcHandler;
import org.apache.spark.network.server.TransportChannelHandler;
import org.apache.spark.network.util.MapConfigProvider;
import org.apache.spark.network.util.TransportConf;
import org.junit.jupiter.api.Test;
import org.nettyrdma.channel.RdmaServerStreamChannel;
import org.nettyrdma.channel.RdmaStreamChannel;

/** Without a class in place of one of Spark's. */
class SparkTest extends Framework {

    @Test
    void shouldCarryCalls() throws Exception {
        TransportConf configuration = new TransportConf("rpc", new MapConfigProvider(Map.of()));
        RpcHandler handler = new Echo();
        TransportContext context = new TransportContext(configuration, handler);
        ChannelInitializer<SocketChannel> initializer = new ChannelInitializer<>() {
            @Override
            protected void initChannel(SocketChannel channel) {
                context.initializePipeline(channel);
            }
        };
        Channel server = new ServerBootstrap().group(group).channel(RdmaServerStreamChannel.class)
                .childOption(ChannelOption.ALLOCATOR, PooledByteBufAllocator.DEFAULT)
                .childHandler(initializer).bind(address).sync().channel();
        Channel channel = new Bootstrap().group(group).channel(RdmaStreamChannel.class)
                .option(ChannelOption.ALLOCATOR, PooledByteBufAllocator.DEFAULT)
                .handler(initializer).connect(server.localAddress()).sync().channel();
        TransportClient client = channel.pipeline().get(TransportChannelHandler.class).getClient();
        try {
            ByteBuffer answer = client.sendRpcSync(ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII)), 20_000);

            assertEquals(text, StandardCharsets.US_ASCII.decode(answer).toString());
        } finally {
            context.close();
        }
    }

    private static final class Echo extends NoOpRpcHandler {

        @Override
        public void receive(TransportClient client, ByteBuffer message, RpcResponseCallback callback) {
            callback.onSuccess(message);
        }
    }
}
