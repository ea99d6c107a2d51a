package org.nettyrdma.handler.credit;

import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.util.collection.IntObjectHashMap;
import io.netty.util.collection.IntObjectMap;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayDeque;

/** The half of {@link CreditGate} for the requests that this end sends. Event loop only. */
final class RequesterCredits {

    /** The value of a request whose response is there, and whose credit waits for its notice. */
    private static final Earlier NOTICE_OWED = new Earlier(-1, -1);

    private final CreditWindow window;
    private final int maxWaiting;
    private final ArrayDeque<WaitingWrite> waiting = new ArrayDeque<>();
    /**
     * The XIDs that hold a credit, as keys: a response that is none of these must not make one. The value is what had been sent
     * when the request was; its response shows that all of that has arrived.
     */
    private final IntObjectMap<Earlier> inProgress = new IntObjectHashMap<>();
    private final ControlCredits controls;
    private Earlier earlier = new Earlier(0, 0); // one for all the requests that it is stored with
    private long noticesArrived;
    private boolean closed;
    private boolean unflushed;

    private int highestWaiting;
    private long refused;
    private long unmatchedResponses;
    private long grantsOfZero;
    private long grantsAboveMaximum;

    /** What was sent by some moment without being a request: so many notices, and so many control messages. */
    private record Earlier(long notices, long controls) {
    }

    RequesterCredits(int maxCredits, int maxWaiting, ControlCredits controls) {
        this.controls = controls;
        window = new CreditWindow(maxCredits);
        this.maxWaiting = maxWaiting;
    }

    CreditStatistics.Requests statistics() {
        return new CreditStatistics.Requests(window.limit(), window.inUse(), waiting.size(), highestWaiting, refused,
                unmatchedResponses, grantsOfZero, grantsAboveMaximum);
    }

    void write(ChannelHandlerContext ctx, CreditedMessage request, ChannelPromise promise) {
        if (closed) {
            request.release();
            promise.tryFailure(new ClosedChannelException());
        } else if (waiting.isEmpty() && isAvailable()) {
            send(ctx, request, promise);
        } else if (waiting.size() < maxWaiting) {
            waitForCredit(ctx, request, promise);
        } else {
            refused++;
            request.release();
            promise.tryFailure(new CreditQueueFullException(maxWaiting, window));
        }
    }

    private void waitForCredit(ChannelHandlerContext ctx, CreditedMessage request, ChannelPromise promise) {
        WaitingWrite write = new WaitingWrite(ctx, request, promise);
        waiting.add(write);
        highestWaiting = Math.max(highestWaiting, waiting.size());
        if (!promise.isVoid()) { // a void promise cannot be cancelled, and takes no listener
            promise.addListener(write);
        }
        updateWritability(ctx);
    }

    private void send(ChannelHandlerContext ctx, CreditedMessage request, ChannelPromise promise) {
        // From here on the credit is spent, so the request may no longer be cancelled.
        if (!promise.setUncancellable()) {
            request.release();
            return;
        }
        int xid = request.xid();
        if (inProgress.containsKey(xid)) {
            request.release();
            promise.tryFailure(new IllegalStateException("a request with XID " + Integer.toUnsignedString(xid)
                    + " is in progress"));
            return;
        }
        if (earlier.controls() != controls.sent()) {
            earlier = new Earlier(earlier.notices(), controls.sent());
        }
        inProgress.put(xid, earlier);
        window.tryAcquire();
        int wanted = window.maxLimit();
        ctx.write(request.credits() == wanted ? request : request.withCredits(wanted), promise);
        if (promise.isDone() && !promise.isSuccess()) {
            giveBack(xid); // refused on its way down, so the peer has not seen it
        }
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
            notice.release();
            promise.tryFailure(closed ? new ClosedChannelException() : new IllegalStateException(
                    "no response with XID " + Integer.toUnsignedString(notice.xid()) + " has kept its credit"));
            return;
        }
        inProgress.remove(notice.xid());
        earlier = new Earlier(earlier.notices() + 1, earlier.controls());
        ctx.write(notice.withCredits(window.maxLimit()), promise);
        sendWaiting(ctx);
    }

    /**
     * Counts a response.
     *
     * @return how many control messages, the first ones, the peer must have received; -1 if the response answers no request
     */
    long responseReceived(ChannelHandlerContext ctx, CreditedMessage response) {
        Earlier arrived = inProgress.remove(response.xid());
        if (arrived == null || arrived == NOTICE_OWED) {
            if (arrived != null) { // a second response, and the notice of the first is still to come
                inProgress.put(response.xid(), NOTICE_OWED);
            }
            unmatchedResponses++;
            return -1;
        }
        if (response.keepsCredit()) {
            inProgress.put(response.xid(), NOTICE_OWED);
        } else {
            window.release();
        }
        noticesArrived(arrived.notices());
        if (response.grantsCredits()) {
            granted(response.credits());
        }
        sendWaiting(ctx);
        return arrived.controls();
    }

    private void granted(long granted) {
        if (granted == 0) {
            grantsOfZero++;
        } else if (granted > window.maxLimit()) {
            grantsAboveMaximum++;
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
        if (inProgress.remove(xid) == null) {
            return false;
        }
        window.release();
        return true;
    }

    private void sendWaiting(ChannelHandlerContext ctx) {
        if (waiting.isEmpty()) {
            return;
        }
        while (!waiting.isEmpty() && isAvailable()) {
            WaitingWrite write = waiting.poll();
            send(ctx, write.request, write.promise);
            unflushed = true;
        }
        updateWritability(ctx);
    }

    void flush(ChannelHandlerContext ctx) {
        if (unflushed) {
            unflushed = false;
            ctx.flush();
        }
    }

    private void cancelled(WaitingWrite write) {
        if (waiting.remove(write)) {
            write.request.release();
            updateWritability(write.ctx);
        }
    }

    private void updateWritability(ChannelHandlerContext ctx) {
        ChannelOutboundBuffer outbound = ctx.channel().unsafe().outboundBuffer();
        if (outbound != null) { // null once the channel is closed
            outbound.setUserDefinedWritability(CreditGate.WRITABILITY_INDEX, waiting.isEmpty());
        }
    }

    void close(ChannelHandlerContext ctx) {
        closed = true;
        if (waiting.isEmpty()) {
            return;
        }
        ClosedChannelException cause = new ClosedChannelException();
        for (WaitingWrite write = waiting.poll(); write != null; write = waiting.poll()) {
            write.request.release();
            write.promise.tryFailure(cause);
        }
        updateWritability(ctx);
    }

    /** A request that waits for a credit, and the listener that drops it when its caller cancels it. */
    private final class WaitingWrite implements ChannelFutureListener {

        private final ChannelHandlerContext ctx;
        private final CreditedMessage request;
        private final ChannelPromise promise;

        WaitingWrite(ChannelHandlerContext ctx, CreditedMessage request, ChannelPromise promise) {
            this.ctx = ctx;
            this.request = request;
            this.promise = promise;
        }

        @Override
        public void operationComplete(ChannelFuture write) {
            if (write.isCancelled()) {
                cancelled(this);
            }
        }
    }
}
