package org.nettyrdma.handler.credit;

import static io.netty.util.internal.ObjectUtil.checkPositive;
import static io.netty.util.internal.ObjectUtil.checkPositiveOrZero;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import java.util.function.IntSupplier;

/**
 * Keeps both ends of a connection within the requests that they granted each other (RFC 8166, section 3.3). Stands above the
 * codec that makes {@link CreditedMessage}s; other messages pass. One gate per channel.
 *
 * <p><b>Requests that this end sends.</b> One may be in progress until the first response; then as many as the last response
 * granted, at least 1 and at most {@code maxRequests}; a response may say that its value does not count. Requests beyond that wait, at most {@code maxWaiting} of them; then
 * writes fail with {@link CreditQueueFullException}. While one waits, the channel is not writable
 * ({@link io.netty.channel.Channel#isWritable}). A waiting write that is cancelled is dropped; one that was passed on can no
 * longer be cancelled, as its credit is spent. Every request is stamped with {@code maxRequests}. Waiting requests that a
 * response lets go are flushed at the end of the read batch, whether or not they were before.
 *
 * <p><b>Requests that the peer sends.</b> Responses are stamped with what the peer's last request asked for, at least 1 and
 * at most {@code maxServed}, and less while this end has less room for requests. A request beyond the highest grant so far, or a second one before the first response, fires
 * {@link CreditExceededException} and closes the connection.
 *
 * <p><b>Notices</b> are messages without a response that use a receive of the peer all the same. One goes out on the credit
 * that the response before it kept, without waiting, and holds that credit until the peer is known to have received it: until
 * the response to a request sent later, as messages arrive in order. Where nothing but notices hold credits no response is
 * going to come, so the oldest one gives its credit back for the next request. Without that, a peer that grants a single
 * credit would never be called again. Received notices are not counted: whoever makes its peer send them has receives for
 * them besides those that it grants.
 *
 * <p><b>Control messages</b> are neither, take no credit and wait for none, and use receives that the peer keeps for them. No
 * more than {@value #MAX_CONTROLS} of this end are under way that the peer is not known to have received; further ones wait, in
 * order and at most {@code maxWaiting} of them, and then fail with {@link CreditQueueFullException}. What shows that one has
 * arrived, and with it all before it: its answer, or its refusal; the response to a request that was sent after it; and a request of
 * the peer that it could not have sent without the response that followed the control message. An answer goes out at once, since who asks
 * has a receive for it. So each end needs twice {@value #MAX_CONTROLS} receives for them. Where nothing is answered and there are no
 * requests either, those that wait go on waiting, and hold nothing else up.
 *
 * <p><b>Both directions.</b> The two halves are independent, so a connection on which both ends call each other (RFC 8167)
 * needs one gate at each end and nothing else.
 *
 * <p><b>Responses that answer nothing.</b> The gate keeps the XIDs of the requests in progress. A response with another XID
 * (late, sent twice, made up) is passed on, but changes neither the credits in use nor the limit.
 *
 * <p><b>Requests that are never answered</b> keep their credit until the connection ends, since their responder may still
 * hold the buffer. {@link #abandon} gives the credit back where the caller knows better.
 *
 * <p><b>Close.</b> What waits fails with {@link java.nio.channels.ClosedChannelException} when the channel becomes inactive
 * or the gate is removed.
 */
public final class CreditGate extends ChannelDuplexHandler {

    /** Most requests in progress unless something else was asked for. */
    public static final int DEFAULT_CREDITS = 128;

    /** Most requests that wait for a credit unless something else was asked for. */
    public static final int DEFAULT_MAX_WAITING = 1024;

    /** Of the user-defined writability flags of a channel, the one that is false while a request waits for a credit. */
    public static final int WRITABILITY_INDEX = 31;

    /** Most control messages under way, from each end. */
    public static final int MAX_CONTROLS = 4;

    private final RequesterCredits requester;
    private final ResponderCredits responder;
    private final ControlCredits controls;
    private ChannelHandlerContext ctx;
    private boolean failed;

    /**
     * Creates a gate for one channel with the same number of credits for both halves.
     *
     * @param credits most requests in progress from each end, 1 or more
     * @throws IllegalArgumentException if it is not positive
     */
    public CreditGate(int credits) {
        this(credits, DEFAULT_MAX_WAITING, credits);
    }

    /**
     * Creates a gate for one channel.
     *
     * @param maxRequests most requests in progress that this end sends, 1 or more: the responses that it has receive buffers
     *                    for
     * @param maxWaiting  most requests that wait for a credit, 0 or more. Too small a value shows as
     *                    {@link CreditQueueFullException} at callers who do not look at the channel's writability
     * @param maxServed   most requests in progress that the peer may send, 1 or more: the requests that this end has receive
     *                    buffers for
     * @throws IllegalArgumentException if a value is outside its range
     */
    public CreditGate(int maxRequests, int maxWaiting, int maxServed) {
        this(maxRequests, maxWaiting, maxServed, () -> maxServed);
    }

    /**
     * Creates a gate for one channel whose room for requests changes, for example because received ones are not taken.
     *
     * @param maxRequests most requests in progress that this end sends, 1 or more
     * @param maxWaiting  most requests that wait for a credit, 0 or more
     * @param maxServed   most requests in progress that the peer may send, 1 or more
     * @param grantable   asked on the event loop for each response, how many requests may be granted now: any number; at
     *                    least 1 and at most {@code maxServed} are. A peer that has more in progress already is not at fault
     * @throws IllegalArgumentException if a value is outside its range
     */
    public CreditGate(int maxRequests, int maxWaiting, int maxServed, IntSupplier grantable) {
        controls = new ControlCredits(MAX_CONTROLS, checkPositiveOrZero(maxWaiting, "maxWaiting"));
        requester = new RequesterCredits(checkPositive(maxRequests, "maxRequests"), maxWaiting, controls);
        responder = new ResponderCredits(checkPositive(maxServed, "maxServed"), grantable);
    }

    /**
     * Counts what happened so far. Any thread.
     *
     * @return a snapshot
     */
    public CreditStatistics statistics() {
        return new CreditStatistics(requester.statistics(), responder.statistics());
    }

    /**
     * Gives back the credit of a request whose response is not going to come. A response that comes nevertheless changes
     * nothing. Event loop only.
     *
     * @param xid number of the request; nothing happens if it is not in progress
     */
    public void abandon(int xid) {
        assert ctx.executor().inEventLoop() : "called from " + Thread.currentThread().getName();
        requester.abandon(ctx, xid);
    }

    @Override
    public void write(ChannelHandlerContext context, Object msg, ChannelPromise promise) {
        if (!(msg instanceof CreditedMessage message)) {
            context.write(msg, promise);
            return;
        }
        switch (message.role()) {
            case REQUEST -> requester.write(context, message, promise);
            case RESPONSE -> context.write(responder.stamp(message), promise);
            case NOTICE -> requester.writeNotice(context, message, promise);
            case CONTROL -> controls.write(context, message, promise, responder.responses());
            case NEITHER -> context.write(message, promise);
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object msg) {
        if (msg instanceof CreditedMessage message) {
            switch (message.role()) {
                case REQUEST -> {
                    if (failed || !responder.requestReceived(message)) {
                        message.release();
                        fail(context);
                        return;
                    }
                    controls.arrivedAheadOfResponse(context, responder.responsesArrived(), responder.responses());
                }
                case RESPONSE -> responseReceived(context, message);
                case CONTROL -> controls.received(context, message, responder.responses());
                case NOTICE, NEITHER -> { }
            }
        }
        context.fireChannelRead(msg);
    }

    private void responseReceived(ChannelHandlerContext context, CreditedMessage response) {
        long arrived = requester.responseReceived(context, response);
        if (arrived >= 0) {
            controls.arrivedFirst(context, arrived, responder.responses());
        } else {
            controls.arrived(context, response.xid(), responder.responses()); // it may refuse a control message
        }
    }

    private void fail(ChannelHandlerContext context) {
        if (!failed) {
            failed = true;
            context.fireExceptionCaught(new CreditExceededException(responder.granted()));
            context.close();
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        requester.flush(context);
        controls.flush(context);
        context.fireChannelReadComplete();
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        ctx = context;
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        requester.close(context);
        controls.close();
        context.fireChannelInactive();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        requester.close(context);
        controls.close();
    }
}
