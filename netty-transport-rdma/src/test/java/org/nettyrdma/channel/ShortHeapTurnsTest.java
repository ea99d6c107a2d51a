package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.net.InetAddress;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.nettyrdma.verbs.iwarp.IwarpProvider;
import org.nettyrdma.verbs.support.ShortHeap;

/** Channels that want a turn when there is no memory. */
class ShortHeapTurnsTest {

    /** More than a collection has room for at first. */
    private static final int CHANNELS = 40;

    @Test
    void shouldServeEachChannel() throws Exception {
        ShortHeap.run(ShortHeapTurnsTest.class);
    }

    public static void main(String[] arguments) throws Exception {
        var group = new RdmaEventLoopGroup(1, new DefaultThreadFactory("short-heap", true), new IwarpProvider(),
                IdleStrategy.BLOCKING);
        List<RdmaStreamChannel> accepted = new CopyOnWriteArrayList<>();
        CountDownLatch first = new CountDownLatch(CHANNELS);
        CountDownLatch both = new CountDownLatch(2 * CHANNELS);
        Channel server = new ServerBootstrap().group(group).channel(RdmaServerStreamChannel.class)
                .childOption(ChannelOption.AUTO_READ, false)
                .childOption(ChannelOption.RCVBUF_ALLOCATOR, new FixedRecvByteBufAllocator(1).maxMessagesPerRead(1))
                .childHandler(new ChannelInitializer<RdmaStreamChannel>() {
                    @Override
                    protected void initChannel(RdmaStreamChannel child) {
                        accepted.add(child);
                        child.pipeline().addLast(new ChannelInboundHandlerAdapter() {
                            @Override
                            public void channelActive(ChannelHandlerContext ctx) {
                                ctx.read();
                            }

                            @Override
                            public void channelRead(ChannelHandlerContext ctx, Object message) {
                                ReferenceCountUtil.release(message);
                                first.countDown();
                                both.countDown();
                            }
                        });
                    }
                }).bind(InetAddress.getLoopbackAddress(), 0).sync().channel();
        for (int i = 0; i < CHANNELS; i++) {
            new Bootstrap().group(group).channel(RdmaStreamChannel.class).handler(new ChannelInboundHandlerAdapter())
                    .connect(server.localAddress()).sync().channel().writeAndFlush(Unpooled.wrappedBuffer(new byte[2])).sync();
        }
        assertTrue(first.await(30, TimeUnit.SECONDS));
        RdmaStreamChannel[] channels = accepted.toArray(RdmaStreamChannel[]::new);
        group.submit(() -> ShortHeap.whileFull(() -> {
            for (RdmaStreamChannel channel : channels) {
                channel.doBeginRead();
            }
        })).sync();
        assertTrue(both.await(30, TimeUnit.SECONDS));
    }
}
