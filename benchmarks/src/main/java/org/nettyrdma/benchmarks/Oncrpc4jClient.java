package org.nettyrdma.benchmarks;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.channels.CompletionHandler;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.HdrHistogram.Histogram;
import org.dcache.oncrpc4j.rpc.IoStrategy;
import org.dcache.oncrpc4j.rpc.OncRpcClient;
import org.dcache.oncrpc4j.rpc.RpcAuthTypeNone;
import org.dcache.oncrpc4j.rpc.RpcCall;
import org.dcache.oncrpc4j.rpc.RpcReply;
import org.dcache.oncrpc4j.rpc.RpcTransport;
import org.dcache.oncrpc4j.rpc.net.IpProtocolType;
import org.dcache.oncrpc4j.xdr.XdrAble;
import org.nettyrdma.benchmarks.Oncrpc4jItems.Int;
import org.nettyrdma.benchmarks.Oncrpc4jItems.Opaque;

/** One connection of oncrpc4j. Replies arrive on its selector thread, which makes the next calls, too. */
final class Oncrpc4jClient implements ClientEnd {

    private static final long CALL_TIMEOUT_SECONDS = 60;

    private final OncRpcClient client;
    private final RpcCall rpc;
    private final ByteBuffer payload;

    Oncrpc4jClient(Setup setup, int port) throws IOException {
        payload = ByteBuffer.allocateDirect(setup.maxPayloadBytes());
        Payload.fill(payload);
        client = new OncRpcClient(InetAddress.getLoopbackAddress(), IpProtocolType.TCP, port, 0, IoStrategy.SAME_THREAD);
        rpc = new RpcCall(BenchmarkProgram.PROGRAM, BenchmarkProgram.VERSION, new RpcAuthTypeNone(), client.connect());
    }

    @Override
    public void verify(Load load) throws Exception {
        Run run = new Run(load.verification(), true, 0);
        run.start();
        run.finished.get(CALL_TIMEOUT_SECONDS, TimeUnit.SECONDS);
    }

    @Override
    public LoadResult run(Load load, long durationNanos) throws Exception {
        long startNanos = System.nanoTime();
        Run run = new Run(load, false, durationNanos);
        run.start();
        Histogram latencies = run.finished.get();
        return new LoadResult(latencies, System.nanoTime() - startNanos);
    }

    @Override
    public Counters counters() {
        return Counters.NONE;
    }

    @Override
    public String description() {
        return "oncrpc4j, IoStrategy.SAME_THREAD, SO_SNDBUF not set";
    }

    @Override
    public void close() {
        try {
            client.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A load under way. */
    private final class Run {

        private final Load load;
        private final boolean everyByte;
        private final long deadlineNanos;
        private final AtomicInteger outstanding = new AtomicInteger();
        private final Histogram latencies = Histograms.newHistogram();
        private final CompletableFuture<Histogram> finished = new CompletableFuture<>();

        private Run(Load load, boolean everyByte, long durationNanos) {
            this.load = load;
            this.everyByte = everyByte;
            deadlineNanos = System.nanoTime() + durationNanos;
        }

        private void start() throws IOException {
            outstanding.set(load.outstanding());
            for (int i = 0; i < load.outstanding(); i++) {
                new Slot(this).startCall();
            }
        }

        private XdrAble arguments() {
            int bytes = load.payloadBytes();
            return load.operation() == Operation.READ ? new Int(bytes) : new Opaque(payload.slice(0, bytes));
        }

        private void check(RpcReply reply) throws IOException {
            if (load.returnsPayload()) {
                Opaque result = new Opaque(null);
                reply.getReplyResult(result);
                ByteBuf data = Unpooled.wrappedBuffer(result.bytes());
                load.require(data.readableBytes() == load.payloadBytes()
                        && Payload.isRight(data, 0, load.payloadBytes(), everyByte));
            } else {
                Int result = new Int(0);
                reply.getReplyResult(result);
                load.require(result.value() == load.result());
            }
        }

        /** The first calls are made by another thread than the rest. */
        private synchronized void record(long nanos) {
            Histograms.record(latencies, nanos);
        }
    }

    /** One call after the other. */
    private final class Slot implements CompletionHandler<RpcReply, RpcTransport> {

        private final Run run;
        private long startedNanos;

        private Slot(Run run) {
            this.run = run;
        }

        private void startCall() throws IOException {
            startedNanos = System.nanoTime();
            rpc.call(run.load.operation().procedure(), run.arguments(), this, CALL_TIMEOUT_SECONDS, TimeUnit.SECONDS);
        }

        @Override
        public void completed(RpcReply reply, RpcTransport transport) {
            long nowNanos = System.nanoTime();
            try {
                run.check(reply);
                run.record(nowNanos - startedNanos);
                if (nowNanos < run.deadlineNanos) {
                    startCall();
                } else if (run.outstanding.decrementAndGet() == 0) {
                    run.finished.complete(run.latencies);
                }
            } catch (IOException | RuntimeException e) {
                run.finished.completeExceptionally(e);
            }
        }

        @Override
        public void failed(Throwable cause, RpcTransport transport) {
            run.finished.completeExceptionally(cause);
        }
    }
}
