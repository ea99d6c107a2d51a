package org.nettyrdma.codec.rpcrdma;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import org.nettyrdma.codec.oncrpc.RpcCallFailure;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.handler.credit.CreditGate;
import org.nettyrdma.handler.credit.XidMap;

/**
 * The calls of one requester, from when they ask for memory until the peer can touch none of it any more: which of them wait
 * for it, which are outstanding, and which nobody waits for. Event loop only.
 *
 * <p>Memory of a call that nobody waits for any more is withdrawn at once. The peer cannot know that (rfc5666bis-01, section
 * 5.4.1), and loses the connection when it goes on using the memory. So that this does not happen to a server that is merely
 * slow, {@link ResourceLimits#maxAbandonedBytes} of it may stay open until the reply comes or the connection ends. Either way
 * the XID is in use until then. While a call waits for memory, the channel is not writable.
 */
final class RequesterCalls {

    /** Most calls that wait for memory; as many as may wait for credits. */
    private static final int MAX_WAITING = CreditGate.DEFAULT_MAX_WAITING;
    /** Of the user-defined writability flags of a channel, the one that is false while a call waits for memory. */
    private static final int WRITABILITY_INDEX = CreditGate.WRITABILITY_INDEX - 1;
    /** Most objects kept for further calls: replies come in batches of as many. */
    private static final int MAX_SPARE = 16;

    private final ChannelHandlerContext ctx;
    private final ResourceLimits resources;
    private final MemoryBudget memory;
    private final ChunkStatistics statistics;
    private final CallAdmission admission;
    private final XidMap<RequesterCall> outstanding = new XidMap<>();
    /** Of calls that have ended; only of those to which nothing refers. */
    private final Queue<RequesterCall> spare = new ArrayDeque<>();
    /** Calls that are being sent again, until that is done or has failed: what takes them back where they still wait. */
    private final XidMap<ChannelPromise> sendingAgain = new XidMap<>();
    /** Memory of calls that nobody waits for, and that stays open until their replies come. */
    private long abandonedBytes;
    private boolean closed;

    /**
     * @param memory what all connections share
     */
    RequesterCalls(ChannelHandlerContext ctx, ResourceLimits resources, MemoryBudget memory, ChunkStatistics statistics) {
        this.ctx = ctx;
        this.resources = resources;
        this.memory = memory;
        this.statistics = statistics;
        this.admission = new CallAdmission(memory, resources.maxConnectionBytes(), ctx.executor(), this::admittedLate);
    }

    boolean isClosed() {
        return closed;
    }

    /** Whether a call with this XID was sent and its reply is not here. */
    boolean isOutstanding(int xid) {
        return outstanding.contains(xid);
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
    void admit(WaitingCall call) throws RpcRdmaException {
        if (!admission.isPossible(call.bytes())) {
            throw RpcRdmaException.tooLarge("call that takes %d bytes of memory (limit: %d)", call.bytes(), memory.maxBytes());
        }
        if (admission.waiting() >= MAX_WAITING) {
            throw RpcRdmaException.overloaded("%d calls wait for memory, which is the limit", MAX_WAITING);
        }
        if (!admission.admit(call)) {
            statistics.increment(Counter.CALLS_HELD_BACK);
            updateWritability();
            call.watchForCancellation();
        }
    }

    /**
     * Gives a call its memory if it need not wait for it.
     *
     * @return whether it has the memory
     */
    boolean tryAdmit(long bytes) {
        return admission.tryAdmit(bytes);
    }

    private void admittedLate() {
        updateWritability();
        ctx.flush();
    }

    private void updateWritability() {
        ChannelOutboundBuffer outbound = ctx.channel().unsafe().outboundBuffer();
        if (outbound != null) { // null once the channel is closed
            outbound.setUserDefinedWritability(WRITABILITY_INDEX, admission.waiting() == 0);
        }
    }

    /**
     * Takes back a call that waits for memory.
     *
     * @return whether it was still waiting
     */
    boolean withdraw(WaitingCall call) {
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
        RequesterCall used = spare.poll();
        return used == null ? new RequesterCall(this) : used;
    }

    /** A call is about to be written. */
    void add(RequesterCall call) {
        outstanding.put(call.xid(), call);
    }

    /** The reply to a call that was {@linkplain #take taken} has been delivered; nothing more is to be done for it. */
    void delivered(RequesterCall call) {
        if (call.end() && spare.size() < MAX_SPARE) {
            spare.add(call);
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
     * A call is about to be sent again. Its caller was told that it was written, so a failure comes by {@link RpcCallFailure}.
     *
     * @return for the write
     */
    ChannelPromise sendingAgain(int xid) {
        ChannelPromise promise = ctx.newPromise();
        sendingAgain.put(xid, promise);
        promise.addListener(write -> {
            sendingAgain.remove(xid);
            // The loss of the connection says it all.
            if (!write.isSuccess() && !write.isCancelled() && ctx.channel().isActive()) {
                ctx.fireUserEventTriggered(new RpcCallFailure(xid, write.cause()));
            }
        });
        return promise;
    }

    /** The write of a call has failed or was cancelled; its promise tells the caller. */
    void notWritten(RequesterCall call) {
        if (outstanding.get(call.xid()) == call) {
            outstanding.remove(call.xid());
            discard(call);
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
        CallExposure exposure = call.exposure();
        if (exposure != null) {
            exposure.withdraw(() -> releaseMemory(call));
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
        List<RequesterCall> left = List.copyOf(outstanding.values());
        outstanding.clear();
        admission.close(); // first, so that the end of one call does not let another begin
        andThen.run();
        left.forEach(this::discard);
    }
}
