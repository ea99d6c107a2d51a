package org.nettyrdma.codec.oncrpc.client;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.ScheduledFuture;
import java.io.IOException;
import java.net.SocketAddress;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.nettyrdma.codec.oncrpc.RpcAcceptException;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcConnectionException;
import org.nettyrdma.codec.oncrpc.RpcDeniedException;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection of a client, and the calls that were given to it. It ends when its channel is closed and the last of these
 * calls has come back. Event loop of the client, except where noted; the channel may belong to another one.
 */
final class RpcLink {

    private static final Logger LOGGER = LoggerFactory.getLogger(RpcLink.class);

    /** Takes up what happens to a connection. Event loop of the client. */
    interface Owner {

        /**
         * What a call was given to the connection for has ended.
         *
         * @param attempt how; it is done
         * @param lost    whether the connection had ended by then
         */
        void ended(RpcLink link, DurableCall call, Future<ByteBuf> attempt, boolean lost);

        /** The connection has ended, and none of its calls is left with it. Called once. */
        void down(RpcLink link);
    }

    private final HomeLoop home;
    private final Channel channel;
    private final RpcClient client;
    /** What the client runs on: the event loop of the channel, or an executor of its own. */
    private final EventExecutor executor;
    private final SocketAddress server;
    private final Owner owner;
    private final List<DurableCall> orphans = new ArrayList<>();
    private int outstanding;
    private int timedOut;
    private int cancelled;
    /** Ends the connection unless the server answers before; {@code null} while few calls are lost. */
    private ScheduledFuture<?> silence;
    private boolean answered;
    private boolean lost;
    private boolean closed;
    /** What failed on the connection; written by the event loop of the channel. */
    private volatile Throwable failure;

    /**
     * Event loop of the channel, when it has just been connected.
     *
     * @throws IllegalStateException if there is no {@link RpcClient} in the pipeline
     */
    RpcLink(HomeLoop home, Channel channel, SocketAddress server, Owner owner) {
        this.home = home;
        this.channel = channel;
        this.server = server;
        this.owner = owner;
        ChannelHandlerContext last = channel.pipeline().context(RpcClient.class);
        if (last == null) {
            throw new IllegalStateException("the handler of the bootstrap has put no RpcClient into the pipeline: "
                    + channel.pipeline().names());
        }
        client = (RpcClient) last.handler();
        executor = last.executor();
        channel.pipeline().addBefore(last.name(), null, new FailureWatch());
    }

    /** Runs a task when the client is in the pipeline, to which its executor may still have to add it. */
    void whenAdded(Runnable task) {
        if (executor.inEventLoop()) {
            task.run();
        } else {
            executor.execute(task);
        }
    }

    /** To be called once the owner knows of this. */
    void watch() {
        channel.closeFuture().addListener(closing -> home.run(channel, this::channelClosed));
    }

    /**
     * Asks the server whether it answers at all. Event loop of the channel.
     *
     * @param whenDone is told why it does not, {@code null} if it does
     */
    void ping(RpcRequest request, Consumer<Throwable> whenDone) {
        client.call(request).addListener((Future<ByteBuf> done) -> {
            if (done.isSuccess()) {
                done.getNow().release();
            }
            boolean refused = done.cause() instanceof RpcAcceptException || done.cause() instanceof RpcDeniedException;
            whenDone.accept(refused ? null : done.cause());
        });
    }

    SocketAddress server() {
        return server;
    }

    /** Why it has ended. */
    Throwable cause() {
        Throwable known = failure;
        return known == null ? new ClosedChannelException() : known;
    }

    int outstanding() {
        return outstanding;
    }

    /** Whether calls may be given to it. */
    boolean isUp() {
        return !lost;
    }

    /** Whether the server has answered anything. */
    boolean isProven() {
        return answered;
    }

    /** Gives a call to the connection. */
    void send(DurableCall call) {
        outstanding++;
        call.attempts++;
        Future<ByteBuf> attempt;
        try {
            attempt = client.call(call.newAttempt(channel.alloc()));
        } catch (RuntimeException | Error e) { // the handler or the arguments are gone, or there is no memory
            attempt = home.executor().newFailedFuture(new RpcConnectionException(call.request, "not written", false, e));
        }
        call.attempt = attempt;
        attempt.addListener((Future<ByteBuf> done) -> {
            // Asked here, where it cannot change any more if the end has failed the call.
            boolean dead = !channel.isActive() || isEnd(done.cause());
            if (!home.run(channel, () -> ended(call, done, dead)) && done.isSuccess()) {
                done.getNow().release();
            }
        });
    }

    /** A channel that still has messages to read stays active when its connection has ended, and refuses what is written. */
    private static boolean isEnd(Throwable failure) {
        return failure instanceof RpcConnectionException && failure.getCause() instanceof ClosedChannelException;
    }

    private void ended(DurableCall call, Future<ByteBuf> done, boolean dead) {
        outstanding--;
        if (call.attempt == done) {
            call.attempt = null;
        }
        lost |= dead;
        owner.ended(this, call, done, dead);
        endIfLast();
    }

    /** The call has to go to another connection, when this one has come to its end. */
    void keep(DurableCall call, Throwable cause) {
        if (failure == null) {
            failure = cause;
        }
        orphans.add(call);
    }

    /** The calls that were kept. */
    List<DurableCall> orphans() {
        return orphans;
    }

    /** The server has answered something, even if that it does not want to. */
    void answered() {
        answered = true;
        timedOut = 0;
        cancelled = 0;
        stopSilence();
    }

    private void stopSilence() {
        if (silence != null) {
            HomeLoop.cancel(silence);
            silence = null;
        }
    }

    /** A call has timed out. Returns how many have since the last answer. */
    int timedOut() {
        return ++timedOut;
    }

    /**
     * A caller has given up a call. That says nothing of the server, which may be no slower than usual. But where enough calls
     * are lost and it then answers nothing for as long as a call may take, the connection is ended.
     *
     * @param maxLost       how many are enough, time-outs included; 0 for no number
     * @param silenceMillis how long a call may take
     */
    void cancelled(int maxLost, long silenceMillis) {
        cancelled++;
        int gone = timedOut + cancelled;
        if (maxLost > 0 && gone >= maxLost && silence == null && !lost) {
            try {
                silence = home.executor().schedule(() -> silent(gone, silenceMillis), silenceMillis, TimeUnit.MILLISECONDS);
            } catch (RuntimeException | Error e) { // no memory for the timer; the next call that is lost may have some
                LOGGER.debug("{} the silence of the server is not measured yet", channel, e);
            }
        }
    }

    private void silent(int gone, long silenceMillis) {
        close(new IOException(gone + " calls have timed out or were cancelled, and the server has answered nothing for another "
                + silenceMillis + " ms"));
    }

    /** Ends the connection. */
    void close(Throwable cause) {
        lost = true;
        if (failure == null) {
            failure = cause;
        }
        channel.close();
    }

    private void channelClosed() {
        lost = true;
        closed = true;
        stopSilence();
        endIfLast();
    }

    private void endIfLast() {
        if (closed && outstanding == 0) {
            outstanding = -1; // once
            owner.down(this);
        }
    }

    /** Stands in front of the {@link RpcClient}, which keeps to itself what has failed. */
    private final class FailureWatch extends ChannelInboundHandlerAdapter {

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            failure = cause;
            ctx.fireExceptionCaught(cause);
        }
    }
}
