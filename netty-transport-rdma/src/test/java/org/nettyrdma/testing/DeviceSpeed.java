package org.nettyrdma.testing;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.util.concurrent.DefaultThreadFactory;
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

/**
 * What {@code ib_send_lat} and {@code ib_read_bw} measure, through the channel: half of the round trip of a small message, and RDMA Reads of
 * 64 KiB, both ends in this process. Both event loops poll all the time, as perftest does.
 */
public final class DeviceSpeed {

    private static final int MESSAGE_BYTES = 64;
    private static final int READ_BYTES = 65536;
    private static final int READS_IN_FLIGHT = 16;
    /**
     * Round trips that are timed together. In the emulated machine reading the clock takes a system call and an access to an emulated
     * device, one to four microseconds; perftest reads the processor's cycle counter, which takes none.
     */
    private static final int ROUNDS_PER_READING = 8;

    private DeviceSpeed() {
    }

    /** Sends back what it gets; opens memory to the peer and tells it where. */
    private static final class Echo extends ChannelInboundHandlerAdapter {

        private final CompletableFuture<RemoteSegment> segment;

        Echo(CompletableFuture<RemoteSegment> segment) {
            this.segment = segment;
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) throws Exception {
            ByteBuf memory = ctx.alloc().buffer(READ_BYTES);
            segment.complete(((RdmaChannel) ctx.channel()).expose(memory, 0, READ_BYTES, RemoteAccess.READ).segment());
            memory.release(); // the exposure holds it
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ctx.writeAndFlush(message);
        }
    }

    /** Sends a message for each that comes back, and notes the time now and then. */
    private static final class Ping extends ChannelInboundHandlerAdapter {

        private final long[] readings;
        private final CompletableFuture<long[]> roundTripNanos = new CompletableFuture<>();
        private final int warmUp;
        private int count;

        Ping(int warmUp, int rounds) {
            this.warmUp = warmUp;
            readings = new long[rounds / ROUNDS_PER_READING + 1];
        }

        void send(Channel channel) {
            int round = count++ - warmUp;
            if (round >= 0 && round % ROUNDS_PER_READING == 0) {
                readings[round / ROUNDS_PER_READING] = System.nanoTime();
                if (round / ROUNDS_PER_READING == readings.length - 1) {
                    roundTripNanos.complete(differences());
                    return;
                }
            }
            channel.writeAndFlush(channel.alloc().buffer(MESSAGE_BYTES).writeZero(MESSAGE_BYTES));
        }

        private long[] differences() {
            long[] nanos = new long[readings.length - 1];
            Arrays.setAll(nanos, i -> (readings[i + 1] - readings[i]) / ROUNDS_PER_READING);
            return nanos;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ((ByteBuf) message).release();
            send(ctx.channel());
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            roundTripNanos.completeExceptionally(new ClosedChannelException()); // nothing would come back any more
        }
    }

    /**
     * Measures.
     *
     * @param arguments rounds to warm up, rounds to measure, reads to measure
     * @throws Exception if anything fails
     */
    public static void main(String[] arguments) throws Exception {
        // Daemons: a failure below ends the process, although loops that poll all the time never end by themselves.
        RdmaEventLoopGroup loops = new RdmaEventLoopGroup(2, new DefaultThreadFactory("speed", true), Rdma.provider(), IdleStrategy.BUSY_POLL);
        CompletableFuture<RemoteSegment> segment = new CompletableFuture<>();
        Ping ping = new Ping(Integer.parseInt(arguments[0]), Integer.parseInt(arguments[1]));
        Channel server = new ServerBootstrap().group(loops).channel(RdmaServerChannel.class)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new Echo(segment));
                    }
                }).bind(TestAddress.LOCAL, 0).sync().channel();
        Channel client = new Bootstrap().group(loops).channel(RdmaChannel.class).handler(ping).connect(server.localAddress()).sync()
                .channel();
        client.eventLoop().execute(() -> ping.send(client));
        long[] roundTripNanos = ping.roundTripNanos.get();
        Arrays.sort(roundTripNanos);
        System.out.printf("latency_micros=%.2f%n", roundTripNanos[roundTripNanos.length / 2] / 2000.0);
        int reads = Integer.parseInt(arguments[2]);
        read(client, segment.get(), reads / 4);
        long nanos = read(client, segment.get(), reads);
        System.out.printf("read_mebibytes_per_second=%.2f%n", (double) reads * READ_BYTES / (1 << 20) / (nanos / 1e9));
        loops.shutdownGracefully().await();
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
