package org.nettyrdma.codec.oncrpc.client;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.nettyrdma.codec.oncrpc.RpcConnectionException;
import org.nettyrdma.codec.oncrpc.RpcTimeoutException;
import org.nettyrdma.codec.oncrpc.RpcTransportException;
import org.nettyrdma.codec.oncrpc.client.ReconnectCounters.Counter;
import org.nettyrdma.handler.credit.support.XidMap;
import org.nettyrdma.peer.PeerLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives the calls of one client to its connections. A call is in one of three places: with a connection, among those that wait,
 * or with a connection that is coming to its end and gives it back. It leaves exactly once, by {@link #end}. Event loop of the
 * client, except where noted.
 */
final class CallDispatcher implements DurableCall.Owner, LinkKeeper.Owner {

    private static final Logger LOGGER = LoggerFactory.getLogger(CallDispatcher.class);

    private final EventLoop home;
    private final HomeLoop homeLoop;
    private final ReconnectPolicy policy;
    private final ReconnectListener listener;
    private final ReconnectCounters counters = new ReconnectCounters();
    private final WaitingCalls waiting;
    private final XidMap<DurableCall> byXid = new XidMap<>();
    private final List<LinkKeeper> keepers = new ArrayList<>();
    private final List<RpcLink> links = new ArrayList<>();
    private final Runnable whenClosed;
    // A random start keeps a server's cache of replies from taking a new client's calls for an old one's.
    private int nextXid = ThreadLocalRandom.current().nextInt();
    private long nextSequence;
    private boolean dispatching;
    private boolean closed;
    private int keepersOpen;
    /** Why the last attempt to connect has failed, {@code null} if it has not. */
    private Throwable notConnected;

    /**
     * @param whenClosed is told that all connections have ended after {@link #close}; not if the event loop has ended before
     */
    CallDispatcher(EventLoop home, ReconnectingRpcClientBuilder builder, ServerAddresses addresses, Runnable whenClosed) {
        this.home = home;
        homeLoop = new HomeLoop(home);
        this.policy = builder.policy;
        this.listener = builder.listener;
        this.whenClosed = whenClosed;
        waiting = new WaitingCalls(policy, counters);
        for (int i = 0; i < builder.connections; i++) {
            // The first is where the state is, so that a client of one connection never passes from loop to loop.
            Bootstrap bootstrap = i == 0 ? builder.bootstrap.clone(home) : builder.bootstrap.clone();
            keepers.add(new LinkKeeper(homeLoop, bootstrap, builder.ping, addresses, policy, this));
        }
    }

    void start() {
        keepers.forEach(LinkKeeper::connect);
    }

    ReconnectCounters counters() {
        return counters;
    }

    @Override
    public void submit(DurableCall call) {
        homeLoop.takeLeft();
        if (call.isDone()) {
            call.release(); // cancelled already
            return;
        }
        if (closed) {
            refuse(call, clientClosed());
            return;
        }
        Integer xid = call.request.xid();
        if (xid != null && byXid.contains(xid)) {
            refuse(call, new IllegalStateException(String.format("a call with XID %08x is pending", xid)));
            return;
        }
        call.sequence = nextSequence++;
        RpcLink link = waiting.isEmpty() && !dispatching ? leastBusy() : null;
        if (link == null && !waiting.hasRoomFor(call) && !isRoomBehindWaiting()) {
            counters.add(Counter.REFUSED_CALLS, 1);
            refuse(call, waiting.refusal(call, links.isEmpty(), notConnected));
            return;
        }
        call.xid = xid != null ? xid : takeXid();
        byXid.put(call.xid, call);
        counters.add(Counter.CALLS, 1);
        if (link != null) {
            link.send(call);
        } else {
            await(call);
            dispatch(); // behind all that wait
        }
    }

    private int takeXid() {
        while (byXid.contains(nextXid)) {
            nextXid++;
        }
        return nextXid++;
    }

    private static void refuse(DurableCall call, Throwable cause) {
        call.release();
        call.tryFailure(new RpcConnectionException(call.request, "not written", false, cause));
    }

    static IOException clientClosed() {
        return new IOException("the client was closed");
    }

    private void await(DurableCall call) {
        waiting.add(call);
        try {
            call.timer = home.schedule(() -> timedOut(call, notConnected), Math.max(0, call.remainingNanos()),
                    TimeUnit.NANOSECONDS);
        } catch (RuntimeException | Error e) { // no memory for the timer, and the call could wait for ever
            end(call);
            call.tryFailure(new RpcConnectionException(call.request, "there can be no time-out", call.attempts > 0, e));
        }
    }

    private void timedOut(DurableCall call, Throwable cause) {
        end(call);
        call.tryFailure(new RpcTimeoutException(call.request, call.timeoutMillis(), cause));
    }

    /** The connection with the fewest calls that has room for one more; {@code null} if there is none. */
    private RpcLink leastBusy() {
        RpcLink best = null;
        for (int i = 0; i < links.size(); i++) {
            RpcLink link = links.get(i);
            if (link.isUp() && link.outstanding() < (best == null ? policy.maxCallsPerConnection() : best.outstanding())) {
                best = link;
            }
        }
        return best;
    }

    /**
     * Whether connections have room for one call more than wait: a listener that is told of a connection, or of the end of a
     * call, makes its own before those are sent that wait.
     */
    private boolean isRoomBehindWaiting() {
        long room = -waiting.size();
        for (RpcLink link : links) {
            room += link.isUp() ? Math.max(0, policy.maxCallsPerConnection() - link.outstanding()) : 0;
        }
        return room > 0;
    }

    /** Sends what waits, in order, as far as there is room. */
    private void dispatch() {
        if (dispatching || closed) {
            return; // called from within the loop below, which sees what has changed
        }
        dispatching = true;
        try {
            while (!waiting.isEmpty()) {
                RpcLink link = leastBusy();
                if (link == null) {
                    return;
                }
                DurableCall call = waiting.poll();
                call.cancelTimer();
                if (call.attempts > 0) {
                    counters.add(Counter.RETRANSMISSIONS, 1);
                }
                link.send(call);
            }
        } finally {
            dispatching = false;
        }
    }

    @Override
    public void ended(RpcLink link, DurableCall call, Future<ByteBuf> attempt, boolean lost) {
        Throwable cause = attempt.cause();
        if (cause == null) {
            link.answered();
            end(call);
            call.succeed(attempt.getNow());
        } else if (cause instanceof RpcTimeoutException) {
            timedOut(call, null);
            giveUpIfSilent(link);
        } else if (!call.isDone() && !closed && lost && isForAnother(call, cause)) {
            link.keep(call, cause.getCause());
        } else {
            if (attempt.isCancelled()) {
                link.cancelled(policy.maxLostCalls(), policy.callTimeoutMillis());
            } else if (!lost && !(cause instanceof RpcConnectionException)) {
                link.answered();
            }
            end(call);
            call.tryFailure(cause);
        }
        dispatch();
    }

    /** Whether the call has failed with its connection, and may be given to another one. */
    private static boolean isForAnother(DurableCall call, Throwable cause) {
        return cause instanceof RpcConnectionException failure ? call.mayBeSentAgain(failure.mayHaveBeenSent())
                : cause instanceof RpcTransportException && call.mayBeSentAgain(true);
    }

    private void giveUpIfSilent(RpcLink link) {
        int timedOut = link.timedOut();
        if (timedOut == policy.maxLostCalls() && !closed) {
            link.close(new IOException(timedOut + " calls have timed out one after the other, and the server has answered "
                    + "nothing else meanwhile"));
        }
    }

    @Override
    public void up(RpcLink link, long connectNanos) {
        notConnected = null;
        links.add(link);
        counters.add(Counter.CONNECTIONS, 1);
        counters.add(Counter.CONNECTS, 1);
        counters.add(Counter.CONNECT_NANOS, connectNanos);
        LOGGER.debug("connected to {}", link.server());
        tell(to -> to.connected(link.server()));
        dispatch();
    }

    @Override
    public void connectFailed(SocketAddress server, Throwable cause, long retryMillis) {
        notConnected = cause;
        counters.add(Counter.FAILED_CONNECTS, 1);
        LOGGER.debug("no connection to {}, next attempt in {} ms: {}", server, retryMillis, cause.toString());
        tell(to -> to.connectFailed(server, cause, retryMillis));
    }

    @Override
    public void down(RpcLink link) {
        if (links.remove(link)) {
            counters.add(Counter.CONNECTIONS, -1);
            if (!closed) {
                notConnected = link.cause();
                counters.add(Counter.LOST_CONNECTIONS, 1);
                LOGGER.debug("lost the connection to {}: {}", link.server(), notConnected.toString());
                tell(to -> to.connectionLost(link.server(), link.cause()));
            }
        }
        for (DurableCall call : link.orphans()) {
            if (!call.isDone()) {
                await(call);
            }
        }
        for (LinkKeeper keeper : keepers) {
            if (keeper.keeps(link)) {
                keeper.down();
            }
        }
        dispatch();
    }

    private void tell(Consumer<ReconnectListener> event) {
        try {
            event.accept(listener);
        } catch (RuntimeException | Error e) {
            PeerLog.fault(LOGGER, "a client", "its listener has failed", e);
        }
    }

    /** The call is in none of the three places any more; does nothing the second time. Its promise may be done by now or not. */
    private void end(DurableCall call) {
        if (!call.release()) {
            return;
        }
        byXid.remove(call.xid);
        waiting.remove(call);
        call.cancelTimer();
        counters.add(Counter.CALLS, -1);
    }

    @Override
    public void cancelled(DurableCall call) {
        try {
            if (home.inEventLoop()) {
                drop(call);
            } else {
                home.execute(() -> drop(call));
            }
        } catch (RejectedExecutionException e) {
            LOGGER.debug("the event loop has shut down, and the client with it", e);
        }
    }

    private void drop(DurableCall call) {
        if (byXid.get(call.xid) != call) {
            return; // ended before, or not yet begun
        }
        end(call);
        if (call.attempt != null) {
            call.attempt.cancel(false);
        }
    }

    /** Ends all calls with the cause, and all connections. */
    void close(Throwable cause) {
        if (closed) {
            return;
        }
        homeLoop.takeLeft();
        closed = true;
        List<DurableCall> calls = byXid.values();
        calls.sort((one, other) -> Long.compare(one.sequence, other.sequence));
        for (DurableCall call : calls) {
            Future<ByteBuf> attempt = call.attempt;
            end(call);
            call.tryFailure(new RpcConnectionException(call.request, "given up", call.attempts > 0, cause));
            if (attempt != null) {
                attempt.cancel(false);
            }
        }
        keepersOpen = keepers.size(); // before the first, which may end at once
        keepers.forEach(LinkKeeper::close);
    }

    @Override
    public void closed() {
        if (--keepersOpen == 0) {
            whenClosed.run();
        }
    }
}
