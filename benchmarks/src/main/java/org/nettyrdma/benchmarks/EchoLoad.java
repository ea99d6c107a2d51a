package org.nettyrdma.benchmarks;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import org.HdrHistogram.Histogram;

/**
 * Does with frames what {@link LoadGenerator} does with calls: as many reads of the clock, the same copies of the payload, the
 * same look at what comes back. Replies come in the order of the frames. One for each channel.
 */
final class EchoLoad extends EchoFrames {

    private Load load;
    private Histogram latencies;
    private ByteBuf payload;
    private Promise<Void> finished;
    private long[] startedNanos;
    private int next;
    private int outstanding;
    private long deadlineNanos;

    /**
     * Runs a load. Any thread; after the last one has ended.
     *
     * @param newLatencies  gets the latency of every frame in nanoseconds, on the channel's event loop
     * @param durationNanos no frame is sent later than this
     * @return done with the last reply; fails with the first one that has the wrong bytes
     */
    Future<Void> run(Channel channel, Load newLoad, Histogram newLatencies, long durationNanos) {
        if (newLoad.operation() != Operation.ECHO) {
            throw new IllegalArgumentException("load: " + newLoad);
        }
        Promise<Void> run = channel.eventLoop().newPromise();
        channel.eventLoop().execute(() -> {
            load = newLoad;
            latencies = newLatencies;
            payload = Payload.newBuffer(channel.alloc(), load.payloadBytes());
            finished = run;
            startedNanos = new long[load.outstanding()];
            next = 0;
            outstanding = load.outstanding();
            deadlineNanos = System.nanoTime() + durationNanos;
            for (int i = 0; i < load.outstanding(); i++) {
                start(channel, i);
            }
            channel.flush();
        });
        return run;
    }

    private void start(Channel channel, int slot) {
        startedNanos[slot] = System.nanoTime();
        channel.write(newFrame(channel, CALL_HEADER_BYTES, payload, 0, load.payloadBytes()), channel.voidPromise());
    }

    @Override
    void received(ChannelHandlerContext ctx, ByteBuf in, int bytes) {
        long nowNanos = System.nanoTime();
        int slot = next;
        next = next + 1 == startedNanos.length ? 0 : next + 1;
        int start = in.readerIndex() + REPLY_HEADER_BYTES;
        if (bytes != REPLY_HEADER_BYTES + Integer.BYTES + load.payloadBytes() || in.getInt(start) != load.payloadBytes()
                || !Payload.hasRightEnds(in, start + Integer.BYTES, load.payloadBytes())) {
            finished.tryFailure(new IllegalStateException("a reply to " + load + " has the wrong content"));
        }
        Histograms.record(latencies, nowNanos - startedNanos[slot]);
        if (nowNanos < deadlineNanos && !finished.isDone()) {
            start(ctx.channel(), slot);
        } else if (--outstanding == 0) {
            payload.release();
            finished.trySuccess(null);
        }
    }
}
