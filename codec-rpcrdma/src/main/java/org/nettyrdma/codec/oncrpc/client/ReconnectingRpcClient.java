package org.nettyrdma.codec.oncrpc.client;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GenericFutureListener;
import io.netty.util.concurrent.ImmediateEventExecutor;
import io.netty.util.concurrent.Promise;
import java.io.IOException;
import java.net.SocketAddress;
import java.nio.channels.ClosedChannelException;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;
import org.nettyrdma.codec.oncrpc.Retransmission;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcConnectionException;
import org.nettyrdma.codec.oncrpc.RpcException;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.oncrpc.RpcTimeoutException;

/**
 * Calls procedures of a server that may go away and come back. It connects by itself, again and again. Over RDMA:
 * <pre>{@code
 * Bootstrap bootstrap = RpcRdma.client().build().configure(new Bootstrap().group(group).channel(RdmaChannel.class));
 * try (ReconnectingRpcClient client = ReconnectingRpcClient.builder(bootstrap, server).connect()) {
 *     ByteBuf results = client.callAndWait(new RpcRequest(program, version, procedure, arguments));
 * }
 * }</pre>
 * Over TCP the handler of the bootstrap puts a {@link org.nettyrdma.codec.oncrpc.RecordMarkingCodec} and an {@link RpcClient}
 * into the pipeline. All that connections agree on is agreed anew on each: over RDMA version, credits and thresholds.
 *
 * <p><b>Threads.</b> Any thread may use a client. Futures complete on the event loop that its state belongs to, one of the group
 * of the bootstrap.
 *
 * <p><b>Life of a call.</b> A call ends exactly once: by its reply, its deadline, its cancellation, an error of the server, the
 * loss of its connection if it may not be made again, or {@link #close()}. When a connection is lost, the calls on it are given
 * to another connection of this client, or to the next one, under the same XID and in the order in which they were made, as far
 * as their {@link Retransmission} allows. They go ahead of calls that were made later and wait. Only if all connections are busy
 * or gone do calls wait; when too many do, further ones fail at once ({@link TooManyCallsException}). A call that fails while its
 * connection stands is not made again.
 *
 * <p><b>At most once.</b> A server that has carried a call out may be lost before its reply arrives. The call is then made
 * again, and a server without a cache of replies carries it out twice. Calls that must not be say so with
 * {@link RpcRequest#setRetransmission}.
 *
 * <p><b>Arguments.</b> The client holds the reference to the arguments until the call ends, and drops it before its future
 * completes. A device may hold further references a moment longer. They must not be changed meanwhile.
 *
 * <p><b>Deadlines.</b> The time-out of a call counts from {@link #call} on, over all connections. When a call times out over
 * RDMA, its credit is not free before it is answered or the connection ends. {@link ReconnectPolicy#maxLostCalls()} ends a
 * connection on which nothing is answered any more.
 */
public final class ReconnectingRpcClient implements AutoCloseable {

    private final EventLoop home;
    private final ReconnectPolicy policy;
    private final CallDispatcher dispatcher;
    private final Promise<Void> closing;
    private final GenericFutureListener<Future<Object>> loopEnded;

    ReconnectingRpcClient(ReconnectingRpcClientBuilder builder) {
        home = builder.bootstrap.config().group().next();
        policy = builder.policy;
        closing = new LoopPromise<>(home);
        dispatcher = new CallDispatcher(home, builder, new ServerAddresses(builder.addresses), this::closed);
        loopEnded = ended -> {
            dispatcher.close(loopHasEnded());
            closing.trySuccess(null); // connections on other event loops cannot tell of their end any more
        };
        home.execute(dispatcher::start);
        home.terminationFuture().addListener(loopEnded);
    }

    /**
     * Begins a configuration for one server.
     *
     * @param bootstrap group, channel, options and handler of the connections; it is copied. Its handler has to be sharable, as
     *                  every {@link io.netty.channel.ChannelInitializer} is, and puts an {@link RpcClient} into each pipeline
     * @param server    where the server is; each attempt resolves an address that is not resolved
     * @return a builder with the defaults
     */
    public static ReconnectingRpcClientBuilder builder(Bootstrap bootstrap, SocketAddress server) {
        List<SocketAddress> servers = List.of(server);
        return builder(bootstrap, () -> servers);
    }

    /**
     * Begins a configuration for a server with several addresses, or for several servers that stand for each other. All
     * connections lead to the first address, until an attempt to connect there fails. Then they lead to the next one.
     *
     * @param bootstrap group, channel, options and handler of the connections; it is copied
     * @param servers   asked before each attempt on an event loop, so it must not block. If it returns none, or throws, the
     *                  attempt has failed
     * @return a builder with the defaults
     */
    public static ReconnectingRpcClientBuilder builder(Bootstrap bootstrap,
                                                       Supplier<? extends List<? extends SocketAddress>> servers) {
        return new ReconnectingRpcClientBuilder(bootstrap, servers);
    }

    /**
     * Calls a procedure. Any thread; calls from one thread are made in order.
     *
     * @param request what to call; the reference to its arguments passes to this call
     * @return the results, reader index at their first byte; the caller releases them. Fails with an {@link RpcException}: an
     *         {@link RpcConnectionException} if the call could not be made or may not be made again, an
     *         {@link RpcTimeoutException} at its deadline. Cancelling the future drops the call
     */
    public Future<ByteBuf> call(RpcRequest request) {
        DurableCall call = new DurableCall(home, dispatcher, request, policy.callTimeoutMillis());
        if (home.inEventLoop()) {
            dispatcher.submit(call);
            return call;
        }
        try {
            home.execute(call);
        } catch (RuntimeException | Error e) {
            call.release();
            // An event loop that has ended cannot tell listeners any more, nor can one whose queue has no memory for that.
            return ImmediateEventExecutor.INSTANCE.newFailedFuture(new RpcConnectionException(request, "not written", false, e));
        }
        return call;
    }

    /**
     * Calls a procedure and waits. Any thread but an event loop.
     *
     * @param request as for {@link #call}
     * @return the results; the caller releases them
     * @throws RpcException         if the call has failed
     * @throws InterruptedException if the thread is interrupted; the call is cancelled
     * @throws io.netty.util.concurrent.BlockingOperationException if this is the event loop on which futures of this client
     *                              complete; the call is cancelled
     */
    public ByteBuf callAndWait(RpcRequest request) throws RpcException, InterruptedException {
        Future<ByteBuf> call = call(request);
        try {
            call.await();
        } catch (InterruptedException | RuntimeException e) { // Netty refuses to wait on an event loop
            if (!call.cancel(false) && call.isSuccess()) {
                call.getNow().release();
            }
            throw e;
        }
        if (call.cause() instanceof RpcException failure) {
            throw failure;
        }
        if (!call.isSuccess()) {
            throw new RpcConnectionException(request, "not made", false, call.cause());
        }
        return call.getNow();
    }

    /**
     * Calls a procedure. Any thread.
     *
     * @param request as for {@link #call}
     * @return completes with the results, which the last stage releases, or with an {@link RpcException}. Whoever cancels its
     *         {@code toCompletableFuture()} cancels the call
     */
    public CompletionStage<ByteBuf> callAsync(RpcRequest request) {
        Future<ByteBuf> call = call(request);
        CompletableFuture<ByteBuf> stage = new CompletableFuture<>();
        call.addListener((Future<ByteBuf> done) -> {
            if (done.cause() != null) {
                stage.completeExceptionally(done.cause());
            } else if (!stage.complete(done.getNow())) {
                done.getNow().release();
            }
        });
        stage.whenComplete((results, failure) -> {
            if (failure instanceof CancellationException) {
                call.cancel(false);
            }
        });
        return stage;
    }

    /**
     * Whether a connection stands. Any thread; it may be of a moment ago.
     *
     * @return {@code false} while calls wait
     */
    public boolean isConnected() {
        return statistics().connections() > 0;
    }

    /**
     * Counts what is and what was. Any thread.
     *
     * @return a snapshot
     */
    public ReconnectStatistics statistics() {
        return dispatcher.counters().snapshot();
    }

    /** The numbers of this client, for its meters. */
    ReconnectCounters counters() {
        return dispatcher.counters();
    }

    /**
     * Ends all calls with an {@link RpcConnectionException}, and all connections. Calls made from now on fail. Any thread; does
     * not wait, see {@link #closeFuture()}. Does nothing the second time. The group of the bootstrap goes on.
     */
    @Override
    public void close() {
        if (home.inEventLoop()) {
            dispatcher.close(CallDispatcher.clientClosed());
            return;
        }
        try {
            home.execute(() -> dispatcher.close(CallDispatcher.clientClosed()));
        } catch (RejectedExecutionException e) {
            // The event loop has ended, and the client is closed with it.
        }
    }

    /**
     * Tells when the client is closed and its connections have ended, also if its event loop has.
     *
     * @return the future, which always succeeds
     */
    public Future<Void> closeFuture() {
        return closing;
    }

    private void closed() {
        home.terminationFuture().removeListener(loopEnded);
        closing.trySuccess(null);
    }

    private static Throwable loopHasEnded() {
        return new IOException("the event loop of the client has ended", new ClosedChannelException());
    }
}
