package org.nettyrdma.benchmarks;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.channel.Channel;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.FutureListener;
import io.netty.util.concurrent.Promise;
import java.util.List;
import org.HdrHistogram.Histogram;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.codec.oncrpc.ReplySpace;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcRequest;

/**
 * Keeps a fixed number of calls outstanding on one connection for a while. Everything runs on the connection's event loop, so a
 * call's latency has no thread hand-over in it that a user's code on the same loop would not have. What it needs for a call
 * beyond what the RPC client takes is made ahead, so that the allocation measured is that of the library.
 */
final class LoadGenerator implements AutoCloseable {

    /** Room for an accepted reply's header and a length word. */
    private static final int REPLY_OVERHEAD_BYTES = 64;

    private final RpcClient client;
    private final Channel channel;
    private final Load load;
    private final ByteBuf payload;
    private final ReplySpace replySpace;
    private final List<DataItem> dataItems;
    private final Promise<Void> finished;
    private final Histogram latencies;

    private long deadlineNanos;
    private int outstanding;

    /**
     * Prepares a load.
     *
     * @param latencies gets the latency of every call in nanoseconds, on the channel's event loop
     */
    LoadGenerator(Channel channel, Load load, Histogram latencies) {
        this.client = channel.pipeline().get(RpcClient.class);
        this.channel = channel;
        this.load = load;
        this.latencies = latencies;
        payload = Payload.newBuffer(channel.alloc(), load.operation() == Operation.READ ? 0 : load.payloadBytes());
        replySpace = switch (load.operation()) { // what fits inline needs no memory exposed for a reply that may not
            case ECHO -> new ReplySpace(REPLY_OVERHEAD_BYTES + load.payloadBytes());
            case READ -> new ReplySpace(REPLY_OVERHEAD_BYTES, List.of(load.payloadBytes()));
            case WRITE, CHECKSUM -> new ReplySpace(REPLY_OVERHEAD_BYTES);
        };
        dataItems = List.of(new DataItem(Integer.BYTES, load.payloadBytes()));
        finished = channel.eventLoop().newPromise();
    }

    /**
     * Runs the load, once.
     *
     * @param durationNanos no call is started later than this
     * @return done with the last reply; fails with the first call that fails or returns the wrong bytes
     */
    Future<Void> run(long durationNanos) {
        channel.eventLoop().execute(() -> {
            deadlineNanos = System.nanoTime() + durationNanos;
            outstanding = load.outstanding();
            for (int i = 0; i < load.outstanding(); i++) {
                new Slot().startCall();
            }
        });
        return finished;
    }

    /** Makes one call and looks at every byte. */
    Future<Void> verify() {
        Promise<Void> verified = channel.eventLoop().newPromise();
        Load one = load.verification();
        channel.eventLoop().execute(() -> client.call(newRequest(one.operation())).addListener((Future<ByteBuf> reply) -> {
            try {
                check(reply, one, true);
                verified.setSuccess(null);
            } catch (Throwable e) {
                verified.setFailure(e);
            }
        }));
        return verified;
    }

    private RpcRequest newRequest(Operation operation) {
        int bytes = load.payloadBytes();
        return switch (operation) {
            case ECHO -> {
                RpcRequest request = request(operation, Integer.BYTES + bytes);
                request.arguments().writeInt(bytes).writeBytes(payload, 0, bytes);
                yield request;
            }
            case READ -> {
                RpcRequest request = request(operation, Integer.BYTES);
                request.arguments().writeInt(bytes);
                yield request;
            }
            case WRITE, CHECKSUM -> {
                CompositeByteBuf arguments = channel.alloc().compositeDirectBuffer(3) // with room for the header
                        .addComponent(true, channel.alloc().directBuffer(Integer.BYTES).writeInt(bytes))
                        .addComponent(true, payload.retainedSlice(0, bytes));
                yield new RpcRequest(BenchmarkProgram.PROGRAM, BenchmarkProgram.VERSION, operation.procedure(), arguments)
                        .setReplySpace(replySpace).setDataItems(dataItems);
            }
        };
    }

    private RpcRequest request(Operation operation, int argumentBytes) {
        return new RpcRequest(BenchmarkProgram.PROGRAM, BenchmarkProgram.VERSION, operation.procedure(), channel.alloc(),
                argumentBytes).setReplySpace(replySpace);
    }

    private static void check(Future<ByteBuf> reply, Load load, boolean everyByte) throws Throwable {
        if (!reply.isSuccess()) {
            throw reply.cause();
        }
        ByteBuf results = reply.getNow();
        try {
            int bytes = load.payloadBytes();
            load.require(results.readInt() == load.result() && (load.returnsPayload() ? results.readableBytes() == bytes
                    && Payload.isRight(results, results.readerIndex(), bytes, everyByte) : !results.isReadable()));
        } finally {
            results.release();
        }
    }

    /** To be closed when all calls have been answered. */
    @Override
    public void close() {
        payload.release();
    }

    /** One call after the other. */
    private final class Slot implements FutureListener<ByteBuf> {

        private long startedNanos;

        private void startCall() {
            startedNanos = System.nanoTime();
            client.call(newRequest(load.operation())).addListener(this);
        }

        @Override
        public void operationComplete(Future<ByteBuf> reply) {
            long nowNanos = System.nanoTime();
            try {
                check(reply, load, false);
                Histograms.record(latencies, nowNanos - startedNanos);
            } catch (Throwable e) {
                finished.tryFailure(e);
            }
            if (nowNanos < deadlineNanos && !finished.isDone()) {
                startCall();
            } else if (--outstanding == 0) {
                finished.trySuccess(null);
            }
        }
    }
}
