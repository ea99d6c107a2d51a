package org.nettyrdma.testing.stream;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.concurrent.Promise;
import java.io.IOException;
import java.security.MessageDigest;

/**
 * Sends so many bytes, takes so many at least, and then ends its direction; what the peer sends is taken until the peer ends its
 * own. Some programs end as soon as their peer has ended its direction, hence the second number. The channel must allow half
 * closure.
 */
final class ExchangeHandler extends ChannelInboundHandlerAdapter {

    private final GeneratedBytes outbound;
    private final Promise<String> result;
    private final MessageDigest inbound = Checksums.newDigest();
    private final long expected;
    private long received;
    private boolean written;
    private boolean outputEnded;
    private boolean inputEnded;

    /**
     * Creates a handler for one connection.
     *
     * @param bytes    how many bytes to send
     * @param expected how many bytes must have come before this side ends its direction
     * @param result   gets {@code sent BYTES CHECKSUM received BYTES CHECKSUM}
     */
    ExchangeHandler(long bytes, long expected, Promise<String> result) {
        outbound = new GeneratedBytes(bytes);
        this.expected = expected;
        this.result = result;
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        write(ctx);
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        if (ctx.channel().isWritable()) { // else this is in the middle of a write
            write(ctx);
        }
    }

    private void write(ChannelHandlerContext ctx) {
        while (outbound.hasMore() && ctx.channel().isWritable()) {
            var piece = ctx.write(outbound.next(ctx.alloc()));
            if (!outbound.hasMore()) {
                piece.addListener(last -> {
                    written = last.isSuccess();
                    endOutput(ctx);
                });
            }
        }
        ctx.flush();
    }

    private void endOutput(ChannelHandlerContext ctx) {
        if (written && received >= expected && !outputEnded) {
            outputEnded = true;
            ((SocketChannel) ctx.channel()).shutdownOutput().addListener(ended -> closeWhenDone(ctx));
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        ByteBuf data = (ByteBuf) message;
        received += data.readableBytes();
        Checksums.update(inbound, data);
        data.release();
        endOutput(ctx);
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event instanceof ChannelInputShutdownEvent) {
            inputEnded = true;
            closeWhenDone(ctx);
        }
    }

    private void closeWhenDone(ChannelHandlerContext ctx) {
        if (inputEnded && outputEnded) {
            ctx.close();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        if (!outputEnded) {
            result.tryFailure(new IOException("the connection ended before all was sent and received, after "
                    + received + " received bytes"));
        } else {
            result.trySuccess("sent " + outbound.describe() + " received " + Checksums.describe(received, inbound));
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        result.tryFailure(cause);
        ctx.close();
    }
}
