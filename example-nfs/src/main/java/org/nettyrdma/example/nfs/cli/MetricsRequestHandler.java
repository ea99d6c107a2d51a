package org.nettyrdma.example.nfs.cli;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.DateFormatter;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpChunkedInput;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.QueryStringDecoder;
import io.netty.handler.stream.ChunkedStream;
import io.netty.handler.stream.ChunkedWriteHandler;
import io.netty.util.concurrent.Future;
import java.io.ByteArrayInputStream;
import java.util.Date;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/** Answers one request and ends the connection, so that nobody keeps a place between two. A body is of no consequence. */
final class MetricsRequestHandler extends SimpleChannelInboundHandler<Object> {

    private static final String PATH = "/metrics";
    /** A server takes the whole address in place of the path, too (RFC 9112, section 3.2.2). */
    private static final Pattern SCHEME_AND_AUTHORITY = Pattern.compile("(?i)\\Ahttp://[^/?#]*");
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
    protected void channelRead0(ChannelHandlerContext ctx, Object message) {
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
                .addListener(sent -> answered(ctx, sent));
    }

    /**
     * The connection keeps its place until its time is over, or a newer one needs it: nobody tells whether the peer has taken the
     * answer, which the system would keep behind a close. And a reset, which what the peer sends behind a close causes, may
     * overtake the answer (RFC 9112, section 9.6).
     */
    private static void answered(ChannelHandlerContext ctx, Future<?> sent) {
        if (sent.isSuccess()) {
            ctx.pipeline().remove(HttpServerCodec.class); // nothing that comes now is looked at
            ((DuplexChannel) ctx.channel()).shutdownOutput();
            ctx.channel().config().setAutoRead(true);
        } else {
            ctx.close();
        }
    }

    /** A peer that has asked and ended its output may still take its answer. */
    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event == ChannelInputShutdownEvent.INSTANCE && !answered) {
            ctx.close();
        }
    }

    private static HttpResponseStatus status(HttpRequest request) {
        if (request.decoderResult().isFailure() || request.protocolVersion().majorVersion() != 1) {
            return HttpResponseStatus.BAD_REQUEST;
        }
        String target = SCHEME_AND_AUTHORITY.matcher(request.uri()).replaceFirst("");
        if (!new QueryStringDecoder(target).rawPath().equals(PATH)) {
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
