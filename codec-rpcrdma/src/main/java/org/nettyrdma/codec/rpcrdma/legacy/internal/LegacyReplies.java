package org.nettyrdma.codec.rpcrdma.legacy.internal;

import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.ScheduledFuture;
import java.io.IOException;
import java.util.Iterator;
import java.util.LinkedList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaChannelOption;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.codec.oncrpc.ReplySpace;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.PeerPolicy;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException;
import org.nettyrdma.codec.rpcrdma.RpcRdmaLimits;
import org.nettyrdma.codec.rpcrdma.header.ReadChunk;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaMessage;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaVersion;
import org.nettyrdma.codec.rpcrdma.legacy.LegacyProfile;
import org.nettyrdma.codec.rpcrdma.requester.ChunkExposer;
import org.nettyrdma.codec.rpcrdma.requester.ExposedChunks;
import org.nettyrdma.codec.rpcrdma.requester.RequestPlan;
import org.nettyrdma.codec.rpcrdma.responder.UnplacedReplies;
import org.nettyrdma.codec.rpcrdma.shared.ChunkCounters;
import org.nettyrdma.codec.rpcrdma.shared.InlineThreshold;
import org.nettyrdma.codec.rpcrdma.shared.InvalidationPolicy;
import org.nettyrdma.codec.rpcrdma.shared.ItemReduction;
import org.nettyrdma.codec.rpcrdma.shared.RpcOffsets;
import org.nettyrdma.codec.rpcrdma.shared.RpcRdmaFailures;
import org.nettyrdma.handler.credit.CreditedMessage.Role;

/**
 * The replies with Read chunks that the responder of one connection has sent (draft-ietf-nfsv4-rpcrdma-02, sections 3.8 and
 * 5.1). It keeps the memory of each open to the peer until the peer's RDMA_DONE, until the time for that is over, or until the
 * connection ends. Event loop only.
 */
public final class LegacyReplies implements UnplacedReplies {

    /** A reply is followed by nothing that would need room; so it is planned like a call that gets no answer. */
    private static final ReplySpace NO_ANSWER = new ReplySpace(0, List.of());

    private final RdmaChannel channel;
    private final LegacyProfile profile;
    private final RpcRdmaLimits limits;
    private final ChunkCounters statistics;
    private final ChunkExposer exposer;
    /**
     * Oldest first, and since all wait equally long, also in the order in which their time is over. Not an array: one that cannot
     * grow for want of memory loses what is in it.
     */
    private final Queue<PendingReply> pending = new LinkedList<>();
    private int pendingBytes;
    private ScheduledFuture<?> timer;

    public LegacyReplies(RdmaChannel channel, LegacyProfile profile, RpcRdmaLimits limits, ChunkCounters statistics) {
        this.channel = channel;
        this.profile = profile;
        this.limits = limits;
        this.statistics = statistics;
        this.exposer = new ChunkExposer(channel, statistics, PeerPolicy.SPECIFICATION);
    }

    /**
     * {@inheritDoc} Its largest eligible results go into Read chunks, and the rest inline if it then fits; otherwise the whole
     * of it goes into a Position Zero Read chunk.
     */
    @Override
    public RpcRdmaMessage expose(ByteBuf reply, List<DataItem> items, InlineThreshold threshold) throws IOException {
        int bytes = reply.readableBytes();
        requireRoom(bytes);
        ItemReduction.requireWithin(items, bytes);
        RequestPlan plan = RequestPlan.of(bytes, items, NO_ANSWER, threshold, PeerPolicy.SPECIFICATION, limits);
        if (!plan.hasChunks()) { // it does not fit beside the Reply chunk of its call, which is too small for it
            int sendBytes = threshold.version().chunkFreeLength() + bytes - 1;
            plan = RequestPlan.of(bytes, items, NO_ANSWER, new InlineThreshold(sendBytes, threshold.receiveBytes()),
                    PeerPolicy.SPECIFICATION, limits);
        }
        ExposedChunks exposure = exposer.open(plan, reply, InvalidationPolicy.NONE);
        int xid = RpcOffsets.word(reply, 0);
        PendingReply waiting = new PendingReply(xid, bytes, System.nanoTime() + nanos(profile.doneTimeoutMillis()), exposure);
        RpcRdmaMessage message;
        try {
            add(waiting);
            ByteBuf body = plan.inlineBody(channel.alloc(), reply); // last: if it throws, the reply is still the caller's
            message = RpcRdmaVersion.ONE.message(Role.RESPONSE, xid, 0, exposure.chunks(), body, plan.isLong());
        } catch (RuntimeException | Error e) { // no memory, for instance: there will be no RDMA_DONE for it
            pending.remove(waiting);
            withdraw(waiting);
            throw e;
        }
        statistics.increment(Counter.REPLIES_WITH_READ_CHUNK);
        for (ReadChunk chunk : exposure.chunks().readChunks()) {
            statistics.add(Counter.READ_CHUNK_BYTES, chunk.lengthBytes());
        }
        return message;
    }

    private void requireRoom(int bytes) throws RpcRdmaException {
        if (bytes > limits.maxMessageBytes()) {
            throw RpcRdmaFailures.tooLarge("reply of %d bytes (limit: %d, RpcRdmaLimits.maxMessageBytes)", bytes,
                    limits.maxMessageBytes());
        }
        if (channel.config().getOption(RdmaChannelOption.INBOUND_READ_DEPTH) == 0) {
            throw RpcRdmaFailures.tooLarge("reply of %d bytes, which the peer could not read (INBOUND_READ_DEPTH: 0)", bytes);
        }
        if (pending.size() == profile.maxPendingReplies()) {
            throw RpcRdmaFailures.tooLarge("%d replies wait for RDMA_DONE (limit: %d, LegacyProfile.maxPendingReplies)",
                    pending.size(), profile.maxPendingReplies());
        }
        if (bytes > profile.maxPendingBytes() - pendingBytes) {
            throw RpcRdmaFailures.tooLarge("reply of %d bytes while %d bytes wait for RDMA_DONE (limit: %d, "
                    + "LegacyProfile.maxPendingBytes)", bytes, pendingBytes, profile.maxPendingBytes());
        }
    }

    private void add(PendingReply reply) {
        pendingBytes += reply.bytes; // first, so that it can be withdrawn whatever fails
        pending.add(reply);
        if (timer == null) {
            schedule(reply);
        }
    }

    private void schedule(PendingReply reply) {
        timer = channel.eventLoop().schedule(this::expire, reply.deadlineNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
    }

    /** Withdraws what has waited long enough. Its place stays taken: its RDMA_DONE may still come, and use a receive. */
    private void expire() {
        timer = null;
        for (PendingReply reply : pending) {
            if (reply.exposure == null) {
                continue;
            }
            if (reply.deadlineNanos - System.nanoTime() > 0) {
                schedule(reply);
                return;
            }
            withdraw(reply);
            statistics.increment(Counter.DONE_TIMEOUTS);
        }
    }

    private void withdraw(PendingReply reply) {
        if (reply.exposure != null) {
            ExposedChunks exposure = reply.exposure;
            exposure.withdraw(exposure::releaseSinks);
            reply.exposure = null; // not before: the end of the connection closes what for want of memory is open still
            pendingBytes -= reply.bytes;
        }
    }

    /** The peer has read a reply; of several with the same XID the oldest. An RDMA_DONE that belongs to none is dropped. */
    @Override
    public void done(int xid) {
        for (Iterator<PendingReply> replies = pending.iterator(); replies.hasNext();) {
            PendingReply reply = replies.next();
            if (reply.xid == xid) {
                withdraw(reply);
                replies.remove();
                statistics.increment(Counter.DONE_MESSAGES);
                return;
            }
        }
        statistics.increment(Counter.DONE_MESSAGES_DROPPED);
    }

    @Override
    public void close() {
        if (timer != null) {
            timer.cancel(false);
            timer = null;
        }
        pending.forEach(this::withdraw);
        pending.clear();
    }

    private static long nanos(int millis) {
        return TimeUnit.MILLISECONDS.toNanos(millis);
    }

    private static final class PendingReply {

        private final int xid;
        private final int bytes;
        private final long deadlineNanos;
        private ExposedChunks exposure; // null once it was withdrawn

        PendingReply(int xid, int bytes, long deadlineNanos, ExposedChunks exposure) {
            this.xid = xid;
            this.bytes = bytes;
            this.deadlineNanos = deadlineNanos;
            this.exposure = exposure;
        }
    }
}
