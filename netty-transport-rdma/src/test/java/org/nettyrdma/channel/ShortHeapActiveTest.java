package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.net.InetAddress;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;
import org.nettyrdma.verbs.iwarp.IwarpProvider;
import org.nettyrdma.verbs.support.ShortHeap;

/** A connection that stands when there is no memory to record it. */
class ShortHeapActiveTest {

    @Test
    void shouldTellThatItIsActive() throws Exception {
        ShortHeap.run(Program.class);
    }

    static final class Program {

        public static void main(String[] arguments) throws Exception {
            var group = new RdmaEventLoopGroup(1, new DefaultThreadFactory("short-heap", true), new IwarpProvider(),
                    IdleStrategy.BLOCKING);
            int[] activations = new int[1];
            BlockingQueue<RdmaChannel> accepted = new LinkedBlockingQueue<>();
            Channel server = new ServerBootstrap().group(group).channel(RdmaServerChannel.class)
                    .childHandler(new ChannelInitializer<RdmaChannel>() {
                        @Override
                        protected void initChannel(RdmaChannel child) {
                            child.pipeline().addLast(new ChannelInboundHandlerAdapter() {
                                @Override
                                public void channelActive(ChannelHandlerContext ctx) {
                                    activations[0]++;
                                    accepted.add(child);
                                    ctx.fireChannelActive();
                                }
                            });
                        }
                    }).bind(InetAddress.getLoopbackAddress(), 0).sync().channel();
            new Bootstrap().group(group).channel(RdmaChannel.class).handler(new ChannelInboundHandlerAdapter())
                    .connect(server.localAddress()).sync();
            RdmaChannel channel = accepted.take();
            channel.pipeline().removeLast();
            channel.pipeline().addLast(new ChannelInboundHandlerAdapter() {
                @Override
                public void channelActive(ChannelHandlerContext ctx) {
                    activations[0]++;
                }
            });
            group.submit(() -> {
                channel.connectionIs(ChannelState.CONNECTING); // once more, so that all classes are there
                ShortHeap.whileFull(() -> channel.connection.activate());
            }).sync();
            assertEquals(ChannelState.ACTIVE, channel.state());
            assertEquals(2, activations[0]);
        }
    }
}
