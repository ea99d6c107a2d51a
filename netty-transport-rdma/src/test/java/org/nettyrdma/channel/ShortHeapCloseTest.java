package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ServerChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.nettyrdma.verbs.iwarp.IwarpProvider;
import org.nettyrdma.verbs.support.ShortHeap;

/** Channels that are closed when there is no memory: nothing is to be left of them but what the device keeps. */
class ShortHeapCloseTest {

    private static final int CHANNELS = 10;

    @Test
    void shouldReleaseMessageChannels() throws Exception {
        ShortHeap.run(Messages.class);
    }

    @Test
    void shouldReleaseStreams() throws Exception {
        ShortHeap.run(Streams.class);
    }

    static final class Messages {
        public static void main(String[] arguments) throws Exception {
            closeAll(RdmaServerChannel.class, RdmaChannel.class);
        }
    }

    static final class Streams {
        public static void main(String[] arguments) throws Exception {
            closeAll(RdmaServerStreamChannel.class, RdmaStreamChannel.class);
        }
    }

    private static void closeAll(Class<? extends ServerChannel> serverType, Class<? extends QueuePairChannel> type)
            throws Exception {
        var group = new RdmaEventLoopGroup(1, new DefaultThreadFactory("short-heap", true), new IwarpProvider(),
                IdleStrategy.BLOCKING);
        Channel server = new ServerBootstrap().group(group).channel(serverType)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel child) {
                        // The peer's end is enough.
                    }
                }).bind(InetAddress.getLoopbackAddress(), 0).sync().channel();
        List<QueuePairChannel> channels = new ArrayList<>();
        for (int i = 0; i < CHANNELS; i++) {
            channels.add((QueuePairChannel) new Bootstrap().group(group).channel(type)
                    .option(RdmaChannelOption.CLOSE_TIMEOUT_MILLIS, 1000).handler(new ChannelInboundHandlerAdapter())
                    .connect(server.localAddress()).sync().channel());
        }
        QueuePairChannel[] all = channels.toArray(QueuePairChannel[]::new);
        group.submit(() -> ShortHeap.whileFull(() -> {
            for (int i = 0; i < CHANNELS; i++) {
                close(all[i]);
            }
        })).sync();
        for (QueuePairChannel channel : all) {
            assertTrue(channel.releaseFuture().await(30, TimeUnit.SECONDS), channel::toString);
        }
    }

    private static void close(QueuePairChannel channel) {
        try {
            channel.doClose();
        } catch (OutOfMemoryError e) {
            return; // as Netty would tell
        }
    }
}
