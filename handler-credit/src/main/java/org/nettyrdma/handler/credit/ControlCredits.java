package org.nettyrdma.handler.credit;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayDeque;
import java.util.LinkedList;
import java.util.Queue;
import java.util.function.LongSupplier;

/**
 * The part of {@link CreditGate} for messages that are no request and no response: no more of them are under way than the peer
 * has receives for. Messages arrive in the order in which they were sent, so that what shows the arrival of one shows that of
 * all before it. Event loop only.
 */
final class ControlCredits {

    private final int maxUnproven;
    private final int maxWaiting;
    private final LongSupplier responsesSent;
    /** What is not known to have arrived, the oldest first. */
    private final ArrayDeque<Sent> unproven;
    /** Not an array: where one cannot grow for want of memory, it loses what is in it. */
    private final Queue<Waiting> waiting = new LinkedList<>();
    /** Numbers of the peer's messages that may be answered: the latest ones, as many as it may have under way. */
    private final ArrayDeque<Integer> answerable;
    /** Counts what was sent, and what was refused on its way down. */
    private long sent;
    private boolean closed;
    private boolean unflushed;

    /** A message that was sent behind so many others, and so many responses of this end. */
    private record Sent(long sentBefore, int xid, long responsesBefore) {
    }

    private record Waiting(CreditedMessage message, ChannelPromise promise) {
    }

    /**
     * @param responsesSent counts the responses of this end
     */
    ControlCredits(int maxUnproven, int maxWaiting, LongSupplier responsesSent) {
        this.maxUnproven = maxUnproven;
        this.maxWaiting = maxWaiting;
        this.responsesSent = responsesSent;
        unproven = new ArrayDeque<>(maxUnproven);
        answerable = new ArrayDeque<>(maxUnproven);
    }

    /** How many have been sent so far, in this order; for {@link #arrivedFirst}. */
    long sent() {
        return sent;
    }

    /** Sends a message when there is a receive for it. */
    void write(ChannelHandlerContext ctx, CreditedMessage message, ChannelPromise promise) {
        if (closed) {
            RequesterCredits.fail(message, promise, new ClosedChannelException());
        } else if (message.isAnswer() && answerable.removeFirstOccurrence(message.xid())) {
            ctx.write(message, promise); // uses the receive that the peer has for the answer
        } else if (waiting.isEmpty() && unproven.size() < maxUnproven) {
            send(ctx, message, promise);
            sendWaiting(ctx); // refused on its way down, it leaves room for what was written on that
            flush(ctx);
        } else if (waiting.size() < maxWaiting) {
            await(message, promise);
        } else {
            RequesterCredits.fail(message, promise, new CreditQueueFullException(maxWaiting, unproven.size()));
        }
    }

    private void await(CreditedMessage message, ChannelPromise promise) {
        try {
            waiting.add(new Waiting(message, promise));
        } catch (Throwable t) { // no memory, for instance; Netty fails the promise
            message.release();
            throw t;
        }
    }

    private void send(ChannelHandlerContext ctx, CreditedMessage message, ChannelPromise asked) {
        ChannelPromise promise = RequesterCredits.makeUncancellable(message, asked);
        if (promise == null) {
            return;
        }
        Sent place = new Sent(sent++, message.xid(), responsesSent.getAsLong());
        unproven.add(place);
        ctx.write(message, promise);
        if (promise.isDone() && !promise.isSuccess()) {
            unproven.remove(place); // refused on its way down, so the peer has not seen it; its number others may have noted
        }
    }

    /** A message of the peer: an answer shows that what it answers has arrived, any other one may be answered. */
    void received(ChannelHandlerContext ctx, CreditedMessage message) {
        if (message.isAnswer()) {
            arrived(ctx, message.xid());
            return;
        }
        if (answerable.size() == maxUnproven) {
            answerable.remove();
        }
        answerable.add(message.xid());
    }

    /** The peer has received the message with this number, if there is one, and all before it. */
    void arrived(ChannelHandlerContext ctx, int xid) {
        if (unproven.stream().anyMatch(message -> message.xid() == xid)) {
            while (unproven.remove().xid() != xid) { // the oldest of this number: that is certain
            }
            sendWaiting(ctx);
        }
    }

    /** The peer has received the first {@code count} that were sent. */
    void arrivedFirst(ChannelHandlerContext ctx, long count) {
        while (!unproven.isEmpty() && unproven.peek().sentBefore() < count) {
            unproven.remove();
        }
        sendWaiting(ctx);
    }

    /** The peer has received the first {@code count} responses of this end, and all that was sent ahead of them. */
    void arrivedAheadOfResponse(ChannelHandlerContext ctx, long count) {
        while (!unproven.isEmpty() && unproven.peek().responsesBefore() < count) {
            unproven.remove();
        }
        sendWaiting(ctx);
    }

    private void sendWaiting(ChannelHandlerContext ctx) {
        while (!waiting.isEmpty() && unproven.size() < maxUnproven) {
            Waiting next = waiting.poll();
            send(ctx, next.message(), next.promise());
            unflushed = true;
        }
    }

    void flush(ChannelHandlerContext ctx) {
        if (unflushed) {
            unflushed = false;
            ctx.flush();
        }
    }

    void close() {
        closed = true;
        for (Waiting write = waiting.poll(); write != null; write = waiting.poll()) {
            RequesterCredits.fail(write.message(), write.promise(), new ClosedChannelException());
        }
    }
}
