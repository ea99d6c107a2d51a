package org.nettyrdma.streamtests.frameworks;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import java.nio.charset.StandardCharsets;

/** As much of a PostgreSQL server as a driver needs for its values: the only row of a query is the text between its quotes. */
final class PostgresServer extends ChannelInitializer<SocketChannel> {

    private static final int MOST_BYTES = 1 << 20;
    private static final int TEXT_TYPE = 25;

    @Override
    protected void initChannel(SocketChannel channel) {
        channel.pipeline().addLast(frames(0), new Startup());
    }

    private static LengthFieldBasedFrameDecoder frames(int lengthOffset) {
        return new LengthFieldBasedFrameDecoder(MOST_BYTES, lengthOffset, Integer.BYTES, -Integer.BYTES, 0);
    }

    /** The first message of a connection is the only one without a type. */
    private static final class Startup extends SimpleChannelInboundHandler<ByteBuf> {

        @Override
        protected void channelRead0(ChannelHandlerContext context, ByteBuf in) {
            ByteBuf out = context.alloc().buffer();
            message(out, 'R', context.alloc().buffer().writeInt(0));
            message(out, 'S', text(text(context.alloc().buffer(), "server_version"), "15"));
            context.writeAndFlush(ready(out));
            context.pipeline().replace(LengthFieldBasedFrameDecoder.class, null, frames(1));
            context.pipeline().replace(this, null, new Queries());
        }
    }

    private static final class Queries extends SimpleChannelInboundHandler<ByteBuf> {

        @Override
        protected void channelRead0(ChannelHandlerContext context, ByteBuf in) {
            if (in.readByte() == 'Q') {
                String[] parts = in.toString(StandardCharsets.UTF_8).split("'");
                ByteBuf out = context.alloc().buffer();
                message(out, 'T', text(context.alloc().buffer().writeShort(1), "text").writeInt(0).writeShort(0)
                        .writeInt(TEXT_TYPE).writeShort(-1).writeInt(-1).writeShort(0));
                if (parts.length == 3) {
                    ByteBuf row = context.alloc().buffer().writeShort(1).writeInt(ByteBufUtil.utf8Bytes(parts[1]));
                    row.writeCharSequence(parts[1], StandardCharsets.UTF_8);
                    message(out, 'D', row);
                }
                message(out, 'C', text(context.alloc().buffer(), "SELECT"));
                context.writeAndFlush(ready(out));
            }
        }
    }

    private static ByteBuf ready(ByteBuf out) {
        return out.writeByte('Z').writeInt(Integer.BYTES + 1).writeByte('I');
    }

    private static ByteBuf text(ByteBuf out, String text) {
        out.writeCharSequence(text, StandardCharsets.UTF_8);
        return out.writeByte(0);
    }

    private static void message(ByteBuf out, char type, ByteBuf body) {
        out.writeByte(type).writeInt(Integer.BYTES + body.readableBytes()).writeBytes(body);
        body.release();
    }
}
