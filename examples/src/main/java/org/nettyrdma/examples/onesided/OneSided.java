package org.nettyrdma.examples.onesided;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.util.concurrent.Promise;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.channel.ExposedMemory;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaEventLoopGroup;
import org.nettyrdma.channel.RdmaRead;
import org.nettyrdma.channel.RdmaServerChannel;
import org.nettyrdma.channel.RdmaWrite;
import org.nettyrdma.channel.RemoteAccess;
import org.nettyrdma.channel.RemoteSegment;

/** Bulk data without RPC: the server fetches a file from the client's memory, and puts it back with its bytes in reverse. */
public final class OneSided {

    private static final int MAX_BYTES = 16 << 20;

    private OneSided() {
    }

    /**
     * Runs server and client.
     *
     * @param arguments a file of 1 byte to 16 MiB, and the file to write what has come back
     * @throws Exception if the connection or a file fails
     */
    public static void main(String[] arguments) throws Exception {
        if (arguments.length != 2) {
            throw new IllegalArgumentException("usage: examples/run onesided FILE REVERSED");
        }
        byte[] bytes = Files.readAllBytes(Path.of(arguments[0]));
        RdmaEventLoopGroup group = new RdmaEventLoopGroup(2);
        try {
            Channel server = new ServerBootstrap().group(group).channel(RdmaServerChannel.class)
                    .childHandler(new ChannelInitializer<>() {
                        @Override
                        protected void initChannel(Channel channel) {
                            channel.pipeline().addLast(new Server());
                        }
                    })
                    .bind("127.0.0.1", 0).sync().channel();
            Promise<byte[]> result = group.next().newPromise();
            new Bootstrap().group(group).channel(RdmaChannel.class).handler(new Client(bytes, result))
                    .connect(server.localAddress()).sync();
            Files.write(Path.of(arguments[1]), result.sync().getNow());
        } finally {
            group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        }
    }

    /** Opens two pieces of memory, tells the server where they are, and waits for one message. */
    private static final class Client extends SimpleChannelInboundHandler<ByteBuf> {

        private final byte[] bytes;
        private final Promise<byte[]> result;
        private ExposedMemory source;
        private ExposedMemory target;

        Client(byte[] bytes, Promise<byte[]> result) {
            this.bytes = bytes;
            this.result = result;
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) throws IOException {
            source = expose(ctx, ctx.alloc().buffer(bytes.length).writeBytes(bytes), RemoteAccess.READ);
            target = expose(ctx, ctx.alloc().buffer(bytes.length), RemoteAccess.WRITE);
            ByteBuf message = ctx.alloc().buffer();
            writeSegment(message, source.segment());
            writeSegment(message, target.segment());
            ctx.writeAndFlush(message);
        }

        private ExposedMemory expose(ChannelHandlerContext ctx, ByteBuf memory, RemoteAccess access) throws IOException {
            try {
                return ((RdmaChannel) ctx.channel()).expose(memory, 0, bytes.length, access);
            } finally {
                memory.release(); // what is exposed has a reference of its own
            }
        }

        /** The server is done: its RDMA Write was in memory before this message came. */
        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ByteBuf message) {
            result.trySuccess(ByteBufUtil.getBytes(target.memory(), 0, bytes.length));
            source.invalidate();
            target.invalidate();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            result.tryFailure(cause);
            ctx.close();
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            result.tryFailure(new ClosedChannelException());
        }
    }

    /** Reads from one piece of the client's memory, and writes to the other. */
    private static final class Server extends SimpleChannelInboundHandler<ByteBuf> {

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ByteBuf message) throws IOException {
            RemoteSegment source = readSegment(message);
            RemoteSegment target = readSegment(message);
            if (source.length() > MAX_BYTES || target.length() < source.length()) {
                throw new IOException("refused: " + source + ", " + target); // a length from the peer is a claim
            }
            ByteBuf bytes = ctx.alloc().buffer((int) source.length());
            ctx.writeAndFlush(new RdmaRead(source, bytes.retain())).addListener(read -> {
                if (read.isSuccess()) {
                    reverse(bytes);
                    ctx.write(new RdmaWrite(bytes, target));
                    ctx.writeAndFlush(Unpooled.EMPTY_BUFFER); // arrives behind the data
                } else {
                    bytes.release();
                    ctx.fireExceptionCaught(read.cause());
                }
            });
        }

        private static void reverse(ByteBuf bytes) {
            for (int i = 0, j = bytes.readableBytes() - 1; i < j; i++, j--) {
                byte first = bytes.getByte(i);
                bytes.setByte(i, bytes.getByte(j));
                bytes.setByte(j, first);
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            System.err.println(ctx.channel() + ": " + cause);
            ctx.close();
        }
    }

    private static void writeSegment(ByteBuf out, RemoteSegment segment) {
        out.writeInt(segment.steeringTag()).writeLong(segment.length()).writeLong(segment.offset());
    }

    private static RemoteSegment readSegment(ByteBuf in) {
        return new RemoteSegment(in.readInt(), in.readLong(), in.readLong());
    }
}
