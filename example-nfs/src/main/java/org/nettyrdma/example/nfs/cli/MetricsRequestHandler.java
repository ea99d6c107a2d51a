package org.nettyrdma.example.nfs.cli;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.DateFormatter;
import io.netty.handler.codec.DelimiterBasedFrameDecoder;
import io.netty.handler.stream.ChunkedStream;
import io.netty.handler.stream.ChunkedWriteHandler;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.Date;
import java.util.function.Supplier;

/**
 * Answers one request (RFC 9112) and closes the connection, so that nobody keeps a place between two. What follows the head of
 * the request is of no consequence.
 */
final class MetricsRequestHandler extends SimpleChannelInboundHandler<ByteBuf> {

    private static final String PATH = "/metrics";
    private static final String CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";
    private static final int MAX_HEAD_BYTES = 8192;
    private static final byte[] END_OF_HEAD = {'\r', '\n', '\r', '\n'};
    /** Java copies what is written at once to direct memory, and keeps as much for the thread. */
    private static final int PIECE_BYTES = 4096;

    private final Supplier<byte[]> meters;
    private boolean answered;

    private MetricsRequestHandler(Supplier<byte[]> meters) {
        this.meters = meters;
    }

    static void addTo(ChannelPipeline pipeline, Supplier<byte[]> meters) {
        pipeline.addLast(new DelimiterBasedFrameDecoder(MAX_HEAD_BYTES, Unpooled.wrappedBuffer(END_OF_HEAD)),
                new ChunkedWriteHandler(), new MetricsRequestHandler(meters));
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, ByteBuf head) {
        if (answered) {
            return;
        }
        answered = true;
        ctx.channel().config().setAutoRead(false);
        String[] words = head.toString(StandardCharsets.ISO_8859_1).lines().findFirst().orElse("").split(" ");
        if (words.length != 3 || !words[2].startsWith("HTTP/1.")) {
            answer(ctx, "400 Bad Request", "");
        } else if (!words[1].split("\\?", 2)[0].equals(PATH)) {
            answer(ctx, "404 Not Found", "");
        } else if (words[0].equals("GET") || words[0].equals("HEAD")) {
            showMeters(ctx, words[0].equals("GET"));
        } else {
            answer(ctx, "405 Method Not Allowed", "Allow: GET, HEAD\r\n");
        }
    }

    private void showMeters(ChannelHandlerContext ctx, boolean withText) {
        byte[] text = meters.get();
        write(ctx, "200 OK", "Content-Type: " + CONTENT_TYPE + "\r\nContent-Length: " + text.length + "\r\n");
        ctx.writeAndFlush(new ChunkedStream(new ByteArrayInputStream(text, 0, withText ? text.length : 0), PIECE_BYTES))
                .addListener(ChannelFutureListener.CLOSE);
    }

    private static void answer(ChannelHandlerContext ctx, String status, String header) {
        write(ctx, status, header + "Content-Length: 0\r\n");
        ctx.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
    }

    private static void write(ChannelHandlerContext ctx, String status, String headers) {
        String head = "HTTP/1.1 " + status + "\r\nDate: " + DateFormatter.format(new Date()) + "\r\n" + headers
                + "Connection: close\r\n\r\n";
        ctx.write(ByteBufUtil.writeAscii(ctx.alloc(), head));
    }

    /** The peer has gone, sends what is no request, or there is no memory: whoever asks could fill the disk with the log. */
    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        ctx.close();
    }
}
