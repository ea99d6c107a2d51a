package org.nettyrdma.codec.oncrpc;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.nio.AbstractNioChannel;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.nettyrdma.codec.oncrpc.transport.CallbackPromise;
import org.nettyrdma.codec.oncrpc.transport.ProgressSamples;
import org.nettyrdma.codec.oncrpc.transport.ProgressWatch;
import org.nettyrdma.peer.PeerLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The memory that the calls of one connection take of a {@link MemoryBudget}: each has what its arguments and its results take
 * from before it runs until the peer has taken the reply. While one waits, nothing more is read. A peer that takes its replies
 * more slowly than {@link TransferLimits} allow loses the connection, after a second already where memory is gone. Event loop
 * only.
 */
final class ServedCallMemory implements ProgressWatch.Source {

    /**
     * What a call takes besides its arguments and its results: objects, headers, and small results of programs that name none.
     */
    static final int CALL_BYTES = 1024;

    private static final Logger LOGGER = LoggerFactory.getLogger(ServedCallMemory.class);

    private final ChannelHandlerContext ctx;
    private final MemoryBudget memory;
    private final MemoryAdmission admission;
    private final ReadPause pause;
    private final Consumer<Throwable> replyWritten;
    private final ProgressWatch watch;
    private final ProgressWatch contendedWatch;
    private long repliesBegun;
    private long repliesTaken;
    private long bytesTaken;

    /**
     * @param replyWritten told of each reply how its write has ended
     */
    ServedCallMemory(ChannelHandlerContext ctx, MemoryBudget memory, TransferLimits limits, ReadPause pause,
               Consumer<Throwable> replyWritten) {
        this.ctx = ctx;
        this.memory = memory;
        this.admission = new MemoryAdmission(memory, Long.MAX_VALUE, ctx.executor(), ctx.channel()::remoteAddress, () -> { });
        this.pause = pause;
        this.replyWritten = replyWritten;
        this.watch = new ProgressWatch(ctx.executor(), limits, this, () -> stalled(limits, ""));
        TransferLimits contended = ProgressSamples.contended(limits);
        this.contendedWatch = new ProgressWatch(ctx.executor(), contended, this, () -> stalledForAMoment(contended));
    }

    /** What a call takes; -1 if that can never be had. */
    long bytesOf(RpcProgram program, RpcCall call) {
        int resultBytes = 0;
        try {
            resultBytes = Math.max(0, program.maxResultBytes(call));
        } catch (RuntimeException | Error e) { // the program will find the same fault, which is answered
            LOGGER.debug("{} unknown size of the results of {}", ctx.channel(), call, e);
        }
        long bytes = (long) CALL_BYTES + call.arguments().readableBytes() + resultBytes;
        return admission.isPossible(bytes) ? bytes : -1;
    }

    /**
     * Runs something now or when there is memory for it.
     *
     * @param bytes   what it needs
     * @param run     gets the number of bytes that it has; {@link #reply} with as many has to follow
     * @param waits   runs first if it has to wait
     * @param dropped runs instead if the connection ends before
     */
    void admit(long bytes, LongConsumer run, Runnable waits, Runnable dropped) {
        if (admission.tryAdmit(bytes)) {
            run.accept(bytes);
        } else {
            waits.run();
            pause.pause();
            admission.admit(new Waiting(bytes, run, dropped));
        }
    }

    /** The promise for a reply that has memory. */
    ChannelPromise reply(long bytes) {
        repliesBegun++;
        watch.begin();
        contendedWatch.begin();
        return new Reply(ctx, bytes);
    }

    @Override
    public long begun() {
        return repliesBegun;
    }

    @Override
    public long ended() {
        return repliesTaken;
    }

    @Override
    public long bytes() {
        ChannelOutboundBuffer outbound = ctx.channel().unsafe().outboundBuffer(); // null once the channel is closed
        return bytesTaken + (outbound == null ? 0 : outbound.currentProgress());
    }

    private void stalledForAMoment(TransferLimits limits) {
        if (memory.isGone() && !takesMore(limits)) {
            stalled(limits, " while others wait for the memory that it has");
        } else {
            contendedWatch.begin();
        }
    }

    /**
     * Linux tells that a full socket is writable when a third of what it holds has gone. That can be more than a MiB, and takes
     * longer than a moment with many a peer, so this asks the socket. Of what cannot be asked nobody knows that it stands still.
     * Where nothing is left, be it that the connection has ended, it does not matter how much it was.
     */
    private boolean takesMore(TransferLimits limits) {
        if (!(ctx.channel().unsafe() instanceof AbstractNioChannel.NioUnsafe socket)) {
            return true;
        }
        long before = bytes();
        socket.forceFlush();
        return repliesTaken == repliesBegun || bytes() - before >= ProgressSamples.minBytes(limits);
    }

    private void stalled(TransferLimits limits, String meanwhile) {
        PeerLog.warn(LOGGER, ctx.channel(),
                "closing, the peer takes its {} replies too slowly: less than {} bytes per second over {} ms{}",
                repliesBegun - repliesTaken, limits.minBytesPerSecond(), limits.timeoutMillis(), meanwhile);
        ResetClose.close(ctx.channel());
    }

    /** The connection has ended. */
    void close() {
        watch.stop();
        contendedWatch.stop();
        admission.close();
    }

    /** What waits for memory. */
    private final class Waiting implements MemoryAdmission.Candidate {

        private final long bytes;
        private final LongConsumer run;
        private final Runnable dropped;

        private Waiting(long bytes, LongConsumer run, Runnable dropped) {
            this.bytes = bytes;
            this.run = run;
            this.dropped = dropped;
        }

        @Override
        public long bytes() {
            return bytes;
        }

        @Override
        public void admitted() {
            try {
                run.accept(bytes);
            } finally {
                pause.resume(); // after it: the next call may have begun to wait within this one
            }
        }

        @Override
        public void dropped() {
            dropped.run();
        }
    }

    /** The promise of one reply. */
    private final class Reply extends CallbackPromise {

        private final long bytes;

        private Reply(ChannelHandlerContext ctx, long bytes) {
            super(ctx);
            this.bytes = bytes;
        }

        @Override
        protected void written(Throwable cause) {
            repliesTaken++;
            bytesTaken += bytes;
            admission.release(bytes);
            replyWritten.accept(cause);
        }
    }
}
