package org.nettyrdma.examples.http;

import static io.netty.handler.codec.http.HttpHeaderNames.CONTENT_TYPE;
import static io.netty.handler.codec.http.HttpHeaderNames.HOST;
import static io.netty.handler.codec.http.HttpHeaderValues.TEXT_PLAIN;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpServerKeepAliveHandler;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.concurrent.Promise;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.channel.RdmaEventLoopGroup;
import org.nettyrdma.channel.RdmaServerStreamChannel;
import org.nettyrdma.channel.RdmaStreamChannel;

/** An HTTP server and a client of Netty's handlers, over RDMA. Prints what the server answers. */
public final class Http {

    private static final int MAX_BYTES = 1 << 20;

    private Http() {
    }

    /**
     * Runs server and client.
     *
     * @param arguments the path to ask for; nothing for {@code /}
     * @throws Exception if the request fails
     */
    public static void main(String[] arguments) throws Exception {
        String path = arguments.length == 0 ? "/" : arguments[0];
        RdmaEventLoopGroup group = new RdmaEventLoopGroup(2);
        try {
            Channel server = new ServerBootstrap().group(group).channel(RdmaServerStreamChannel.class)
                    .childHandler(serverHandlers())
                    .bind("127.0.0.1", 0).sync().channel();
            Promise<String> answer = group.next().newPromise();
            Channel client = new Bootstrap().group(group).channel(RdmaStreamChannel.class)
                    .handler(clientHandlers(answer))
                    .connect(server.localAddress()).sync().channel();
            FullHttpRequest request = new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, path);
            request.headers().set(HOST, "localhost");
            client.writeAndFlush(request);
            System.out.println(answer.sync().getNow());
        } finally {
            group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        }
    }

    /** Nothing here knows of RDMA: the test of this example has the same handlers serve TCP. */
    static ChannelHandler serverHandlers() {
        return new ChannelInitializer<SocketChannel>() {
            @Override
            protected void initChannel(SocketChannel channel) {
                channel.pipeline().addLast(new HttpServerCodec(), new HttpServerKeepAliveHandler(),
                        new HttpObjectAggregator(MAX_BYTES), new Greeter());
            }
        };
    }

    private static ChannelHandler clientHandlers(Promise<String> answer) {
        return new ChannelInitializer<SocketChannel>() {
            @Override
            protected void initChannel(SocketChannel channel) {
                channel.pipeline().addLast(new HttpClientCodec(), new HttpObjectAggregator(MAX_BYTES), new Asker(answer));
            }
        };
    }

    private static final class Greeter extends SimpleChannelInboundHandler<FullHttpRequest> {

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, FullHttpRequest request) {
            String text = "Hello from " + request.uri();
            FullHttpResponse response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK,
                    ByteBufUtil.writeUtf8(ctx.alloc(), text));
            response.headers().set(CONTENT_TYPE, TEXT_PLAIN);
            HttpUtil.setContentLength(response, response.content().readableBytes());
            ctx.writeAndFlush(response);
        }
    }

    private static final class Asker extends SimpleChannelInboundHandler<FullHttpResponse> {

        private final Promise<String> answer;

        Asker(Promise<String> answer) {
            this.answer = answer;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, FullHttpResponse response) {
            answer.trySuccess(response.status() + "\n" + response.content().toString(StandardCharsets.UTF_8));
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            answer.tryFailure(cause);
            ctx.close();
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            answer.tryFailure(new ClosedChannelException());
        }
    }
}
