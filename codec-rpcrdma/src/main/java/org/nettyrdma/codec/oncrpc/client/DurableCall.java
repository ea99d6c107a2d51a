package org.nettyrdma.codec.oncrpc.client;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.handler.credit.support.WaitTimes;

/**
 * A call that may take several attempts: the future of the caller, and the one reference to the arguments that lasts until the
 * call ends. Each attempt has references of its own, because a device may read the memory of an attempt that has been lost while
 * the next one is under way. All fields belong to the event loop of the client.
 */
final class DurableCall extends LoopPromise<ByteBuf> implements Runnable {

    /** Whose call it is. */
    interface Owner {

        /** Takes a new call up. Event loop of the client. */
        void submit(DurableCall call);

        /** The caller has cancelled a call. Any thread. */
        void cancelled(DurableCall call);
    }

    final RpcRequest request;
    private final Owner owner;
    private final long timeoutMillis;
    private final long deadlineNanos;
    private final int bytes;

    long sequence;
    int xid;
    int attempts;
    /** The attempt under way, {@code null} if there is none. */
    Future<ByteBuf> attempt;
    /** {@code null} where it does not wait for a connection. */
    WaitTimes.Wait wait;
    /** Ends the call at its deadline while it waits. */
    ScheduledFuture<?> timer;
    private boolean released;

    DurableCall(EventExecutor executor, Owner owner, RpcRequest request, long defaultTimeoutMillis) {
        super(executor);
        this.owner = owner;
        this.request = request;
        timeoutMillis = request.timeoutMillis() == 0 ? defaultTimeoutMillis : request.timeoutMillis();
        deadlineNanos = System.nanoTime()
                + Math.min(Long.MAX_VALUE / 2, TimeUnit.MILLISECONDS.toNanos(timeoutMillis)); // no overflow
        bytes = request.arguments().readableBytes();
    }

    @Override
    public void run() {
        owner.submit(this);
    }

    long timeoutMillis() {
        return timeoutMillis;
    }

    /** What its arguments take. */
    int bytes() {
        return bytes;
    }

    /** Nanoseconds until its deadline, which may have passed. */
    long remainingNanos() {
        return deadlineNanos - System.nanoTime();
    }

    /**
     * Whether it may be given to another connection.
     *
     * @param maybeSent whether a server may have it
     */
    boolean mayBeSentAgain(boolean maybeSent) {
        return switch (request.retransmission()) {
            case ALWAYS -> true;
            case ONLY_IF_NOT_SENT -> !maybeSent;
            case NEVER -> false;
        };
    }

    /** The same call for one connection, with references of its own and what is left of the time. */
    RpcRequest newAttempt(ByteBufAllocator alloc) {
        RpcRequest copy = new RpcRequest(request.program(), request.version(), request.procedure(), arguments(alloc))
                .setCredential(request.credential()).setXid(xid)
                .setTimeoutMillis(Math.max(1, TimeUnit.NANOSECONDS.toMillis(remainingNanos() + 999_999)));
        if (request.dataItems() != null) {
            copy.setDataItems(request.dataItems());
        }
        if (request.replySpace() != null) {
            copy.setReplySpace(request.replySpace());
        }
        return copy;
    }

    /**
     * Pieces stay pieces: each may be memory that a device knows, and the client puts its header in front of them. A slice has
     * nothing in front that a header could be written into, while an earlier attempt still has its own there.
     */
    private ByteBuf arguments(ByteBufAllocator alloc) {
        ByteBuf arguments = request.arguments();
        return arguments instanceof CompositeByteBuf pieces
                ? alloc.compositeBuffer(Integer.MAX_VALUE).addFlattenedComponents(true, pieces.retain())
                : arguments.retainedSlice();
    }

    void cancelTimer() {
        if (timer != null) {
            HomeLoop.cancel(timer);
            timer = null;
        }
    }

    /** Drops the reference to the arguments. Returns whether this was the first time. */
    boolean release() {
        if (released) {
            return false;
        }
        released = true;
        ReferenceCountUtil.safeRelease(request.arguments()); // a caller may have released them: the call has to end all the same
        return true;
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        if (!super.cancel(mayInterruptIfRunning)) {
            return false;
        }
        owner.cancelled(this);
        return true;
    }

    /** Ends the call with its results, or releases them if it has ended before. */
    void succeed(ByteBuf results) {
        if (!trySuccess(results)) {
            results.release();
        }
    }
}
