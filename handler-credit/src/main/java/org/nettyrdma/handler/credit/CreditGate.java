package org.nettyrdma.handler.credit;

import static io.netty.util.internal.ObjectUtil.checkNotNull;
import static io.netty.util.internal.ObjectUtil.checkPositive;
import static io.netty.util.internal.ObjectUtil.checkPositiveOrZero;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import java.util.function.IntSupplier;

/**
 * Keeps both ends of a connection within the requests that they granted each other (RFC 8166, section 3.3.1). Stands above the
 * codec that makes {@link CreditedMessage}s; other messages pass. One gate per channel.
 *
 * <p>Who may send when, in one direction. The other direction looks the same and is independent of this one:
 * <pre>{@code
 *  in
 *  progress  limit   requesting end, maxRequests 3            responding end, maxServed 2
 *                              |                                        |
 *     1        1     write 1   |--- request 1, asks for 3 ------------->|  one request before the
 *     1        1     write 2   |    waits; channel not writable         |  first response, no more
 *                              |                                        |
 *     0        2               |<-- response 1, grants 2 ---------------|  the smaller of 3 and 2
 *     1        2               |--- request 2 ------------------------->|
 *     2        2     write 3   |--- request 3 ------------------------->|
 *     2        2     write 4   |    waits                               |
 *                              |                                        |
 *     1        1               |<-- response 3, grants 1 ---------------|  there is less room now
 *                              |    4 waits: the limit is reached       |
 *     0        1               |<-- response 2, grants 1 ---------------|
 *     1        1               |--- request 4 ------------------------->|
 * }</pre>
 *
 * <p><b>Requests that this end sends.</b> One request may be in progress until the first response. Then as many may be in
 * progress as the last response granted, at least 1 and at most {@code maxRequests}. A response may say that its value does
 * not count. Requests beyond the limit wait, at most {@code maxWaiting} of them. Further writes fail with
 * {@link CreditQueueFullException}. While a request waits, the channel is not writable
 * ({@link io.netty.channel.Channel#isWritable}). A waiting write that is cancelled is dropped. A write that was passed on can
 * no longer be cancelled, as its credit is spent. Every request is stamped with {@code maxRequests}. Waiting requests that a
 * response lets go are flushed at the end of the read batch, whether or not they were flushed before.
 *
 * <p><b>Requests that the peer sends.</b> Responses are stamped with what the last request of the peer asked for, at least 1
 * and at most {@code maxServed}, and less while this end has less room for requests. A request beyond the grant, or a second
 * request before the first response, fires {@link CreditExceededException} and closes the connection. The peer may have sent
 * requests before it looked at a smaller grant, and they are not wrong. After {@code n} responses it may have sent
 * {@code n + g} requests in all, where {@code g} is the larger grant of the last two. What it was allowed after fewer responses,
 * it still may have sent.
 *
 * <p><b>Notices</b> are messages without a response that use a receive of the peer all the same. A notice goes out without
 * waiting, on the credit that the response before it kept. It holds that credit until the peer is known to have received it.
 * The response to a request that was sent later shows this, as messages arrive in order. Where nothing but notices hold
 * credits, no response is going to come. Then the oldest notice gives its credit back for the next request. Otherwise a peer
 * that grants a single credit would never be called again. Received notices are not counted: an end that makes its peer send
 * notices has receives for them besides those that it grants.
 *
 * <p><b>Control messages</b> are neither requests nor responses. They take no credit, wait for none, and use receives that the
 * peer keeps for them. At most {@value #MAX_CONTROLS} of this end are under way without a sign that the peer has received
 * them. Further ones wait in order, at most {@code maxWaiting} of them, and then fail with {@link CreditQueueFullException}. A
 * sign that a control message has arrived, and all before it, is
 * <ul>
 * <li>its answer, or its refusal
 * <li>the response to a request that was sent after it
 * <li>a request of the peer that needed the response that followed the control message
 * </ul>
 * An answer goes out at once, since the asking end has a receive for it. So each end needs twice {@value #MAX_CONTROLS}
 * receives for control messages. Where nothing is answered and there are no requests, control messages that wait go on
 * waiting, and hold nothing else up.
 *
 * <p><b>Both directions.</b> The two halves are independent. A connection on which both ends call each other (RFC 8167) needs
 * one gate at each end and nothing else.
 *
 * <p><b>Responses that answer nothing.</b> The gate keeps the XIDs of the requests in progress. A response with another XID
 * (late, sent twice, made up) is passed on, but changes neither the credits in use nor the limit.
 *
 * <p><b>Requests that are never answered</b> keep their credit until the connection ends, whether or not somebody waits for
 * the response. The responder may still hold the buffer, and a request beyond its grant may find none (RFC 8166, section
 * 3.3.1). {@link #abandon} gives the credit back where the caller knows that no response is going to come, for instance because
 * the request was not written. A peer that has dropped as many requests as it grants can be sent no further request. So the
 * gate fires {@link CreditsLostException} and closes the connection when all requests in progress have been
 * {@linkplain RequestGivenUp given up}, none can be sent, and no response comes for {@code maxSilenceMillis}. A new connection
 * has all of its credits. While {@code AUTO_READ} is off the gate waits, as responses may have arrived without being read.
 *
 * <p><b>Close.</b> What waits fails with {@link java.nio.channels.ClosedChannelException} when the channel becomes inactive
 * or the gate is removed.
 */
public final class CreditGate extends ChannelDuplexHandler {

    /** Most requests in progress unless something else was asked for. */
    public static final int DEFAULT_CREDITS = 128;

    /** Most requests that wait for a credit unless something else was asked for. */
    public static final int DEFAULT_MAX_WAITING = 1024;

    /** How long a peer may say nothing while all credits are lost unless something else was asked for, in milliseconds. */
    public static final long DEFAULT_MAX_SILENCE_MILLIS = 60_000;

    /** Of the user-defined writability flags of a channel, the one that is false while a request waits for a credit. */
    public static final int WRITABILITY_INDEX = 31;

    /** Most control messages under way, from each end. */
    public static final int MAX_CONTROLS = 4;

    private final RequesterCredits requester;
    private final ResponderCredits responder;
    private final int maxWaiting;
    /** {@code null} until there is a control message, which most connections never have. */
    private ControlCredits controls;
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
     * Creates a gate for one channel whose room for requests changes, for example because received requests wait.
     *
     * @param maxRequests most requests in progress that this end sends, 1 or more
     * @param maxWaiting  most requests that wait for a credit, 0 or more
     * @param maxServed   most requests in progress that the peer may send, 1 or more
     * @param grantable   asked on the event loop for each response, how many requests may be granted now: any number; at
     *                    least 1 and at most {@code maxServed} are. A peer that has more in progress already is not at fault
     * @throws IllegalArgumentException if a value is outside its range
     */
    public CreditGate(int maxRequests, int maxWaiting, int maxServed, IntSupplier grantable) {
        this(maxRequests, maxWaiting, maxServed, grantable, DEFAULT_MAX_SILENCE_MILLIS);
    }

    /**
     * Creates a gate for one channel, with a time after which it gives a silent peer up.
     *
     * @param maxRequests      most requests in progress that this end sends, 1 or more
     * @param maxWaiting       most requests that wait for a credit, 0 or more
     * @param maxServed        most requests in progress that the peer may send, 1 or more
     * @param grantable        asked on the event loop for each response, how many requests may be granted now: any number
     * @param maxSilenceMillis how long the peer may answer nothing while requests that were given up hold all credits, in
     *                         milliseconds; 0 for ever. Too small a value shows as {@link CreditsLostException} while the peer is
     *                         merely slow
     * @throws IllegalArgumentException if a value is outside its range
     */
    public CreditGate(int maxRequests, int maxWaiting, int maxServed, IntSupplier grantable, long maxSilenceMillis) {
        this.maxWaiting = checkPositiveOrZero(maxWaiting, "maxWaiting");
        requester = new RequesterCredits(checkPositive(maxRequests, "maxRequests"), maxWaiting,
                () -> controls == null ? 0 : controls.sent(), checkPositiveOrZero(maxSilenceMillis, "maxSilenceMillis"));
        responder = new ResponderCredits(checkPositive(maxServed, "maxServed"), checkNotNull(grantable, "grantable"));
    }

    /**
     * Counts what happened so far. Any thread; a thread other than the event loop may see values of a moment ago.
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

    /**
     * Whether somebody waits for the response to a request, or for a credit to send one with. Requests that were
     * {@linkplain RequestGivenUp given up} keep their credits, and do not count here. Event loop only.
     *
     * @return {@code false} if no response that could come would be of use
     */
    public boolean isResponseAwaited() {
        assert ctx.executor().inEventLoop() : "called from " + Thread.currentThread().getName();
        return requester.isResponseAwaited();
    }

    // --- For who passes requests and responses by, of which there is no message then

    /**
     * Takes a credit for a request that is written past this handler, by the caller and at once. {@link #requestWritten} has to
     * follow. Event loop only.
     *
     * @param xid number of the request
     * @param promise of the write, which cannot be cancelled any more where this returns {@code true}
     * @return {@code false} if the request has to be written through this handler, as it has to wait, or to fail; nothing
     *         has changed then
     */
    public boolean tryBeginRequest(int xid, ChannelPromise promise) {
        return requester.tryBegin(xid, promise);
    }

    /**
     * A request has been written past this handler, successfully or not. Event loop only.
     *
     * @param xid number of the request
     * @param promise of the write
     */
    public void requestWritten(int xid, ChannelPromise promise) {
        requester.written(ctx, xid, promise);
    }

    /**
     * What to stamp requests with that are written past this handler.
     *
     * @return the credits that this end asks for, 1 or more
     */
    public int wantedCredits() {
        return requester.wanted();
    }

    /**
     * Counts a response that is about to be written past this handler. Event loop only.
     *
     * @return the credits to stamp it with, 1 or more
     */
    public int grantForResponse() {
        return responder.grant(true);
    }

    /**
     * Counts a request that is received past this handler. Event loop only.
     *
     * @param wanted the credits that it asks for
     * @return {@code false} if it has to be read through this handler, which may find it wrong; nothing has changed then
     */
    public boolean tryReceiveRequest(long wanted) {
        return !failed && controls == null && responder.tryReceive(wanted);
    }

    /**
     * Counts a response that is received past this handler, and sends requests that have waited for it. Event loop only.
     *
     * @param xid number of its request
     * @param granted the credits that it grants, 0 or more
     * @return {@code false} if it has to be read through this handler; nothing has changed then
     */
    public boolean tryReceiveResponse(int xid, long granted) {
        return controls == null && requester.tryReceive(ctx, xid, granted);
    }

    // --- What is written and read through this handler

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
            case CONTROL -> controls().write(context, message, promise);
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
                    if (controls != null) {
                        controls.arrivedAheadOfResponse(context, responder.responsesArrived());
                    }
                }
                case RESPONSE -> responseReceived(context, message);
                case CONTROL -> controls().received(context, message);
                case NOTICE, NEITHER -> { }
            }
        }
        context.fireChannelRead(msg);
    }

    private void responseReceived(ChannelHandlerContext context, CreditedMessage response) {
        long arrived = requester.responseReceived(context, response);
        if (controls == null) {
            return;
        }
        if (arrived >= 0) {
            controls.arrivedFirst(context, arrived);
        } else {
            controls.arrived(context, response.xid()); // it may refuse a control message
        }
    }

    private ControlCredits controls() {
        if (controls == null) {
            controls = new ControlCredits(MAX_CONTROLS, maxWaiting, responder::responses);
        }
        return controls;
    }

    private void fail(ChannelHandlerContext context) {
        if (!failed) {
            failed = true;
            context.fireExceptionCaught(new CreditExceededException(responder.mostGranted()));
            context.close();
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof RequestGivenUp request) {
            requester.giveUp(context, request.xid());
        }
        context.fireUserEventTriggered(event);
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        requester.flush(context);
        if (controls != null) {
            controls.flush(context);
        }
        context.fireChannelReadComplete();
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        ctx = context;
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        close(context);
        context.fireChannelInactive();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        close(context);
    }

    private void close(ChannelHandlerContext context) {
        requester.close(context);
        controls().close(); // it refuses what is written from now on
    }
}
