package org.nettyrdma.handler.credit;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.util.concurrent.Future;
import java.nio.channels.ClosedChannelException;
import java.util.LinkedList;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.nettyrdma.handler.credit.support.WaitTimes;
import org.nettyrdma.handler.credit.support.WaitingWrite;
import org.nettyrdma.handler.credit.support.XidMap;

/** The half of {@link CreditGate} for the requests that this end sends. Event loop only. */
final class RequesterCredits {

    /** The value of a request whose response is there, and whose credit waits for its notice. */
    private static final Earlier NOTICE_OWED = new Earlier(-1, -1);
    /** In place of what a response grants, which is never negative. */
    private static final long NO_GRANT = -1;

    private final CreditWindow window;
    private final int maxWaiting;
    /** Not an array: where one cannot grow for want of memory, it loses what is in it. */
    private final Queue<WaitingRequest> waiting = new LinkedList<>();
    /**
     * The XIDs that hold a credit, as keys: a response that is none of these must not make one. The value is what had been sent
     * when the request was; its response shows that all of that has arrived.
     */
    private final XidMap<Earlier> inProgress = new XidMap<>();
    private final LongSupplier controlsSent;
    private Earlier earlier = new Earlier(0, 0); // one for all the requests that it is stored with
    private long noticesArrived;
    private boolean closed;
    private boolean sending;
    private boolean unflushed;

    /** Requests that {@link #inProgress} has and nobody waits for. */
    private final XidMap<Boolean> givenUp = new XidMap<>();
    private final long maxSilenceMillis;
    private long responses;
    private Future<?> silence;

    // One thread writes these, others may look: so they are written opaquely, which costs nothing.
    private final AtomicInteger waitingNow = new AtomicInteger();
    private final AtomicInteger highestWaiting = new AtomicInteger();
    private final WaitTimes waits = new WaitTimes("credit");
    private final AtomicLong refused = new AtomicLong();
    private final AtomicLong unmatchedResponses = new AtomicLong();
    private final AtomicLong grantsOfZero = new AtomicLong();
    private final AtomicLong grantsAboveMaximum = new AtomicLong();

    /** What was sent by some moment without being a request: so many notices, and so many control messages. */
    private record Earlier(long notices, long controls) {
    }

    /**
     * @param controlsSent     counts the control messages of this end
     * @param maxSilenceMillis how long the peer may say nothing while all credits are lost, 0 for ever
     */
    RequesterCredits(int maxCredits, int maxWaiting, LongSupplier controlsSent, long maxSilenceMillis) {
        this.controlsSent = controlsSent;
        this.maxSilenceMillis = maxSilenceMillis;
        window = new CreditWindow(maxCredits);
        this.maxWaiting = maxWaiting;
    }

    CreditStatistics.Requests statistics() {
        return new CreditStatistics.Requests(window.limit(), window.inUse(), waitingNow.getOpaque(), highestWaiting.getOpaque(),
                refused.getOpaque(), unmatchedResponses.getOpaque(), grantsOfZero.getOpaque(), grantsAboveMaximum.getOpaque(),
                waits.count(), waits.nanos());
    }

    private static void increment(AtomicLong counter) {
        counter.setOpaque(counter.getPlain() + 1);
    }

    void write(ChannelHandlerContext ctx, CreditedMessage request, ChannelPromise promise) {
        if (closed) {
            fail(request, promise, new ClosedChannelException());
        } else if (waiting.isEmpty() && isAvailable()) {
            send(ctx, request, promise);
        } else if (waiting.size() < maxWaiting) {
            waitForCredit(ctx, request, promise);
        } else {
            increment(refused);
            fail(request, promise, new CreditQueueFullException(maxWaiting, window));
        }
    }

    /** The message is not written. */
    static void fail(CreditedMessage message, ChannelPromise promise, Throwable cause) {
        message.release();
        promise.tryFailure(cause);
    }

    private void waitForCredit(ChannelHandlerContext ctx, CreditedMessage request, ChannelPromise promise) {
        WaitingRequest write;
        try {
            write = new WaitingRequest(ctx, request, promise);
            waiting.add(write);
        } catch (Throwable t) { // no memory, for instance; Netty fails the promise
            request.release();
            throw t;
        }
        highestWaiting.setOpaque(Math.max(highestWaiting.getPlain(), waiting.size()));
        write.watchForCancellation();
        waitingChanged(ctx);
    }

    /**
     * Makes a write uncancellable, as the credit or receive that it takes is spent from here on.
     *
     * @return what tells how it goes, which a void promise does not; {@code null} if the message was released, as the write was
     *         cancelled, its owner has ended it by itself, or there is no memory
     */
    static ChannelPromise makeUncancellable(CreditedMessage message, ChannelPromise asked) {
        try {
            ChannelPromise promise = asked.isVoid() ? asked.unvoid() : asked;
            if (promise.setUncancellable() && !promise.isDone()) {
                return promise;
            }
            message.release();
        } catch (RuntimeException | Error e) {
            fail(message, asked, e);
        }
        return null;
    }

    private void send(ChannelHandlerContext ctx, CreditedMessage request, ChannelPromise asked) {
        ChannelPromise promise = makeUncancellable(request, asked);
        if (promise == null) {
            return;
        }
        int xid = request.xid();
        if (inProgress.contains(xid)) {
            fail(request, promise, new IllegalStateException("a request with XID " + Integer.toUnsignedString(xid)
                    + " is in progress"));
            return;
        }
        int wanted = window.maxLimit();
        CreditedMessage stamped;
        try {
            stamped = request.credits() == wanted ? request : request.withCredits(wanted);
            takeCredit(xid); // last, as nobody would give the credit back
        } catch (Throwable t) { // no memory, for instance
            fail(request, promise, t);
            return;
        }
        ctx.write(stamped, promise);
        written(ctx, xid, promise);
    }

    private void takeCredit(int xid) {
        long controls = controlsSent.getAsLong();
        if (earlier.controls() != controls) {
            earlier = new Earlier(earlier.notices(), controls);
        }
        inProgress.put(xid, earlier);
        window.tryAcquire();
    }

    /** A request has been written on. */
    void written(ChannelHandlerContext ctx, int xid, ChannelPromise promise) {
        if (promise.isDone() && !promise.isSuccess()) {
            abandon(ctx, xid); // refused on its way down, so the peer has not seen it
        }
    }

    /** Takes a credit for a request that {@link #write} would pass on at once; {@code false} for any other. */
    boolean tryBegin(int xid, ChannelPromise promise) {
        if (closed || !waiting.isEmpty() || inProgress.contains(xid) || promise.isVoid() || !isAvailable()
                || !promise.setUncancellable() || promise.isDone()) {
            return false;
        }
        takeCredit(xid);
        return true;
    }

    /** What each request asks for. */
    int wanted() {
        return window.maxLimit();
    }

    /** Whether a request can be sent; where only notices hold credits, the oldest give theirs back. */
    private boolean isAvailable() {
        while (!window.isAvailable() && inProgress.isEmpty()) {
            noticesArrived(noticesArrived + 1);
        }
        return window.isAvailable();
    }

    private void noticesArrived(long count) {
        for (; noticesArrived < count; noticesArrived++) {
            window.release();
        }
    }

    void writeNotice(ChannelHandlerContext ctx, CreditedMessage notice, ChannelPromise promise) {
        if (closed || inProgress.get(notice.xid()) != NOTICE_OWED) {
            fail(notice, promise, closed ? new ClosedChannelException() : new IllegalStateException(
                    "no response with XID " + Integer.toUnsignedString(notice.xid()) + " has kept its credit"));
            return;
        }
        inProgress.remove(notice.xid());
        try {
            CreditedMessage stamped = notice.withCredits(window.maxLimit());
            earlier = new Earlier(earlier.notices() + 1, earlier.controls());
            ctx.write(stamped, promise);
        } catch (RuntimeException | Error e) { // no memory, for instance
            window.release(); // as the peer will never see it
            fail(notice, promise, e);
        }
        sendWaiting(ctx);
    }

    /** What had been sent when a request was, {@code null} unless its response is still to come. */
    private Earlier unanswered(int xid) {
        Earlier arrived = inProgress.get(xid);
        return arrived == NOTICE_OWED ? null : arrived;
    }

    /**
     * Counts a response.
     *
     * @return how many control messages, the first ones, the peer must have received; -1 if the response answers no request
     */
    long responseReceived(ChannelHandlerContext ctx, CreditedMessage response) {
        int xid = response.xid();
        Earlier arrived = unanswered(xid);
        if (arrived == null) {
            increment(unmatchedResponses);
            return -1;
        }
        counted(ctx, xid, arrived, response.keepsCredit(), response.grantsCredits() ? response.credits() : NO_GRANT);
        return arrived.controls();
    }

    /** Counts a response that grants credits and keeps none, if it is one to a request of this end. */
    boolean tryReceive(ChannelHandlerContext ctx, int xid, long granted) {
        Earlier arrived = unanswered(xid);
        if (arrived == null) {
            return false;
        }
        counted(ctx, xid, arrived, false, granted);
        return true;
    }

    private void counted(ChannelHandlerContext ctx, int xid, Earlier arrived, boolean keepsCredit, long granted) {
        responses++;
        if (!givenUp.isEmpty()) {
            givenUp.remove(xid);
        }
        if (keepsCredit) {
            inProgress.put(xid, NOTICE_OWED);
        } else {
            inProgress.remove(xid);
            window.release();
        }
        noticesArrived(arrived.notices());
        if (granted != NO_GRANT) {
            granted(granted);
        }
        sendWaiting(ctx);
        watchSilence(ctx); // the peer may grant no more than what is lost
    }

    private void granted(long granted) {
        if (granted == 0) {
            increment(grantsOfZero);
        } else if (granted > window.maxLimit()) {
            increment(grantsAboveMaximum);
        }
        window.setLimit(granted);
    }

    void abandon(ChannelHandlerContext ctx, int xid) {
        if (giveBack(xid)) {
            sendWaiting(ctx);
            flush(ctx);
        }
    }

    private boolean giveBack(int xid) {
        if (unanswered(xid) == null) {
            return false;
        }
        inProgress.remove(xid);
        if (!givenUp.isEmpty()) {
            givenUp.remove(xid);
        }
        window.release();
        return true;
    }

    /** Nobody waits for the response to a request any more; the responder has the credit all the same. */
    void giveUp(ChannelHandlerContext ctx, int xid) {
        if (unanswered(xid) != null) {
            givenUp.put(xid, true);
            watchSilence(ctx);
        }
    }

    /** Whether somebody waits for the response to a request, or for a credit to send one with. */
    boolean isResponseAwaited() {
        return givenUp.size() < inProgress.size() || !waiting.isEmpty();
    }

    /** Whether no request can be sent, and nobody waits for any that was. */
    private boolean isLost() {
        return !closed && !givenUp.isEmpty() && givenUp.size() == inProgress.size() && !window.isAvailable();
    }

    private void watchSilence(ChannelHandlerContext ctx) {
        if (maxSilenceMillis > 0 && silence == null && isLost()) {
            long before = responses;
            silence = ctx.executor().schedule(() -> silenceIsOver(ctx, before), maxSilenceMillis, TimeUnit.MILLISECONDS);
        }
    }

    private void silenceIsOver(ChannelHandlerContext ctx, long before) {
        silence = null;
        if (isLost() && responses == before && ctx.channel().config().isAutoRead()) { // or the responses may be here, unread
            ctx.fireExceptionCaught(new CreditsLostException(givenUp.size(), maxSilenceMillis));
            ctx.close();
        } else {
            watchSilence(ctx);
        }
    }

    private void sendWaiting(ChannelHandlerContext ctx) {
        if (waiting.isEmpty() || sending) {
            return; // called from within the loop below, which sees what has changed
        }
        Supplier<Object> peer = ctx.channel()::remoteAddress; // here, as there may be no memory for it where a request has left
        sending = true;
        try {
            while (!waiting.isEmpty() && isAvailable()) {
                WaitingRequest write = waiting.poll();
                write.wait.end(peer);
                send(ctx, write.request, write.promise());
                unflushed = true;
            }
        } finally {
            sending = false;
        }
        waitingChanged(ctx);
    }

    void flush(ChannelHandlerContext ctx) {
        if (unflushed) {
            unflushed = false;
            ctx.flush();
        }
    }

    private void waitingChanged(ChannelHandlerContext ctx) {
        waitingNow.setOpaque(waiting.size());
        WaitingWrite.tellWritability(ctx.channel(), CreditGate.WRITABILITY_INDEX, !waiting.isEmpty());
    }

    void close(ChannelHandlerContext ctx) {
        closed = true;
        if (silence != null) {
            silence.cancel(false);
            silence = null;
        }
        if (waiting.isEmpty()) {
            return;
        }
        ClosedChannelException cause = new ClosedChannelException();
        for (WaitingRequest write = waiting.poll(); write != null; write = waiting.poll()) {
            write.fail(cause);
        }
        waitingChanged(ctx);
    }

    /** A request that waits for a credit. */
    private final class WaitingRequest extends WaitingWrite {

        private final CreditedMessage request;
        private final WaitTimes.Wait wait = waits.begin();

        WaitingRequest(ChannelHandlerContext ctx, CreditedMessage request, ChannelPromise promise) {
            super(ctx, promise);
            this.request = request;
        }

        private void fail(Throwable cause) {
            wait.end(context().channel()::remoteAddress);
            RequesterCredits.fail(request, promise(), cause);
        }

        @Override
        protected void cancelled(Throwable cause) {
            if (waiting.remove(this)) {
                fail(cause);
                waitingChanged(context());
            }
        }
    }
}
