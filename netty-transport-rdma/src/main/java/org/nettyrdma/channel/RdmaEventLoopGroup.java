package org.nettyrdma.channel;

import io.netty.channel.EventLoop;
import io.netty.channel.MultithreadEventLoopGroup;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.RejectedExecutionHandlers;
import io.netty.util.concurrent.ThreadPerTaskExecutor;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;
import org.nettyrdma.verbs.VerbsProvider;

/**
 * Event loops for {@link RdmaChannel} and {@link RdmaServerChannel}, all on one provider. Each loop is one thread with its
 * own completion queue.
 *
 * <p>A loop that is shut down ends when its connections have ended. {@link #shutdownGracefully} says how long that may take: when
 * its time-out is over, so is the loop, whatever {@link RdmaChannelOption#CLOSE_TIMEOUT_MILLIS} is, and what peers have not taken
 * is lost.
 */
public final class RdmaEventLoopGroup extends MultithreadEventLoopGroup {

    /**
     * Netty's default number of event loops, twice the number of processors.
     *
     * @throws IllegalStateException if no provider is available, see {@link Rdma#unavailabilityCause()}, or it cannot be opened
     */
    public RdmaEventLoopGroup() {
        this(0);
    }

    /**
     * Loops on the default provider.
     *
     * @param nThreads number of event loops; 0 for Netty's default, twice the number of processors
     * @throws IllegalArgumentException if {@code nThreads} is negative
     * @throws IllegalStateException if no provider is available, see {@link Rdma#unavailabilityCause()}, or it cannot be opened
     */
    public RdmaEventLoopGroup(int nThreads) {
        this(nThreads, new DefaultThreadFactory(RdmaEventLoopGroup.class));
    }

    /**
     * Loops on the default provider.
     *
     * @param nThreads      number of event loops; 0 for Netty's default, twice the number of processors
     * @param threadFactory makes their threads
     * @throws IllegalArgumentException if {@code nThreads} is negative
     * @throws IllegalStateException if no provider is available, see {@link Rdma#unavailabilityCause()}, or it cannot be opened
     */
    public RdmaEventLoopGroup(int nThreads, ThreadFactory threadFactory) {
        this(nThreads, threadFactory, Rdma.provider(), IdleStrategy.ADAPTIVE);
    }

    /**
     * Loops on a provider of the caller's choice, for a process that uses several.
     *
     * @param nThreads number of event loops; 0 for Netty's default, twice the number of processors
     * @param provider the provider, which must be available
     * @throws IllegalArgumentException if {@code nThreads} is negative
     * @throws IllegalStateException if the provider cannot be opened, or this Netty was not tested, see {@link Rdma}
     */
    public RdmaEventLoopGroup(int nThreads, VerbsProvider provider) {
        this(nThreads, new DefaultThreadFactory(RdmaEventLoopGroup.class), provider, IdleStrategy.ADAPTIVE);
    }

    /**
     * Loops on a provider of the caller's choice.
     *
     * @param nThreads      number of event loops; 0 for Netty's default, twice the number of processors
     * @param threadFactory makes their threads
     * @param provider      the provider, which must be available
     * @param idleStrategy  what a loop does when there is nothing to do
     * @throws IllegalArgumentException if {@code nThreads} is negative
     * @throws IllegalStateException if the provider cannot be opened, or this Netty was not tested, see {@link Rdma}
     */
    public RdmaEventLoopGroup(int nThreads, ThreadFactory threadFactory, VerbsProvider provider, IdleStrategy idleStrategy) {
        this(nThreads, new ThreadPerTaskExecutor(threadFactory), provider, idleStrategy);
    }

    /**
     * Loops on a provider of the caller's choice.
     *
     * @param nThreads     number of event loops; 0 for Netty's default, twice the number of processors
     * @param executor     runs each loop, as one task that lasts until the group is shut down
     * @param provider     the provider, which must be available
     * @param idleStrategy what a loop does when there is nothing to do
     * @throws IllegalArgumentException if {@code nThreads} is negative
     * @throws IllegalStateException if the provider cannot be opened, or this Netty was not tested, see {@link Rdma}
     */
    public RdmaEventLoopGroup(int nThreads, Executor executor, VerbsProvider provider, IdleStrategy idleStrategy) {
        super(nThreads, onTestedNetty(executor), Objects.requireNonNull(provider, "provider"),
                Objects.requireNonNull(idleStrategy, "idleStrategy"));
    }

    /** Before the superclass starts anything: a provider of the caller's choice does not pass by {@link Rdma#provider()}. */
    private static Executor onTestedNetty(Executor executor) {
        Rdma.ensureNettyTested();
        return executor;
    }

    @Override
    protected EventLoop newChild(Executor executor, Object... args) throws Exception {
        return new RdmaEventLoop(this, executor, RejectedExecutionHandlers.reject(), (VerbsProvider) args[0],
                (IdleStrategy) args[1]);
    }
}
