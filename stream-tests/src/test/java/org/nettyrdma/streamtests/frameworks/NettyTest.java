package org.nettyrdma.streamtests.frameworks;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import io.netty.handler.codec.LengthFieldPrepender;
import io.netty.handler.codec.string.StringDecoder;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.nettyrdma.channel.RdmaEventLoopGroup;
import org.nettyrdma.channel.RdmaServerStreamChannel;
import org.nettyrdma.channel.RdmaStreamChannel;

class NettyTest extends Framework {

    @Test
    void shouldCarryWhatAnyHandlerWrites() throws Exception {
        CompletableFuture<String> answer = new CompletableFuture<>();
        ChannelHandler serverHandler = new ChannelInitializer<SocketChannel>() {
            @Override
            protected void initChannel(SocketChannel channel) {
                channel.pipeline().addLast(new Echo());
            }
        };
        ChannelHandler clientHandler = new ChannelInitializer<SocketChannel>() {
            @Override
            protected void initChannel(SocketChannel channel) {
                channel.pipeline().addLast(new LengthFieldBasedFrameDecoder(1 << 20, 0, 4, 0, 4), new StringDecoder(),
                        new LengthFieldPrepender(4), new Answer(answer));
            }
        };
        EventLoopGroup group = new RdmaEventLoopGroup();
        Channel server = new ServerBootstrap().group(group).channel(RdmaServerStreamChannel.class)
                .childHandler(serverHandler).bind(address).sync().channel();
        Channel client = new Bootstrap().group(group).channel(RdmaStreamChannel.class)
                .handler(clientHandler).connect(server.localAddress()).sync().channel();
        try {
            client.writeAndFlush(ByteBufUtil.writeAscii(client.alloc(), text)).sync();

            assertEquals(text, answer.get(20, TimeUnit.SECONDS));
        } finally {
            group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
        }
    }

    private static final class Echo extends ChannelInboundHandlerAdapter {

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            context.writeAndFlush(message);
        }
    }

    private static final class Answer extends SimpleChannelInboundHandler<String> {

        private final CompletableFuture<String> answer;

        Answer(CompletableFuture<String> answer) {
            this.answer = answer;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, String message) {
            answer.complete(message);
        }
    }
}
