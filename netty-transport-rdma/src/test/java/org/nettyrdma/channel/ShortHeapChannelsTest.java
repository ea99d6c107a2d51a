package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.RejectedExecutionHandlers;
import io.netty.util.concurrent.ThreadPerTaskExecutor;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.nettyrdma.verbs.iwarp.IwarpProvider;
import org.nettyrdma.verbs.support.ShortHeap;

/** One channel too many for the memory: the others go on. */
class ShortHeapChannelsTest {

    @Test
    void shouldFindTheCompletionsOfTheOtherChannels() throws Exception {
        ShortHeap.run(Program.class);
    }

    static final class Program {

        /** With one more, the table of channels grows, and the queue of turns before it. */
        private static final int CHANNELS = 1 << 14;
        /** The queue needs 128 KiB, the table twice 256 KiB. */
        private static final int SPARE_BYTES = 500 << 10;

        public static void main(String[] arguments) throws Exception {
            RdmaEventLoop loop = new RdmaEventLoop(null,
                    new ThreadPerTaskExecutor(new DefaultThreadFactory("short-heap", true)), RejectedExecutionHandlers.reject(),
                    new IwarpProvider(), IdleStrategy.BLOCKING);
            Channel server = new ServerBootstrap().group(loop).channel(RdmaServerChannel.class)
                    .childHandler(new ChannelInitializer<>() {
                        @Override
                        protected void initChannel(Channel child) {
                            // The peer's end is enough.
                        }
                    }).bind(InetAddress.getLoopbackAddress(), 0).sync().channel();
            RdmaChannel client = (RdmaChannel) new Bootstrap().group(loop).channel(RdmaChannel.class)
                    .handler(new ChannelInboundHandlerAdapter()).connect(server.localAddress()).sync().channel();
            byte[][] spare = {new byte[SPARE_BYTES]};
            loop.submit(() -> {
                while (loop.registeredChannels() - 1 < CHANNELS) { // without the server
                    loop.io().add(client);
                }
                ShortHeap.whileFull(() -> {
                    spare[0] = null;
                    assertThrows(OutOfMemoryError.class, () -> loop.io().add(client));
                });
            }).sync();
            ChannelFuture sent = client.writeAndFlush(
                    client.alloc().buffer().writeBytes("still there".getBytes(StandardCharsets.US_ASCII)));
            assertTrue(sent.await(10, TimeUnit.SECONDS));
            sent.sync();
        }
    }
}
