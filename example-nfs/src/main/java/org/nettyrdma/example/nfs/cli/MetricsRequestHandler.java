package org.nettyrdma.example.nfs.cli;

import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.DateFormatter;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpChunkedInput;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.QueryStringDecoder;
import io.netty.handler.stream.ChunkedStream;
import io.netty.handler.stream.ChunkedWriteHandler;
import java.io.ByteArrayInputStream;
import java.util.Date;
import java.util.function.Supplier;

/** Answers one request and closes the connection, so that nobody keeps a place between two. A body is of no consequence. */
final class MetricsRequestHandler extends SimpleChannelInboundHandler<HttpObject> {

    private static final String PATH = "/metrics";
    private static final String CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";
    private static final int MAX_BYTES = 4096; // of the first line, of all headers
    /** Java copies what is written at once to direct memory, and keeps as much for the thread. */
    private static final int PIECE_BYTES = 4096;

    private final Supplier<byte[]> meters;
    private boolean answered;

    private MetricsRequestHandler(Supplier<byte[]> meters) {
        this.meters = meters;
    }

    static void addTo(ChannelPipeline pipeline, Supplier<byte[]> meters) {
        pipeline.addLast(new HttpServerCodec(MAX_BYTES, MAX_BYTES, MAX_BYTES), new ChunkedWriteHandler(),
                new MetricsRequestHandler(meters));
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, HttpObject message) {
        if (answered || !(message instanceof HttpRequest request)) {
            return;
        }
        answered = true;
        ctx.channel().config().setAutoRead(false);
        HttpResponse response = new DefaultHttpResponse(HttpVersion.HTTP_1_1, status(request));
        byte[] text = {};
        if (response.status().equals(HttpResponseStatus.OK)) {
            text = meters.get();
            response.headers().set(HttpHeaderNames.CONTENT_TYPE, CONTENT_TYPE);
        } else if (response.status().equals(HttpResponseStatus.METHOD_NOT_ALLOWED)) {
            response.headers().set(HttpHeaderNames.ALLOW, "GET, HEAD");
        }
        response.headers().set(HttpHeaderNames.DATE, DateFormatter.format(new Date()))
                .set(HttpHeaderNames.CONTENT_LENGTH, text.length)
                .set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        ctx.write(response);
        int length = request.method().equals(HttpMethod.HEAD) ? 0 : text.length;
        ctx.writeAndFlush(new HttpChunkedInput(new ChunkedStream(new ByteArrayInputStream(text, 0, length), PIECE_BYTES)))
                .addListener(ChannelFutureListener.CLOSE);
    }

    private static HttpResponseStatus status(HttpRequest request) {
        if (request.decoderResult().isFailure() || request.protocolVersion().majorVersion() != 1) {
            return HttpResponseStatus.BAD_REQUEST;
        }
        if (!new QueryStringDecoder(request.uri()).rawPath().equals(PATH)) {
            return HttpResponseStatus.NOT_FOUND;
        }
        boolean allowed = request.method().equals(HttpMethod.GET) || request.method().equals(HttpMethod.HEAD);
        return allowed ? HttpResponseStatus.OK : HttpResponseStatus.METHOD_NOT_ALLOWED;
    }

    /** The peer has gone, or there is no memory: whoever asks could fill the disk with the log. */
    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        ctx.close();
    }
}
