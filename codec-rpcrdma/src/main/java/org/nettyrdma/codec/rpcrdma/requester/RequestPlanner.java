package org.nettyrdma.codec.rpcrdma.requester;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.codec.oncrpc.ReplySpace;
import org.nettyrdma.codec.rpcrdma.CallLayout;
import org.nettyrdma.codec.rpcrdma.PeerPolicy;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException;
import org.nettyrdma.codec.rpcrdma.RpcRdmaLimits;
import org.nettyrdma.codec.rpcrdma.header.ReverseRequestSupport;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaError;
import org.nettyrdma.codec.rpcrdma.shared.InlineThreshold;
import org.nettyrdma.codec.rpcrdma.shared.RpcOffsets;
import org.nettyrdma.codec.rpcrdma.shared.RpcRdmaFailures;

/**
 * Plans the calls of one connection, and plans those anew that the responder has refused for want of room or because of too
 * many chunks (version-two-08, section 5.3.3). What the responder asks for is met within our own limits and never above them:
 * no reply gets more room than {@link RpcRdmaLimits#maxMessageBytes()} because the peer said so. Event loop only.
 */
final class RequestPlanner {

    private final RpcRdmaLimits limits;
    private final PeerPolicy policy;
    private final Supplier<InlineThreshold> threshold;
    private final Supplier<ReverseRequestSupport> support;
    private ResponderLimits responder = ResponderLimits.UNKNOWN;

    // The last call that was planned, and its plan.
    private int lastCallBytes = -1;
    private List<DataItem> lastItems;
    private ReplySpace lastSpace;
    private InlineThreshold lastThreshold;
    private RequestPlan lastPlan;

    /**
     * @param threshold what holds now, asked for each plan
     * @param support   how much of these calls the peer copes with, asked for each plan: of calls from client to server all;
     *                  those from server to client have chunks only where the client says that it takes them
     *                  (version-two-08, section 4.2.2)
     */
    RequestPlanner(RpcRdmaLimits limits, PeerPolicy policy, Supplier<InlineThreshold> threshold,
                Supplier<ReverseRequestSupport> support) {
        this.limits = limits;
        this.policy = policy;
        this.threshold = threshold;
        this.support = support;
    }

    /**
     * Plans a call.
     *
     * @param callBytes length of the whole call
     * @param items     its eligible arguments
     * @param space     how large the reply can get, or {@code null} if nobody knows
     * @throws RpcRdmaException if there is no way to convey it
     */
    RequestPlan plan(int callBytes, List<DataItem> items, ReplySpace space) throws RpcRdmaException {
        return switch (support.get()) {
            case NONE -> throw RpcRdmaFailures.unsupported("reverse call to a client whose Reverse Request Support is NONE");
            case INLINE -> RequestPlan.withoutChunks(callBytes, threshold.get());
            case GENERAL -> planWithChunks(callBytes, items, space);
        };
    }

    /** Whether a call gets a Reply chunk of which nobody knows how large its reply can get. */
    boolean offersRoomForAnyReply() {
        return limits.defaultReplyChunkBytes() > 0 && support.get() == ReverseRequestSupport.GENERAL;
    }

    private RequestPlan planWithChunks(int callBytes, List<DataItem> items, ReplySpace space) throws RpcRdmaException {
        if (responder == ResponderLimits.UNKNOWN) {
            return planUnlimited(callBytes, items, space);
        }
        CallLayout layout = responder.within(new CallLayout(items, space));
        return RequestPlan.of(callBytes, layout.items(), layout.replySpace(), threshold.get(), responder.within(policy), limits);
    }

    /** Callers tend to ask for the same again and again. */
    private RequestPlan planUnlimited(int callBytes, List<DataItem> items, ReplySpace space) throws RpcRdmaException {
        InlineThreshold now = threshold.get();
        if (callBytes != lastCallBytes || space != lastSpace || now != lastThreshold || !items.equals(lastItems)) {
            lastPlan = RequestPlan.of(callBytes, items, space, now, policy, limits);
            lastCallBytes = callBytes;
            lastItems = items;
            lastSpace = space;
            lastThreshold = now;
        }
        return lastPlan;
    }

    /** The same by what is known about the call. */
    RequestPlan plan(int callBytes, CallLayout layout) throws RpcRdmaException {
        return plan(callBytes, layout.items(), layout.replySpace());
    }

    /**
     * Plans a call that was refused.
     *
     * @param refused   how it was planned before
     * @param callBytes length of the whole call
     * @param error     why it was refused
     * @return another plan that meets what the responder asks for, or {@code null} if there is none
     */
    RequestPlan planAgain(RequestPlan refused, int callBytes, CallLayout layout, RpcRdmaError error) {
        responder = responder.learn(error);
        if (support.get() != ReverseRequestSupport.GENERAL) {
            return null; // there is nothing about it that could be changed
        }
        try {
            RequestPlan plan = planWithin(refused, callBytes, layout, error);
            return plan == null || plan.equals(refused) || offersTooMuch(plan, refused) ? null : plan;
        } catch (RpcRdmaException e) {
            return null; // nothing fits into these limits, which is what the refusal says already
        }
    }

    private RequestPlan planWithin(RequestPlan refused, int callBytes, CallLayout layout, RpcRdmaError error)
            throws RpcRdmaException {
        if (error instanceof RpcRdmaError.ReadChunks) {
            // Of one that has a Position Zero Read chunk the draft says that it MUST end.
            return refused.isLong() ? null : plan(callBytes, layout);
        }
        if (error instanceof RpcRdmaError.WriteChunks || error instanceof RpcRdmaError.Segments) {
            return plan(callBytes, layout);
        }
        if (error instanceof RpcRdmaError.WriteResource write) {
            return planLargerResult(refused, callBytes, layout, write);
        }
        return error instanceof RpcRdmaError.ReplyResource reply ? planLargerReply(refused, callBytes, layout, reply) : null;
    }

    private RequestPlan planLargerResult(RequestPlan refused, int callBytes, CallLayout layout, RpcRdmaError.WriteResource error)
            throws RpcRdmaException {
        List<Integer> offered = refused.writeChunkBytes();
        if (error.chunkIndex() < 1 || error.chunkIndex() > offered.size()
                || error.lengthNeededBytes() > limits.maxMessageBytes()) {
            return null;
        }
        int index = (int) error.chunkIndex() - 1;
        if (error.lengthNeededBytes() <= offered.get(index)) {
            return null;
        }
        List<Integer> results = new ArrayList<>(layout.replySpace().maxDataItemBytes());
        results.set(index, (int) error.lengthNeededBytes());
        return plan(callBytes, new CallLayout(layout.items(), new ReplySpace(layout.replySpace().maxReplyBytes(), results)));
    }

    /**
     * With a Reply chunk and no Write chunks: the same error says that the responder takes none at all. Where it does take them,
     * the length that it needs does not count what it would have placed in them.
     */
    private RequestPlan planLargerReply(RequestPlan refused, int callBytes, CallLayout layout, RpcRdmaError.ReplyResource error)
            throws RpcRdmaException {
        long needed = error.lengthNeededBytes();
        if (needed == 0 || needed > limits.maxMessageBytes()
                || refused.writeChunkBytes().isEmpty() && needed <= refused.replyChunkBytes()) {
            return null;
        }
        long bytes = RpcOffsets.padded((int) needed);
        for (int chunkBytes : refused.writeChunkBytes()) {
            bytes += chunkBytes;
        }
        return RequestPlan.withReplyChunk((int) Math.min(bytes, limits.maxMessageBytes()), callBytes,
                responder.within(layout).items(), threshold.get(), responder.within(policy));
    }

    private boolean offersTooMuch(RequestPlan plan, RequestPlan refused) {
        return plan.replyBytes() > Math.max(limits.maxMessageBytes(), refused.replyBytes());
    }
}
