package org.nettyrdma.transparency;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.EncoderException;

/**
 * Stands where {@code RpcUtil.constructRpcFrameDecoder()} stands over TCP. RPC-over-RDMA keeps messages apart by itself
 * (RFC 8166, section 3.2), so that there is nothing to decode; but the stage that writes Hadoop's replies puts a
 * record marker in front of each, which is taken off here.
 *
 * <p>Hadoop's handlers do not release the messages that they read. Over TCP its frame decoder's buffers stay allocated; here
 * the message is copied into memory that needs no release, and the receive buffer returns to its pool.
 */
@ChannelHandler.Sharable
final class UnmarkedRecords extends ChannelDuplexHandler {

    private static final int LAST_FRAGMENT = 0x8000_0000;

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        ByteBuf message = (ByteBuf) msg;
        ByteBuf copy = Unpooled.copiedBuffer(message);
        message.release();
        ctx.fireChannelRead(copy);
    }

    @Override
    public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
        ByteBuf record = (ByteBuf) msg;
        if (record.readableBytes() < Integer.BYTES
                || record.getInt(record.readerIndex()) != (LAST_FRAGMENT | record.readableBytes() - Integer.BYTES)) {
            record.release();
            promise.tryFailure(new EncoderException("not one whole record of one fragment"));
            return;
        }
        ctx.write(record.skipBytes(Integer.BYTES), promise);
    }
}
