package org.nettyrdma.codec.rpcrdma.shared;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GenericFutureListener;
import java.util.concurrent.CancellationException;
import org.nettyrdma.codec.oncrpc.transport.WritePromise;

/**
 * The promise of a write that somebody else has asked for, with a promise of theirs. What a handler has to do at the end of the
 * write is done first, in {@link #written} and on the handler's executor; then the other promise is completed. A listener would
 * not do: those of a promise run on the promise's executor, which need not be the handler's, and in no order that the handler
 * could rely on.
 *
 * <p>Whoever cancels the other promise cancels the write, as long as no handler below has made it uncancellable. A handler that
 * finds the write cancelled drops it; this is told so by {@link #setUncancellable}, or by {@link #tryFailure} from one that
 * listens. Until then this is not done, so that a cancellation cannot be overlooked on the way.
 *
 * <p>It is void where the other promise is.
 */
public abstract class RelayPromise extends WritePromise {

    private ChannelPromise asker;
    private boolean ended;
    private Throwable failure;
    /** Somebody may look at this when the write has ended. */
    private boolean kept;

    /** Needs {@link #begin}. */
    public RelayPromise(ChannelHandlerContext ctx) {
        super(ctx);
    }

    /**
     * @param asker the promise of whoever asked for the write
     */
    public RelayPromise(ChannelHandlerContext ctx, ChannelPromise asker) {
        this(ctx);
        this.asker = asker;
    }

    /** Begins to be the promise of a write. */
    public final void begin(ChannelPromise newAsker) {
        asker = newAsker;
        ended = false;
        failure = null;
    }

    /**
     * Ends to be the promise of a write that has ended.
     *
     * @return whether this can be the promise of another one: nobody looks at it any more
     */
    public final boolean endRelay() {
        if (!ended || kept) {
            return false;
        }
        asker = null;
        return true;
    }

    @Override
    protected final boolean tryEnd(Throwable cause) {
        if (ended) {
            return false;
        }
        ended = true;
        failure = cause;
        tellWritten(cause);
        end(asker, cause);
        return true;
    }

    @Override
    protected final void endedTooLate(Throwable cause) {
        end(asker, cause);
    }

    /** The promise of whoever asked for the write. */
    protected final ChannelPromise asker() {
        return asker;
    }

    @Override
    protected final ChannelPromise awaited() {
        kept = true;
        return asker;
    }

    @Override
    public final boolean isVoid() {
        return asker.isVoid();
    }

    @Override
    public final ChannelPromise unvoid() {
        kept = true;
        return isVoid() ? newListenable() : this;
    }

    @Override
    public final boolean setUncancellable() {
        if (asker.setUncancellable()) {
            return true;
        }
        end(asker.cause()); // for who asks drops the write now
        return false;
    }

    @Override
    public final boolean isCancellable() {
        return !ended && asker.isCancellable();
    }

    @Override
    public final boolean cancel(boolean mayInterruptIfRunning) {
        kept = true;
        return asker.cancel(mayInterruptIfRunning);
    }

    @Override
    public final boolean isCancelled() {
        return failure instanceof CancellationException;
    }

    @Override
    public final boolean isDone() {
        return ended;
    }

    @Override
    public final boolean isSuccess() {
        return ended && failure == null;
    }

    @Override
    public final Throwable cause() {
        return failure;
    }

    @Override
    public final ChannelPromise removeListener(GenericFutureListener<? extends Future<? super Void>> listener) {
        asker.removeListener(listener);
        return this;
    }
}
