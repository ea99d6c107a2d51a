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

    private final CreditWindow window;
    private final int maxWaiting;
    private final ArrayDeque<WaitingWrite> waiting = new ArrayDeque<>();
    /** The XIDs without a response, as keys: a response that is none of these must not make a credit. */
    private final IntObjectMap<Boolean> inProgress = new IntObjectHashMap<>();
    private boolean closed;
    private boolean unflushed;

    private int highestWaiting;
    private long refused;
    private long unmatchedResponses;
    private long grantsOfZero;
    private long grantsAboveMaximum;

    RequesterCredits(int maxCredits, int maxWaiting) {
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
        } else if (waiting.isEmpty() && window.isAvailable()) {
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
        inProgress.put(xid, Boolean.TRUE);
        window.tryAcquire();
        int wanted = window.maxLimit();
        ctx.write(request.credits() == wanted ? request : request.withCredits(wanted), promise);
        if (promise.isDone() && !promise.isSuccess()) {
            giveBack(xid); // refused on its way down, so the peer has not seen it
        }
    }

    void responseReceived(ChannelHandlerContext ctx, CreditedMessage response) {
        if (!giveBack(response.xid())) {
            unmatchedResponses++;
            return;
        }
        long granted = response.credits();
        if (granted == 0) {
            grantsOfZero++;
        } else if (granted > window.maxLimit()) {
            grantsAboveMaximum++;
        }
        window.setLimit(granted);
        sendWaiting(ctx);
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
        while (window.isAvailable() && !waiting.isEmpty()) {
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
