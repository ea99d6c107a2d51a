package org.nettyrdma.iohandler;

import io.netty.channel.Channel;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoRegistration;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.SingleThreadEventExecutor;
import io.netty.util.concurrent.ThreadAwareExecutor;
import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.nettyrdma.channel.IdleStrategy;
import org.nettyrdma.channel.Rdma;
import org.nettyrdma.channel.RdmaIo;
import org.nettyrdma.channel.RdmaIoHost;
import org.nettyrdma.verbs.VerbsProvider;

/**
 * What an event loop of Netty 4.2 needs to run RDMA channels:
 * {@code new MultiThreadIoEventLoopGroup(RdmaIoHandler.newFactory())}.
 *
 * <p>An event loop that is shut down closes its channels, and goes on until their peers have taken what was sent, for at most the
 * longest {@link org.nettyrdma.channel.RdmaChannelOption#CLOSE_TIMEOUT_MILLIS} of its channels. Netty does not tell a handler the
 * time-out with which a group is shut down. So that is not heeded here, other than by
 * {@link org.nettyrdma.channel.RdmaEventLoopGroup}.
 */
public final class RdmaIoHandler implements IoHandler {

    /** The first versions of Netty 4.2 do not ask how busy an event loop is. */
    static final boolean REPORTS_ACTIVE_TIME =
            Stream.of(IoHandlerContext.class.getMethods()).anyMatch(method -> method.getName().equals("reportActiveIoTime"));

    /** As long as event loops rest in between. */
    private static final long LONGEST_DRAIN_BETWEEN_TASKS_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final IoEventLoop eventLoop;
    private final Host host = new Host();
    private final RdmaIo io;
    private boolean hasShutdownHook;

    private RdmaIoHandler(IoEventLoop eventLoop, VerbsProvider provider, IdleStrategy idleStrategy) throws IOException {
        this.eventLoop = eventLoop;
        io = new RdmaIo(eventLoop, provider, idleStrategy, host);
    }

    /**
     * Handlers on the default provider.
     *
     * @return makes one for each event loop
     * @throws IllegalStateException if no provider is available, see {@link Rdma#unavailabilityCause()}
     */
    public static IoHandlerFactory newFactory() {
        return newFactory(Rdma.provider(), IdleStrategy.ADAPTIVE);
    }

    /**
     * Handlers on a provider of the caller's choice. A group whose factory this is throws an {@link IllegalStateException} if the
     * provider cannot be opened or this Netty was not tested, see {@link Rdma}.
     *
     * @param provider     the provider, which must be available
     * @param idleStrategy what an event loop does when there is nothing to do
     * @return makes one for each event loop
     */
    public static IoHandlerFactory newFactory(VerbsProvider provider, IdleStrategy idleStrategy) {
        return new Factory(Objects.requireNonNull(provider, "provider"), Objects.requireNonNull(idleStrategy, "idleStrategy"));
    }

    private record Factory(VerbsProvider provider, IdleStrategy idleStrategy) implements IoHandlerFactory {

        @Override
        public IoHandler newHandler(ThreadAwareExecutor executor) {
            if (!(executor instanceof IoEventLoop eventLoop)) {
                throw new IllegalArgumentException("RDMA channels need an IoEventLoop, not " + executor);
            }
            try {
                return new RdmaIoHandler(eventLoop, provider, idleStrategy);
            } catch (IOException e) {
                throw new IllegalStateException("provider " + provider.name() + " cannot be opened", e);
            }
        }

        /** An event loop without channels may end its thread, and go on with another one. */
        @Override
        public boolean isChangingThreadSupported() {
            return true;
        }
    }

    /**
     * An event loop that is shut down behind its look at that, and without a quiet period, ends without
     * {@link #prepareToDestroy()}. In {@link #destroy()} it takes no tasks any more, so that nobody would hear of channels that
     * are closed there. Its hooks run before.
     */
    @Override
    public void initialize() {
        if (!hasShutdownHook && eventLoop instanceof SingleThreadEventExecutor executor) {
            executor.addShutdownHook(io::closeChannels);
            hasShutdownHook = true; // it stays where the event loop goes on with another thread
        }
    }

    @Override
    public int run(IoHandlerContext context) {
        host.context = context;
        if (!REPORTS_ACTIVE_TIME || !context.shouldReportActiveIoTime()) {
            return io.run();
        }
        long startNanos = System.nanoTime();
        long waitedNanos = io.waitedNanos();
        int work = io.run();
        context.reportActiveIoTime(System.nanoTime() - startNanos - (io.waitedNanos() - waitedNanos));
        return work;
    }

    /**
     * Event loops call this again and again during a quiet period, which can be longer than peers have time to take what was
     * sent, and rest in between.
     */
    @Override
    public void prepareToDestroy() {
        host.context = null;
        io.drain(LONGEST_DRAIN_BETWEEN_TASKS_NANOS);
    }

    @Override
    public void destroy() {
        host.context = null;
        try {
            io.drain(Long.MAX_VALUE);
        } finally { // also after an Error
            io.end();
        }
    }

    /** Channels register themselves. */
    @Override
    public IoRegistration register(IoHandle handle) {
        if (!(handle instanceof RdmaIoHandle rdma)) {
            throw new IllegalArgumentException("no RDMA channel: " + handle);
        }
        return rdma;
    }

    @Override
    public void wakeup() {
        if (!eventLoop.inEventLoop()) {
            io.wakeup();
        }
    }

    @Override
    public boolean isCompatible(Class<? extends IoHandle> handleType) {
        return RdmaIoHandle.class.isAssignableFrom(handleType);
    }

    /** The event loop, by the context of the current run. */
    private final class Host implements RdmaIoHost {

        private IoHandlerContext context; // null at the end, where nothing is to wait

        @Override
        public boolean canBlock() {
            return context != null && context.canBlock();
        }

        @Override
        public long deadlineNanos() {
            return context.deadlineNanos();
        }

        @Override
        public long delayNanos() {
            return Math.max(0, context.delayNanos(System.nanoTime()));
        }

        @Override
        public Runnable added(Channel channel) {
            Future<IoRegistration> registered = eventLoop.register(new RdmaIoHandle(channel, RdmaIoHandler.this));
            if (!registered.isSuccess()) { // at once, on the thread of the event loop
                throw new RejectedExecutionException("the event loop does not take the channel", registered.cause());
            }
            return registered.getNow()::cancel;
        }
    }
}
