package org.nettyrdma.transparency;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import java.util.function.IntFunction;
import java.util.zip.CRC32;
import org.nettyrdma.codec.oncrpc.Xdr;

/**
 * A server as it is written without any framework and without a thought of RDMA: it reads each RPC call from one buffer and
 * writes its reply into another one, all in one piece.
 */
@ChannelHandler.Sharable
final class BlobServer extends SimpleChannelInboundHandler<ByteBuf> {

    static final int PROGRAM = 0x20000042;
    /** opaque&lt;&gt; data to int crc. */
    static final int STORE = 1;
    /** int length to opaque&lt;&gt; data, whose bytes count up. */
    static final int LOAD = 2;

    /** XID, REPLY, accepted, an empty verifier, success. */
    private static final int REPLY_HEADER_BYTES = 6 * Integer.BYTES;

    /** The connection that was used last. */
    volatile Channel channel;

    private final IntFunction<ByteBuf> memory;

    /** Creates a server that takes memory for its replies by their size, {@code null} for that of the channel. */
    BlobServer(IntFunction<ByteBuf> memory) {
        this.memory = memory;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, ByteBuf call) {
        channel = ctx.channel();
        int xid = call.readInt();
        call.skipBytes(4 * Integer.BYTES); // CALL, RPC version, program, version
        int procedure = call.readInt();
        skipAuth(call);
        skipAuth(call);
        int length = call.readInt();
        int replyBytes = REPLY_HEADER_BYTES + Integer.BYTES + (procedure == LOAD ? Xdr.paddedLength(length) : 0);
        ByteBuf reply = memory == null ? ctx.alloc().buffer(replyBytes) : memory.apply(replyBytes);
        reply.writeInt(xid).writeInt(1).writeInt(0).writeLong(0).writeInt(0);
        if (procedure == LOAD) {
            reply.writeInt(length).writeBytes(bytes(length)).writeZero(-length & 3);
        } else {
            reply.writeInt(crc(ByteBufUtil.getBytes(call.readSlice(length))));
        }
        ctx.writeAndFlush(reply);
    }

    private static void skipAuth(ByteBuf call) {
        call.skipBytes(Integer.BYTES);
        call.skipBytes(call.readInt());
    }

    static byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) i;
        }
        return bytes;
    }

    static int crc(byte[] bytes) {
        CRC32 crc = new CRC32();
        crc.update(bytes);
        return (int) crc.getValue();
    }
}
