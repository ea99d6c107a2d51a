package org.nettyrdma.codec.oncrpc;

import static io.netty.util.internal.ObjectUtil.checkPositiveOrZero;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.netty.util.concurrent.ImmediateEventExecutor;
import io.netty.util.concurrent.Promise;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.nettyrdma.peer.PeerLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends a server so that its clients lose no call, over RDMA and TCP:
 * <pre>{@code
 * GracefulShutdown shutdown = new GracefulShutdown();
 * shutdown.collect(serverBootstrap).bind(20049);
 * ...
 * shutdown.start(10_000).sync();
 * group.shutdownGracefully(0, 10, TimeUnit.SECONDS);
 * }</pre>
 *
 * <ol>
 * <li>The listeners are closed. From then on no call is begun that comes in. The calls that {@link RpcServerHandler} has received
 * by then are executed and answered. Over RDMA their replies grant one credit (RFC 8166, section 3.3.1), so that clients send few
 * more calls in vain. Calls that come nevertheless wait at their client until the connection ends: a call that takes long holds
 * up the others of its connection.
 * <li>A connection ends when its last reply is written; one without calls ends at once. The client finds calls without an answer
 * on it, of which the server has executed none. A {@code ReconnectingRpcClient} sends them to another server, or to this one
 * when it is back, with the same XIDs.
 * <li>When the time is over, what is left is closed. Then the client cannot know which calls were executed.
 * </ol>
 *
 * <p><b>Whether replies arrive.</b> No transport tells this side that its peer has seen a reply. What it does tell is enough as
 * long as the network and the peer live, because replies and the end of the connection arrive in order:
 * <ul>
 * <li>TCP: after the last reply this side ends its output only, and throws away what still comes in, until the client closes.
 * A client that has seen the end of the stream has all replies. A close with unread calls would make TCP send a reset, which
 * destroys replies on their way.
 * <li>RDMA hardware and shared memory: a Send is completed when the peer's memory has it. The connection is closed after that.
 * A client that takes completions before the end of the connection, as {@code RdmaChannel} does, sees all replies.
 * <li>Software iWARP: a Send is completed when TCP has taken it. The provider then ends its output and reads on as above, for
 * up to {@code RdmaChannelOption.CLOSE_TIMEOUT_MILLIS} (2 s), after the channel is closed. An event loop that is shut down
 * goes on until then, unless the time-out of its shutdown is shorter.
 * </ul>
 * A client that dies, or whose network fails, may not have seen replies to calls that were executed. Then it is the
 * {@link DuplicateRequestCache} of the server to which the client comes back that knows them, or nobody after a restart.
 *
 * <p>One object serves any number of listeners, and ends all of them together. Connections whose pipeline has no
 * {@link RpcServerHandler} are closed at once. Calls from the server to its clients are not waited for. Thread safe.
 */
@ChannelHandler.Sharable
public final class GracefulShutdown extends ChannelInboundHandlerAdapter {

    private static final Logger LOGGER = LoggerFactory.getLogger(GracefulShutdown.class);

    private static final long RETRY_MILLIS = 10;

    private final ChannelGroup listeners = new DefaultChannelGroup(ImmediateEventExecutor.INSTANCE);
    private final ChannelGroup connections = new DefaultChannelGroup(ImmediateEventExecutor.INSTANCE);
    private final AtomicBoolean started = new AtomicBoolean();
    private final EventExecutor executor;
    private final Promise<Integer> ended;
    private volatile int cut;

    /** Creates an object that knows no listener yet. */
    public GracefulShutdown() {
        this(GlobalEventExecutor.INSTANCE);
    }

    /** Visible for tests. */
    GracefulShutdown(EventExecutor executor) {
        this.executor = executor;
        ended = executor.newPromise();
    }

    /**
     * Makes the listeners of a bootstrap known, and the connections that they accept. To be called before it binds, and after
     * its handler for listeners is set, if it has one: this object comes behind that.
     *
     * @param bootstrap makes listeners
     * @return the bootstrap
     */
    public ServerBootstrap collect(ServerBootstrap bootstrap) {
        ChannelHandler first = bootstrap.config().handler();
        return bootstrap.handler(new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel listener) {
                if (first != null) {
                    listener.pipeline().addLast(first);
                }
                listener.pipeline().addLast(GracefulShutdown.this);
            }
        });
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        listeners.add(ctx.channel());
        if (started.get()) {
            ctx.close();
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        if (message instanceof Channel accepted) {
            connections.add(accepted);
        }
        ctx.fireChannelRead(message);
    }

    /**
     * Begins the end. A second call changes nothing.
     *
     * @param timeoutMillis how long calls may take to be answered, and clients to see that, in milliseconds; 0 closes all
     *                      connections at once
     * @return done when all listeners and connections are closed: how many connections had to be closed because the time was
     *         over. Its listeners run on a thread of {@link GlobalEventExecutor}. It fails where one could not be closed, as
     *         without memory
     * @throws IllegalArgumentException if the time is negative
     */
    public Future<Integer> start(long timeoutMillis) {
        checkPositiveOrZero(timeoutMillis, "timeoutMillis");
        if (started.compareAndSet(false, true)) {
            // When a listener is closed, its event loop has passed all that it has accepted to their event loops.
            try {
                listeners.close().addListener(closed -> execute(() -> drain(timeoutMillis, closed.cause())));
            } catch (RuntimeException | Error e) {
                fail(e);
            }
        }
        return ended;
    }

    /** Here, where the executor has no memory for the task. */
    private void execute(Runnable task) {
        try {
            executor.execute(task);
        } catch (RuntimeException | Error e) {
            LOGGER.debug("Not run by the executor", e);
            task.run();
        }
    }

    /** A listener may be left, for a cause. */
    private void drain(long timeoutMillis, Throwable cause) {
        try {
            connections.newCloseFuture().addListener(closed -> execute(() -> end(cause)));
            limit(timeoutMillis);
        } catch (RuntimeException | Error e) {
            fail(e);
        }
        if (timeoutMillis > 0) {
            connections.forEach(GracefulShutdown::drain);
        }
    }

    private void limit(long timeoutMillis) {
        ScheduledFuture<?> timer;
        try {
            timer = executor.schedule(this::closeRest, timeoutMillis, TimeUnit.MILLISECONDS);
        } catch (RuntimeException | Error e) {
            PeerLog.fault(LOGGER, "a server", "connections are closed at once, as there can be no time limit", e);
            closeRest();
            return;
        }
        ended.addListener(end -> timer.cancel(false));
    }

    private void end(Throwable cause) {
        if (cause == null) {
            ended.trySuccess(cut);
        } else {
            fail(cause);
        }
    }

    private void closeRest() {
        cut = connections.size();
        try {
            connections.close();
        } catch (RuntimeException | Error e) {
            fail(e);
        }
    }

    /** What is left is closed with its event loops. */
    private void fail(Throwable cause) {
        PeerLog.fault(LOGGER, "a server", "listeners or connections may be left that are not closed", cause);
        ended.tryFailure(cause);
    }

    private static void drain(Channel connection) {
        EventExecutor loop;
        try {
            loop = connection.eventLoop();
        } catch (IllegalStateException e) {
            connection.unsafe().closeForcibly(); // no event loop has taken it
            return;
        }
        execute(loop, connection, () -> {
            ChannelHandlerContext context = connection.pipeline().context(RpcServerHandler.class);
            if (context == null) {
                connection.close();
            } else {
                execute(context.executor(), connection, ((RpcServerHandler) context.handler())::drain);
            }
        });
    }

    private static void execute(EventExecutor executor, Channel connection, Runnable task) {
        try {
            executor.execute(task);
        } catch (RuntimeException | Error e) { // no memory for the queue, for instance
            if (e instanceof RejectedExecutionException && executor.isShutdown()) {
                return; // with the event loop its connections are closed
            }
            PeerLog.fault(LOGGER, connection, "drained a little later, as the event loop has not taken this", e);
            drainLater(connection);
        }
    }

    private static void drainLater(Channel connection) {
        try {
            GlobalEventExecutor.INSTANCE.schedule(() -> drain(connection), RETRY_MILLIS, TimeUnit.MILLISECONDS);
        } catch (RuntimeException | Error e) {
            LOGGER.debug("{} is closed when the time is over", connection, e);
        }
    }
}
