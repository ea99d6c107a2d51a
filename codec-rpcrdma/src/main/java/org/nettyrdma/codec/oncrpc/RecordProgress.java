package org.nettyrdma.codec.oncrpc;

import io.netty.channel.ChannelHandlerContext;
import java.util.function.BooleanSupplier;
import org.nettyrdma.codec.oncrpc.transport.ProgressSamples;
import org.nettyrdma.codec.oncrpc.transport.ProgressWatch;
import org.nettyrdma.peer.PeerLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The time that the records of one connection may take. A peer that sends one too slowly loses the connection, earlier where
 * others wait for memory. Event loop only.
 */
final class RecordProgress implements ProgressWatch.Source {

    private static final Logger LOGGER = LoggerFactory.getLogger(RecordProgress.class);

    private final ChannelHandlerContext ctx;
    private final MemoryBudget records;
    private final TransferLimits limits;
    private final BooleanSupplier heldUp;
    /** How often is looked for progress, and how long a record may make too little of it while others wait for memory. */
    private final long windowMillis;
    private final ProgressWatch watch;
    private boolean unfinished;
    private long recordsEnded;
    private long receivedBytes;
    private long stalledMillis;

    /**
     * @param records what the records of all connections take
     * @param heldUp  whether it is this side that does not read on
     */
    RecordProgress(ChannelHandlerContext ctx, MemoryBudget records, TransferLimits limits, BooleanSupplier heldUp) {
        this.ctx = ctx;
        this.records = records;
        this.limits = limits;
        this.heldUp = heldUp;
        TransferLimits contended = ProgressSamples.contended(limits);
        windowMillis = contended.timeoutMillis();
        watch = new ProgressWatch(ctx.executor(), contended, this, this::stalled);
    }

    void received(int bytes) {
        receivedBytes += bytes;
    }

    void recordEnded() {
        recordsEnded++;
        unfinished = false;
        stalledMillis = 0;
    }

    /** Everything received has been decoded, and it ends within a record or does not. */
    void watch(boolean withinRecord) {
        unfinished = withinRecord;
        watch.begin();
    }

    void stop() {
        watch.stop();
    }

    @Override
    public long bytes() {
        return receivedBytes;
    }

    @Override
    public long begun() {
        return recordsEnded + (unfinished ? 1 : 0);
    }

    @Override
    public long ended() {
        return recordsEnded;
    }

    @Override
    public boolean isHeldUp() {
        return heldUp.getAsBoolean();
    }

    private void stalled() {
        stalledMillis += windowMillis;
        if (stalledMillis < limits.timeoutMillis() && records.waiting() == 0) {
            watch.begin();
            return;
        }
        PeerLog.warn(LOGGER, ctx.channel(),
                "closing, the peer sends its record too slowly: less than {} bytes per second over {} ms{}",
                limits.minBytesPerSecond(), stalledMillis, records.waiting() == 0 ? ""
                : " while others wait for the memory that it has");
        ResetClose.close(ctx.channel());
    }
}
