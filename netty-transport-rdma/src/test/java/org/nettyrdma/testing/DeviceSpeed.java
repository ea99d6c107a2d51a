package org.nettyrdma.testing;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import org.nettyrdma.channel.IdleStrategy;
import org.nettyrdma.channel.Rdma;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaEventLoopGroup;
import org.nettyrdma.channel.RdmaRead;
import org.nettyrdma.channel.RdmaServerChannel;
import org.nettyrdma.channel.RemoteAccess;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.testkit.TestAddress;

/**
 * What {@code ib_send_lat} and {@code ib_read_bw} measure, through the channel: half of the round trip of a small message, and
 * RDMA Reads of 64 KiB. As with perftest each end is a process of its own and polls all the time.
 */
public final class DeviceSpeed {

    private static final int MESSAGE_BYTES = 64;
    private static final int READ_BYTES = 65536;
    private static final int READS_IN_FLIGHT = 16;

    private DeviceSpeed() {
    }

    /** Opens memory to the peer, tells it where, and sends back what it gets. */
    private static final class Echo extends ChannelInboundHandlerAdapter {

        @Override
        public void channelActive(ChannelHandlerContext ctx) throws Exception {
            ByteBuf memory = ctx.alloc().buffer(READ_BYTES);
            RemoteSegment segment = ((RdmaChannel) ctx.channel()).expose(memory, 0, READ_BYTES, RemoteAccess.READ).segment();
            memory.release(); // the exposure holds it
            ctx.writeAndFlush(ctx.alloc().buffer().writeInt(segment.steeringTag()).writeLong(segment.offset()));
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ctx.writeAndFlush(message);
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            ctx.channel().parent().close(); // one client is all there is
        }
    }

    /**
     * Sends a message for each that comes, the first of which tells of the peer's memory, and notes the time of each. In an
     * emulated machine that does not trust its cycle counter, which perftest reads, that takes a system call and an access to an
     * emulated device, one to four microseconds.
     */
    private static final class Ping extends ChannelInboundHandlerAdapter {

        private final CompletableFuture<RemoteSegment> segment = new CompletableFuture<>();
        private final CompletableFuture<long[]> roundTripNanos = new CompletableFuture<>();
        /**
         * Of the last rounds, as a ring: those to warm up must do all that the others do, or the compiler leaves out what they do
         * not.
         */
        private final long[] readings;
        private int roundsLeft;

        Ping(int warmUp, int rounds) {
            readings = new long[rounds + 1];
            roundsLeft = warmUp + rounds;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            readings[roundsLeft % readings.length] = System.nanoTime();
            ByteBuf buffer = (ByteBuf) message;
            if (!segment.isDone()) {
                segment.complete(new RemoteSegment(buffer.readInt(), READ_BYTES, buffer.readLong()));
            }
            buffer.release();
            if (roundsLeft-- == 0) {
                roundTripNanos.complete(differences());
                return;
            }
            ctx.writeAndFlush(ctx.alloc().buffer(MESSAGE_BYTES).writeZero(MESSAGE_BYTES));
        }

        /** The readings go backwards, and end at index 0. */
        private long[] differences() {
            long[] nanos = new long[readings.length - 1];
            Arrays.setAll(nanos, i -> readings[i] - readings[i + 1]);
            return nanos;
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            roundTripNanos.completeExceptionally(new ClosedChannelException()); // nothing would come back any more
        }
    }

    /**
     * Serves one client, or measures as a client.
     *
     * @param arguments a port to serve on; or a port to connect to, rounds to warm up, rounds to measure, reads to measure
     * @throws Exception if anything fails
     */
    public static void main(String[] arguments) throws Exception {
        // Daemons: a failure below ends the process, although loops that poll all the time never end by themselves.
        EventLoopGroup loops = new RdmaEventLoopGroup(1, new DefaultThreadFactory("speed", true), Rdma.provider(),
                IdleStrategy.BUSY_POLL);
        InetSocketAddress address = new InetSocketAddress(TestAddress.LOCAL, Integer.parseInt(arguments[0]));
        if (arguments.length == 1) {
            serve(loops, address);
        } else {
            measure(loops, address, Integer.parseInt(arguments[1]), Integer.parseInt(arguments[2]),
                    Integer.parseInt(arguments[3]));
        }
        loops.shutdownGracefully().await();
    }

    private static void serve(EventLoopGroup loops, InetSocketAddress address) throws InterruptedException {
        Channel server = new ServerBootstrap().group(loops).channel(RdmaServerChannel.class)
                .childHandler(new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.pipeline().addLast(new Echo());
            }
        }).bind(address).sync().channel();
        System.out.println("serving");
        server.closeFuture().sync();
    }

    private static void measure(EventLoopGroup loops, InetSocketAddress server, int warmUp, int rounds, int reads)
            throws Exception {
        Ping ping = new Ping(warmUp, rounds);
        Channel client = new Bootstrap().group(loops).channel(RdmaChannel.class).handler(ping).connect(server).sync().channel();
        long[] roundTripNanos = ping.roundTripNanos.get();
        Arrays.sort(roundTripNanos);
        System.out.printf("latency_micros=%.2f%n", roundTripNanos[roundTripNanos.length / 2] / 2000.0);
        RemoteSegment source = ping.segment.get();
        read(client, source, 2 * reads); // to warm up
        long nanos = read(client, source, reads);
        System.out.printf("read_mebibytes_per_second=%.2f%n", (double) reads * READ_BYTES / (1 << 20) / (nanos / 1e9));
        client.close().sync();
    }

    private static long read(Channel client, RemoteSegment source, int reads) throws InterruptedException {
        ByteBuf sink = client.alloc().buffer(READ_BYTES);
        long startNanos = System.nanoTime();
        for (int left = reads; left > 0; left -= READS_IN_FLIGHT) {
            ChannelFuture last = null;
            for (int i = 0; i < READS_IN_FLIGHT; i++) {
                last = client.write(new RdmaRead(source, sink.retainedDuplicate().clear()));
            }
            client.flush();
            last.sync();
        }
        sink.release();
        return System.nanoTime() - startNanos;
    }
}
