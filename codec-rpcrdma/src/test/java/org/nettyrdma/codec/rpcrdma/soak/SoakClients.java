package org.nettyrdma.codec.rpcrdma.soak;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.nettyrdma.channel.Rdma;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaEventLoopGroup;
import org.nettyrdma.channel.RegisteredByteBufAllocator;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcConnectionException;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.oncrpc.client.ReconnectPolicy;
import org.nettyrdma.codec.oncrpc.client.ReconnectingRpcClient;
import org.nettyrdma.codec.rpcrdma.RpcRdma;
import org.nettyrdma.codec.rpcrdma.VersionPolicy;

/**
 * The 64 clients of the soak: {@code SoakClients SECONDS OUTCOMES PORT...}. Each goes to one of the ports, calls, rests, is
 * closed after some time, and makes place for another one. How each call ended goes to a file.
 */
final class SoakClients {

    static final int ANSWERED = 'A';
    /** Failed, and a server may have executed it. */
    static final int UNKNOWN = 'U';
    /** Failed, and no server can have seen it. */
    static final int NOT_SENT = 'N';
    /** Failed though it might have been made again, or with other than its answer. */
    static final int LOST = 'L';

    private static final int CLIENTS = 64;
    private static final int CALLS_AT_ONCE = 4;
    private static final int MAX_REST_MILLIS = 400;
    private static final ReconnectPolicy POLICY = ReconnectPolicy.DEFAULT.withDelayMillis(5, 500).withCallTimeoutMillis(120_000);

    private final EventLoopGroup group = new RdmaEventLoopGroup(1);
    private final AtomicLong numbers = new AtomicLong();
    private final AtomicLong ended = new AtomicLong();
    private final AtomicInteger loops = new AtomicInteger();
    private final AtomicLong lostConnections = new AtomicLong();
    private final AtomicLong clients = new AtomicLong();
    private final DataOutputStream outcomes;
    private volatile boolean stopping;

    private SoakClients(Path file) throws IOException {
        outcomes = new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(file), 1 << 16));
    }

    public static void main(String[] arguments) throws Exception {
        SoakClients soak = new SoakClients(Path.of(arguments[1]));
        SoakMeter.begin();
        List<Integer> ports = new ArrayList<>();
        for (int i = 2; i < arguments.length; i++) {
            ports.add(Integer.parseInt(arguments[i]));
        }
        soak.run(Integer.parseInt(arguments[0]), ports);
    }

    private void run(int seconds, List<Integer> ports) throws Exception {
        for (int i = 0; i < CLIENTS; i++) {
            replace(i, ports.get(i % ports.size()));
        }
        long endNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        while (System.nanoTime() < endNanos) {
            Thread.sleep(10_000);
            System.out.println(this);
        }
        stopping = true;
        long limitNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(150); // the time-out of calls, and a bit
        while (loops.get() > 0 && System.nanoTime() < limitNanos) {
            Thread.sleep(100);
        }
        synchronized (outcomes) {
            outcomes.close();
        }
        System.out.println("ended " + this);
        group.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
        System.exit(loops.get() == 0 ? 0 : 1);
    }

    @Override
    public String toString() {
        return "calls " + numbers.get() + ", ended " + ended.get() + ", clients " + clients.get() + ", lost connections "
                + lostConnections.get() + ", under way " + loops.get();
    }

    /** A client, and another one after it. Every second one speaks version 1; every fourth one has two connections. */
    private void replace(int index, int port) {
        VersionPolicy versions = index / 2 % 2 == 0 ? VersionPolicy.PREFER_V2 : VersionPolicy.V1_ONLY;
        Bootstrap bootstrap = RpcRdma.client().versions(versions).handlers(pipeline -> pipeline.addLast(new SlowReader())
                .addLast(new RpcClient())).build().configure(new Bootstrap().group(group).channel(RdmaChannel.class));
        ReconnectingRpcClient client = ReconnectingRpcClient.builder(bootstrap,
                new InetSocketAddress(InetAddress.getLoopbackAddress(), port)).policy(POLICY)
                .connections(index % 4 == 3 ? 2 : 1).connect();
        clients.incrementAndGet();
        for (int i = 0; i < CALLS_AT_ONCE; i++) {
            loops.incrementAndGet();
            call(client);
        }
        GlobalEventExecutor.INSTANCE.schedule(() -> {
            lostConnections.addAndGet(client.statistics().lostConnections());
            client.close();
            if (!stopping) {
                replace(index, port);
            }
        }, 10_000 + ThreadLocalRandom.current().nextInt(50_000), TimeUnit.MILLISECONDS);
    }

    private void call(ReconnectingRpcClient client) {
        if (stopping) {
            loops.decrementAndGet();
            return;
        }
        long number = numbers.getAndIncrement();
        RpcRequest request = SoakProgram.request(RegisteredByteBufAllocator.of(Rdma.provider()), number);
        client.call(request).addListener((Future<ByteBuf> done) -> {
            boolean closed = false;
            if (done.isSuccess()) {
                String fault = SoakProgram.fault(done.getNow(), number);
                done.getNow().release();
                record(number, fault == null ? ANSWERED : LOST, fault);
            } else {
                closed = client.closeFuture().isDone()
                        || String.valueOf(done.cause().getCause()).contains("the client was closed");
                record(number, outcome(number, done.cause(), closed), done.cause());
            }
            if (closed) {
                loops.decrementAndGet();
            } else {
                GlobalEventExecutor.INSTANCE.schedule(() -> call(client),
                        ThreadLocalRandom.current().nextInt(MAX_REST_MILLIS), TimeUnit.MILLISECONDS);
            }
        });
    }

    private static int outcome(long number, Throwable cause, boolean closed) {
        if (!(cause instanceof RpcConnectionException failure)) {
            return LOST;
        }
        if (closed) {
            return failure.mayHaveBeenSent() ? UNKNOWN : NOT_SENT;
        }
        return switch (SoakProgram.retransmission(number)) {
            case ONLY_IF_NOT_SENT -> failure.mayHaveBeenSent() ? UNKNOWN : LOST;
            default -> LOST;
        };
    }

    private void record(long number, int outcome, Object fault) {
        ended.incrementAndGet();
        if (outcome == LOST) {
            System.out.println("FAULT: call " + number + ": " + fault
                    + (fault instanceof Throwable failure ? " caused by " + failure.getCause() : ""));
        }
        try {
            synchronized (outcomes) {
                outcomes.writeLong(number);
                outcomes.writeByte(outcome);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Now and then does not read for a while. */
    private static final class SlowReader extends ChannelInboundHandlerAdapter {

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ctx.fireChannelRead(message);
            if (ThreadLocalRandom.current().nextInt(500) == 0) {
                ctx.channel().config().setAutoRead(false);
                ctx.executor().schedule(() -> ctx.channel().config().setAutoRead(true),
                        ThreadLocalRandom.current().nextInt(2000), TimeUnit.MILLISECONDS);
            }
        }
    }
}
