package org.nettyrdma.benchmarks;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.channel.Channel;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import java.util.List;
import org.HdrHistogram.Histogram;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.codec.oncrpc.ReplySpace;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcRequest;

/**
 * Keeps a fixed number of calls outstanding on one connection for a while. Everything runs on the connection's event loop, so a call's
 * latency has no thread hand-over in it that a user's code on the same loop would not have.
 */
final class LoadGenerator implements AutoCloseable {

    /** Room for an accepted reply's header and a length word. */
    private static final int REPLY_OVERHEAD_BYTES = 64;

    private final RpcClient client;
    private final Channel channel;
    private final Workload workload;
    private final ByteBuf payload;

    private Promise<Histogram> finished;
    private Histogram latencies;
    private long deadlineNanos;
    private int outstanding;

    LoadGenerator(RpcClient client, Channel channel, Workload workload) {
        this.client = client;
        this.channel = channel;
        this.workload = workload;
        this.payload = BenchmarkProgram.newPayload(channel.alloc(), workload.payloadBytes());
    }

    /**
     * Runs the load.
     *
     * @param durationNanos no call is started later than this
     * @return the latency of every call in nanoseconds; fails with the first call that fails or returns the wrong bytes
     */
    Future<Histogram> run(long durationNanos) {
        Promise<Histogram> promise = channel.eventLoop().newPromise();
        channel.eventLoop().execute(() -> {
            finished = promise;
            latencies = new Histogram(3);
            deadlineNanos = System.nanoTime() + durationNanos;
            outstanding = workload.outstanding();
            for (int i = 0; i < workload.outstanding(); i++) {
                startCall();
            }
        });
        return promise;
    }

    private void startCall() {
        long startedNanos = System.nanoTime();
        client.call(newRequest()).addListener((Future<ByteBuf> reply) -> {
            long nowNanos = System.nanoTime();
            try {
                check(reply);
                latencies.recordValue(nowNanos - startedNanos);
            } catch (Throwable e) {
                finished.tryFailure(e);
            }
            if (nowNanos < deadlineNanos && !finished.isDone()) {
                startCall();
            } else if (--outstanding == 0) {
                finished.trySuccess(latencies);
            }
        });
    }

    private RpcRequest newRequest() {
        int bytes = workload.payloadBytes();
        return switch (workload.operation()) {
            case ECHO -> request(BenchmarkProgram.Procedures.ECHO,
                    channel.alloc().directBuffer(Integer.BYTES + bytes).writeInt(bytes).writeBytes(payload, 0, bytes));
            case READ -> request(BenchmarkProgram.Procedures.READ,
                    channel.alloc().directBuffer(Integer.BYTES).writeInt(bytes))
                    .setReplySpace(new ReplySpace(REPLY_OVERHEAD_BYTES, List.of(bytes)));
            case WRITE -> {
                CompositeByteBuf arguments = channel.alloc().compositeDirectBuffer(2)
                        .addComponent(true, channel.alloc().directBuffer(Integer.BYTES).writeInt(bytes))
                        .addComponent(true, payload.retainedSlice(0, bytes));
                yield request(BenchmarkProgram.Procedures.WRITE, arguments)
                        .setDataItems(List.of(new DataItem(Integer.BYTES, bytes)))
                        .setReplySpace(new ReplySpace(REPLY_OVERHEAD_BYTES, List.of()));
            }
        };
    }

    private static RpcRequest request(int procedure, ByteBuf arguments) {
        return new RpcRequest(BenchmarkProgram.PROGRAM, BenchmarkProgram.VERSION, procedure, arguments);
    }

    private void check(Future<ByteBuf> reply) throws Throwable {
        if (!reply.isSuccess()) {
            throw reply.cause();
        }
        ByteBuf results = reply.getNow();
        try {
            int bytes = workload.payloadBytes();
            int first = results.readInt();
            boolean good = switch (workload.operation()) {
                case ECHO, READ -> first == bytes && results.readableBytes() == bytes
                        && results.getInt(results.readerIndex()) == (workload.operation() == Workload.Operation.READ
                                ? BenchmarkProgram.MAX_OPAQUE_BYTES : bytes);
                case WRITE -> first == bytes && !results.isReadable();
            };
            if (!good) {
                throw new IllegalStateException("a reply to " + workload + " has the wrong content");
            }
        } finally {
            results.release();
        }
    }

    @Override
    public void close() {
        payload.release();
    }
}
