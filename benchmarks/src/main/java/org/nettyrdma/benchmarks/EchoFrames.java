package org.nettyrdma.benchmarks;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;

/**
 * Frames with their length in front, of the sizes that calls and replies of {@link Operation#ECHO} have with record marking, and
 * nothing else: what a call costs without an RPC layer. One handler per channel.
 * <pre>{@code
 * | length | room for an RPC header | length of the payload | payload }</pre>
 */
abstract class EchoFrames extends ChannelInboundHandlerAdapter {

    /** What precedes the arguments of a call without credentials. */
    static final int CALL_HEADER_BYTES = 40;
    /** What precedes the results of a call that has succeeded. */
    static final int REPLY_HEADER_BYTES = 24;

    private static final int LENGTH_BYTES = Integer.BYTES;

    /** The beginning of a frame whose end has not come, or {@code null}. */
    private ByteBuf rest;

    /** Answers each frame with its payload. */
    static ChannelHandler server() {
        return new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.pipeline().addLast(new Server());
            }
        };
    }

    /**
     * A frame has come.
     *
     * @param in    reader index at the room for the header; it need not be moved
     * @param bytes length of the frame without its own length
     */
    abstract void received(ChannelHandlerContext ctx, ByteBuf in, int bytes);

    static ByteBuf newFrame(Channel channel, int headerBytes, ByteBuf source, int start, int payloadBytes) {
        int bytes = headerBytes + Integer.BYTES + payloadBytes;
        return channel.alloc().directBuffer(LENGTH_BYTES + bytes).writeInt(bytes).writeZero(headerBytes).writeInt(payloadBytes)
                .writeBytes(source, start, payloadBytes);
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        ByteBuf in = (ByteBuf) msg;
        if (rest != null) {
            in = rest.writeBytes(in);
            ((ByteBuf) msg).release();
            rest = null;
        }
        while (in.readableBytes() >= LENGTH_BYTES && in.readableBytes() - LENGTH_BYTES >= in.getInt(in.readerIndex())) {
            int bytes = in.readInt();
            int end = in.readerIndex() + bytes;
            received(ctx, in, bytes);
            in.readerIndex(end);
        }
        if (in.isReadable()) {
            rest = ctx.alloc().directBuffer(Math.max(in.readableBytes(), 1 << 16)).writeBytes(in);
        }
        in.release();
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        ctx.flush();
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        if (rest != null) {
            rest.release();
            rest = null;
        }
    }

    /** The end that answers. */
    private static final class Server extends EchoFrames {

        @Override
        void received(ChannelHandlerContext ctx, ByteBuf in, int bytes) {
            int payload = in.readerIndex() + CALL_HEADER_BYTES;
            ctx.write(newFrame(ctx.channel(), REPLY_HEADER_BYTES, in, payload + Integer.BYTES, in.getInt(payload)),
                    ctx.voidPromise());
        }
    }
}
