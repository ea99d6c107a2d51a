package org.nettyrdma.codec.rpcrdma.requester;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import java.nio.channels.ClosedChannelException;
import java.util.List;
import java.util.function.IntConsumer;
import org.nettyrdma.codec.oncrpc.MemoryAdmission;
import org.nettyrdma.codec.oncrpc.MemoryBudget;
import org.nettyrdma.codec.oncrpc.transport.RpcCallFailure;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.ResourceLimits;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException;
import org.nettyrdma.codec.rpcrdma.shared.ChunkCounters;
import org.nettyrdma.codec.rpcrdma.shared.ConnectionParts;
import org.nettyrdma.codec.rpcrdma.shared.RpcRdmaFailures;
import org.nettyrdma.handler.credit.CreditGate;
import org.nettyrdma.handler.credit.support.WaitingWrite;
import org.nettyrdma.handler.credit.support.XidMap;

/**
 * The calls of one requester, from when they ask for memory until the peer can touch none of it any more: which of them wait
 * for it, which are outstanding, and which nobody waits for. Event loop only.
 *
 * <p>Memory of a call that nobody waits for any more is withdrawn at once. The peer cannot know that (RFC 8166, section
 * 4.4.1), and loses the connection when it goes on using the memory. So that this does not happen to a server that is merely
 * slow, {@link ResourceLimits#maxAbandonedBytes} of it may stay open until the reply comes or the connection ends. Either way
 * the XID is in use until then. While a call waits for memory, the channel is not writable.
 */
public final class RequesterCallTable {

    /** Most calls that wait for memory; as many as may wait for credits. */
    private static final int MAX_WAITING = CreditGate.DEFAULT_MAX_WAITING;
    /** Of the user-defined writability flags of a channel, the one that is false while a call waits for memory. */
    private static final int WRITABILITY_INDEX = CreditGate.WRITABILITY_INDEX - 1;
    /** Only within one part in so many of a connection's memory calls get what they are unlikely to need. */
    private static final int AMPLE_SHARE = 4;
    /** Most objects kept for further calls: replies come in batches of as many. */
    private static final int MAX_SPARE = 16;

    private final ChannelHandlerContext ctx;
    private final ResourceLimits resources;
    private final MemoryBudget memory;
    private final ChunkCounters statistics;
    private final IntConsumer unanswerable;
    private final MemoryAdmission admission;
    private final XidMap<RequesterCall> outstanding = new XidMap<>();
    /**
     * Of calls that have ended; only of those to which nothing else refers. One that is taken stays in its place, so that a
     * connection with one call at a time stores it once: a reference that is stored in an old object is work for G1.
     */
    private final RequesterCall[] spare = new RequesterCall[MAX_SPARE];
    private int spareCount;
    /**
     * Calls that have ended, while their memory is being withdrawn or their reply fetched: some of them may be sent again after
     * that.
     */
    private final XidMap<RequesterCall> ending = new XidMap<>();
    /** Calls that are being sent again, until that is done or has failed: what takes them back where they still wait. */
    private final XidMap<ChannelPromise> sendingAgain = new XidMap<>();
    /** Memory of calls that nobody waits for, and that stays open until their replies come. */
    private long abandonedBytes;
    private boolean closed;

    /**
     * @param unanswerable told the XID of each call that will have no reply, as it was not written
     */
    RequesterCallTable(ChannelHandlerContext ctx, ConnectionParts parts, IntConsumer unanswerable) {
        this.ctx = ctx;
        this.resources = parts.resources();
        this.memory = parts.memory();
        this.statistics = parts.statistics();
        this.unanswerable = unanswerable;
        this.admission = new MemoryAdmission(memory, resources.maxConnectionBytes(), ctx.executor(),
                ctx.channel()::remoteAddress, this::admittedLate);
    }

    boolean isClosed() {
        return closed;
    }

    /**
     * Whether a call with this XID was sent whose reply is not here, or is here and not delivered yet, or which is being sent
     * again.
     *
     * @param caller of the call that is asked for
     */
    boolean isXidInUse(int xid, ChannelPromise caller) {
        ChannelPromise again = sendingAgain.get(xid);
        return outstanding.contains(xid) || ending.contains(xid) || again != null && again != caller;
    }

    /** Whether a call with this XID was sent whose reply is not here, and which has exposed nothing. */
    boolean isOutstandingInline(int xid) {
        RequesterCall call = outstanding.get(xid);
        return call != null && call.exposure() == null;
    }

    /** Whether a call can ever have that much memory. */
    boolean isPossible(long bytes) {
        return admission.isPossible(bytes);
    }

    /**
     * Gives a call its memory, now or later.
     *
     * @throws RpcRdmaException if it can never have it, or too many calls wait already
     */
    void admit(WaitingRequest call) throws RpcRdmaException {
        if (!admission.isPossible(call.bytes())) {
            throw RpcRdmaFailures.tooLarge("call that takes %d bytes of memory (limit: %d, "
                    + "ResourceLimits.maxTotalBytes or that of RpcRdmaBuilder.memory)", call.bytes(), memory.maxBytes());
        }
        if (admission.waiting() >= MAX_WAITING) {
            throw RpcRdmaFailures.overloaded("%d calls wait for memory, which is the limit", MAX_WAITING);
        }
        if (!admission.admit(call)) {
            statistics.increment(Counter.CALLS_HELD_BACK);
            updateWritability();
            call.watchForCancellation();
        }
    }

    /** Gives a call its memory if it need not wait for it. Returns whether it has the memory. */
    boolean tryAdmit(long bytes) {
        return admission.tryAdmit(bytes);
    }

    /**
     * Gives a call its memory if that leaves most of the connection's memory to other calls, or if no other has any.
     *
     * @return whether it has the memory
     */
    boolean tryAdmitAmply(long bytes) {
        long most = resources.maxConnectionBytes();
        long left = admission.leftBytes();
        return (left == most || left - bytes >= most - most / AMPLE_SHARE) && tryAdmit(bytes);
    }

    /** Memory of the connection that no call has, in bytes; may be less than 0. */
    long leftBytes() {
        return admission.leftBytes();
    }

    /**
     * What calls need not give to one, so that as many as there may be have something, in bytes.
     *
     * @param bytes what all of them would have
     */
    long reserve(long bytes) {
        return Math.min(bytes, resources.maxConnectionBytes() / 2);
    }

    private void admittedLate() {
        updateWritability();
        ctx.flush();
    }

    private void updateWritability() {
        WaitingWrite.tellWritability(ctx.channel(), WRITABILITY_INDEX, admission.waiting() > 0);
    }

    /** Takes back a call that waits for memory. Returns whether it was still waiting. */
    boolean withdraw(WaitingRequest call) {
        boolean waited = admission.remove(call);
        if (waited) {
            updateWritability();
        }
        return waited;
    }

    /** A call that was given memory has none of it open. */
    void release(long bytes) {
        admission.release(bytes);
    }

    /** What is kept of a call that is going to be {@linkplain #add added}; {@link RequesterCall#begin} has to follow. */
    RequesterCall newCall() {
        return spareCount == 0 ? new RequesterCall(this, ctx) : spare[--spareCount];
    }

    /** A call is about to be written. */
    void add(RequesterCall call) {
        outstanding.put(call.xid(), call);
    }

    /** A call that was going to be written could not be begun; its memory is the caller's. */
    void forget(RequesterCall call) {
        if (outstanding.get(call.xid()) == call) {
            outstanding.remove(call.xid());
        }
        call.releaseMessage();
    }

    /** Nothing more is to be done for a call that was {@linkplain #take taken} than to deliver its reply. */
    void delivered(RequesterCall call) {
        if (call.end() && spareCount < MAX_SPARE) {
            if (spare[spareCount] != call) {
                spare[spareCount] = call;
            }
            spareCount++;
        }
    }

    /**
     * The reply to a call is here; what the call exposed is still open.
     *
     * @return the call, or {@code null} if none is outstanding with this XID
     */
    RequesterCall take(int xid) {
        return outstanding.remove(xid);
    }

    /**
     * The memory of a call that was {@linkplain #take taken} is being withdrawn, or its reply fetched, until it has
     * {@linkplain #ended ended}.
     */
    void ending(RequesterCall call) {
        ending.put(call.xid(), call);
    }

    /** A call that was {@linkplain #ending ending} no longer is. */
    void ended(RequesterCall call) {
        ending.remove(call.xid());
    }

    /** A call that is {@linkplain #ending ending} comes to no end before its connection. */
    void endWithConnection(RequesterCall call) {
        ended(call);
        outstanding.put(call.xid(), call);
    }

    /**
     * A call is about to be sent again. Its caller was told that it was written, so a failure comes by {@link RpcCallFailure}.
     *
     * @return for the write
     */
    ChannelPromise sendingAgain(int xid) {
        ChannelPromise promise = ctx.newPromise();
        sendingAgain.put(xid, promise);
        promise.addListener(write -> {
            sendingAgain.remove(xid);
            if (!write.isSuccess() && !write.isCancelled()) {
                notSentAgain(ctx, xid, write.cause());
            }
        });
        return promise;
    }

    /**
     * A call whose caller was told that it was written could not be sent again. The loss of the connection is not told for each
     * call, as {@code channelInactive} says it all; what was received before it is still passed on after it.
     */
    public static void notSentAgain(ChannelHandlerContext ctx, int xid, Throwable cause) {
        if (ctx.channel().isActive() && !(cause instanceof ClosedChannelException)) {
            ctx.fireUserEventTriggered(new RpcCallFailure(xid, cause));
        }
    }

    /** The write of a call has failed or was cancelled; its promise tells the caller. */
    void notWritten(RequesterCall call) {
        if (outstanding.get(call.xid()) == call) {
            outstanding.remove(call.xid());
            discard(call);
            unanswerable.accept(call.xid());
        }
    }

    /** Ends a call that was {@linkplain #take taken} and gets no reply. */
    void discard(RequesterCall call) {
        if (!call.isWithdrawn()) { // or its memory would be released twice
            close(call);
        }
    }

    private void close(RequesterCall call) {
        call.releaseMessage();
        ExposedChunks exposure = call.exposure();
        if (exposure == null) {
            return;
        }
        try {
            exposure.withdraw(() -> releaseMemory(call));
        } catch (RuntimeException | Error e) {
            if (!exposure.isWithdrawn()) { // no memory, for instance: the end of the connection closes what is left
                call.stayOpen();
                endWithConnection(call);
                ctx.close();
            }
            throw e;
        }
    }

    /** The peer can no longer touch the memory of a call. */
    void releaseMemory(RequesterCall call) {
        call.exposure().releaseSinks();
        if (call.isAbandoned() && !call.isWithdrawn()) {
            abandonedBytes -= call.exposedBytes();
        }
        admission.release(call.exposedBytes());
    }

    /** Nobody waits for the reply to this call any more. */
    void abandon(int xid) {
        ChannelPromise again = sendingAgain.get(xid);
        if (again != null && again.cancel(false)) {
            return; // what can still be cancelled, no peer has seen
        }
        RequesterCall refused = ending.get(xid);
        if (refused != null) {
            refused.releaseMessage(); // so that it is not sent again
            return;
        }
        RequesterCall call = outstanding.get(xid);
        if (call == null || call.isAbandoned()) {
            return;
        }
        call.abandon();
        if (call.exposure() == null) {
            return;
        }
        statistics.increment(Counter.CALLS_ABANDONED);
        if (call.exposedBytes() <= resources.maxAbandonedBytes() - abandonedBytes) {
            abandonedBytes += call.exposedBytes();
        } else {
            statistics.increment(Counter.ABANDONED_CALLS_WITHDRAWN);
            call.withdraw();
            close(call);
        }
    }

    /**
     * The connection has ended.
     *
     * @param andThen runs when no more calls begin, and before those that were outstanding end
     */
    void close(Runnable andThen) {
        closed = true;
        List<RequesterCall> left = outstanding.values();
        outstanding.clear();
        admission.close(); // first, so that the end of one call does not let another begin
        andThen.run();
        left.forEach(this::discard);
    }
}
