package org.nettyrdma.codec.rpcrdma.requester;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import java.io.IOException;
import java.util.LinkedList;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.nettyrdma.codec.oncrpc.ReplySpace;
import org.nettyrdma.codec.rpcrdma.RpcRdmaLimits;
import org.nettyrdma.codec.rpcrdma.shared.InlineThreshold;

/**
 * Finds room for the replies of which nobody said how large they can get. Each call offers all that a reply may take
 * ({@link RpcRdmaLimits#defaultReplyChunkBytes()}) as long as there is memory. In version 1 there is no second try: the responder
 * learns how large a reply is by carrying the call out, and its RDMA_ERROR is a permanent error (RFC 8166, section 4.5). Where
 * memory is short, the {@link ReplyHistory} of such calls decides:
 * <ul>
 * <li>replies were small: the call does not wait, and offers less, but several times what was ever needed. If that is too
 * little after all, the call fails in version 1 and is sent again in version 2, and nothing is guessed of its kind any more
 * <li>replies were large, or the call itself is: the call waits for memory
 * <li>there were too few to tell: the call waits, too. Perhaps the calls that hold the memory are not answered before this one is
 * sent. So if there still is no large reply {@value #PATIENCE_MILLIS} ms later, it offers {@value #MODEST_BYTES} bytes, for which
 * there is a reserve
 * </ul>
 * Event loop only.
 */
final class OpenEndedRequests {

    /** What is left for replies of unknown size where there is not all. */
    static final int MODEST_BYTES = 65536;
    /** How long a call waits for replies to others of its kind. */
    static final long PATIENCE_MILLIS = 5000;

    private static final ReplySpace[] SPACES = new ReplySpace[Integer.SIZE - 1];

    static {
        for (int i = 0; i < SPACES.length; i++) {
            SPACES[i] = new ReplySpace(1 << i);
        }
    }

    private final ChannelHandlerContext ctx;
    private final int credits;
    private final RequestPlanner planner;
    private final RequesterCallTable calls;
    private final RequestSender sender;
    private final Supplier<InlineThreshold> threshold;
    private final ReplyHistory history = new ReplyHistory();
    /** In order; those that have been admitted since are skipped. Not an array: one that cannot grow loses what is in it. */
    private final Queue<PatientCall> patient = new LinkedList<>();

    OpenEndedRequests(ChannelHandlerContext ctx, RpcRdmaLimits limits, RequestPlanner planner, RequesterCallTable calls,
            RequestSender sender, Supplier<InlineThreshold> threshold) {
        this.ctx = ctx;
        this.credits = limits.credits();
        this.planner = planner;
        this.calls = calls;
        this.sender = sender;
        this.threshold = threshold;
    }

    /** Where the length of the reply is to be noted, {@code null} if nowhere. */
    ReplyHistory.Record historyOf(ByteBuf call) {
        return history.of(call);
    }

    /** Sends a call, now or when there is memory for it. Its plan offers all that the reply may take. */
    void submit(RequesterCall call) throws IOException {
        RequestPlan plan = call.plan();
        ReplyHistory.Record record = history.of(call.unsent());
        long guessBytes = record == null ? Long.MAX_VALUE : record.guessBytes();
        long bytes = sender.memoryOf(call);
        if (guessBytes < plan.replyChunkBytes()) {
            if (calls.tryAdmitAmply(bytes)) {
                sendAmply(call, bytes);
            } else {
                submitModestly(call, guessBytes);
            }
        } else if (!calls.isPossible(bytes)) {
            submitWithin(call, modest(plan)); // there will never be more
        } else if (record == null || !record.maySuffice(modest(plan)) || call.unsent().readableBytes() > MODEST_BYTES) {
            submitAmply(call, bytes);
        } else {
            submitFirst(call, bytes, record);
        }
    }

    private void submitAmply(RequesterCall call, long bytes) throws IOException {
        if (calls.tryAdmit(bytes)) {
            sendAmply(call, bytes);
        } else {
            calls.admit(new WaitingRequest(sender, call, bytes));
        }
    }

    /** Before it can be told how large the replies of a kind are. */
    private void submitFirst(RequesterCall call, long bytes, ReplyHistory.Record record) throws IOException {
        long reserve = calls.reserve((long) credits * MODEST_BYTES);
        if (!calls.isPossible(bytes + reserve)) {
            submitAmply(call, bytes);
        } else if (calls.tryAdmit(bytes + reserve)) {
            calls.release(reserve);
            sendAmply(call, bytes);
        } else {
            WaitingRequest waiting = new WaitingRequest(sender, call, bytes).reserving(reserve);
            calls.admit(waiting);
            awaitReplies(new PatientCall(waiting, record, System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(PATIENCE_MILLIS)));
        }
    }

    /** The pool may have no such piece, where there is still a smaller one. */
    private void sendAmply(RequesterCall call, long bytes) throws IOException {
        try {
            sender.sendAdmitted(call, bytes);
        } catch (IOException e) {
            int modestBytes = modest(call.plan());
            if (call.plan().replyChunkBytes() == modestBytes || !ctx.channel().isActive()) {
                throw e;
            }
            submitWithin(call, modestBytes);
        }
    }

    private static int modest(RequestPlan plan) {
        return Math.min(MODEST_BYTES, plan.replyChunkBytes());
    }

    /** With a share of what is left, as long as that is more than what fits inline, or with what such a reply will need. */
    private void submitModestly(RequesterCall call, long guessBytes) throws IOException {
        long share = Math.min(modest(call.plan()), Long.highestOneBit(Math.max(0, calls.leftBytes()) / credits));
        if (share > guessBytes && share > threshold.get().receiveBytes()) {
            long bytes = sender.memoryOf(call.replan(planFor(call, share)));
            if (calls.tryAdmit(bytes)) {
                sender.sendAdmitted(call, bytes);
                return;
            }
        }
        submitWithin(call, guessBytes);
    }

    private void submitWithin(RequesterCall call, long replyBytes) throws IOException {
        sender.submit(call.replan(planFor(call, replyBytes)));
    }

    private RequestPlan planFor(RequesterCall call, long replyBytes) throws IOException {
        return planner.plan(call.unsent().readableBytes(), call.items(), spaceOf(replyBytes));
    }

    /** At least as many bytes; always the same object, by which plans are found again. */
    private static ReplySpace spaceOf(long bytes) {
        return SPACES[Long.SIZE - Long.numberOfLeadingZeros(Math.max(1, bytes) - 1)];
    }

    /** A call that can have no timer, as there is no memory for it, might wait for ever: it is taken back, and not sent. */
    private void awaitReplies(PatientCall call) {
        try {
            patient.add(call);
            if (patient.size() == 1) {
                ctx.executor().schedule(this::endPatience, PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
            }
        } catch (RuntimeException | Error e) {
            patient.remove(call);
            if (calls.withdraw(call.call)) {
                throw e;
            }
        }
    }

    private record PatientCall(WaitingRequest call, ReplyHistory.Record record, long deadlineNanos) {
    }

    private void endPatience() {
        for (PatientCall first = patient.peek(); first != null && !canWaitOn(first); first = patient.peek()) {
            try {
                if (first.record.maySuffice(MODEST_BYTES) && calls.withdraw(first.call)) {
                    sendImpatiently(first.call);
                }
            } finally {
                patient.remove(); // not before: a call that its caller makes now would set a timer, and the next turn one more
            }
        }
        ctx.flush();
    }

    /** Whether it is not time yet, and {@link #endPatience} runs when it is. */
    private boolean canWaitOn(PatientCall call) {
        long leftNanos = call.deadlineNanos - System.nanoTime();
        if (leftNanos <= 0) {
            return false;
        }
        try {
            ctx.executor().schedule(this::endPatience, leftNanos, TimeUnit.NANOSECONDS);
            return true;
        } catch (RuntimeException | Error e) { // no memory for the timer
            return false;
        }
    }

    private void sendImpatiently(WaitingRequest waited) {
        RequesterCall call = waited.call();
        ByteBuf message = call.unsent();
        if (call.caller().isDone()) { // cancelled, of which the promise's executor has still to tell
            message.release();
            return;
        }
        try {
            submitWithin(call, modest(call.plan()));
        } catch (IOException | RuntimeException | Error e) {
            message.release();
            call.caller().tryFailure(e);
        }
    }
}
