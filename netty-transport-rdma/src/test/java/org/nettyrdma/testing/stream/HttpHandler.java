package org.nettyrdma.testing.stream;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.function.Consumer;

/**
 * An HTTP/1.1 server behind {@code HttpServerCodec}: {@code GET /BYTES} answers with so many bytes, {@code PUT} with number and
 * checksum of what came. Connections are kept.
 */
final class HttpHandler extends SimpleChannelInboundHandler<HttpObject> {

    private final Consumer<String> log;
    private final MessageDigest inbound = Checksums.newDigest();
    private HttpRequest request;
    private long received;
    private GeneratedBytes outbound;

    /**
     * Creates a handler for one connection.
     *
     * @param log told of each request: {@code METHOD BYTES CHECKSUM}
     */
    HttpHandler(Consumer<String> log) {
        this.log = log;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, HttpObject message) {
        if (message instanceof HttpRequest started) {
            request = started;
            received = 0;
        }
        if (message instanceof HttpContent content) {
            received += content.content().readableBytes();
            Checksums.update(inbound, content.content());
        }
        if (message instanceof LastHttpContent) {
            answer(ctx);
        }
    }

    private void answer(ChannelHandlerContext ctx) {
        String checksum = Checksums.describe(received, inbound);
        if (request.method().equals(HttpMethod.GET)) {
            long bytes = Long.parseLong(request.uri().substring(1));
            HttpResponse response = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK);
            HttpUtil.setContentLength(response, bytes);
            outbound = new GeneratedBytes(bytes);
            ctx.write(response);
            write(ctx);
        } else {
            log.accept(request.method() + " " + checksum);
            ByteBuf body = Unpooled.copiedBuffer(checksum + '\n', StandardCharsets.US_ASCII);
            HttpResponse response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK, body);
            HttpUtil.setContentLength(response, body.readableBytes());
            response.headers().set(HttpHeaderNames.CONTENT_TYPE, "text/plain");
            end(ctx, response);
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        if (ctx.channel().isWritable()) { // else this is in the middle of a write
            write(ctx);
        }
    }

    private void write(ChannelHandlerContext ctx) {
        while (outbound != null && ctx.channel().isWritable()) {
            if (outbound.hasMore()) {
                ctx.write(new DefaultHttpContent(outbound.next(ctx.alloc())));
            } else {
                log.accept("GET " + outbound.describe());
                outbound = null;
                end(ctx, LastHttpContent.EMPTY_LAST_CONTENT);
            }
        }
        ctx.flush();
    }

    private void end(ChannelHandlerContext ctx, HttpObject last) {
        var written = ctx.writeAndFlush(last);
        if (!HttpUtil.isKeepAlive(request)) {
            written.addListener(ChannelFutureListener.CLOSE);
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        log.accept("failed " + cause);
        ctx.close();
    }
}
