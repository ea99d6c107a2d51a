package org.nettyrdma.codec.oncrpc;

import static io.netty.util.internal.ObjectUtil.checkPositive;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.TooLongFrameException;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.ImmediateEventExecutor;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.nettyrdma.codec.oncrpc.RpcCallListener.Outcome;
import org.nettyrdma.codec.oncrpc.RpcCallListener.Side;
import org.nettyrdma.codec.oncrpc.transport.DemandedRead;
import org.nettyrdma.codec.oncrpc.transport.HeadRoom;
import org.nettyrdma.codec.oncrpc.transport.RpcCallAbandoned;
import org.nettyrdma.codec.oncrpc.transport.RpcCallFailure;
import org.nettyrdma.peer.PeerLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls procedures of the peer and matches the replies (RFC 5531). The last handler of a client's pipeline. It may stand in a
 * server's pipeline, too, for calls in the other direction: it lets received calls pass.
 *
 * <p><b>Threads.</b> {@link #call} may be used from any thread. All else happens on the event loop of the channel.
 *
 * <p><b>Life of a call.</b> A call is entered in the table of calls under its XID. Then it is written. Then its timeout is armed.
 * It leaves the table exactly once: by its reply, its timeout, its cancellation, a failed write or the loss of the connection. A
 * reply that arrives afterwards is counted and released. Calls are not repeated. A call that times out or is cancelled is
 * reported to the handlers below by the event {@link RpcCallAbandoned}.
 *
 * <p><b>Timeouts over RDMA.</b> When a call with exposed memory times out or is cancelled, that memory is withdrawn. A server
 * that uses the memory later loses the connection, and all calls on the connection fail. So set a timeout that is longer than the
 * server ever takes, or let {@code org.nettyrdma.codec.rpcrdma.ResourceLimits.maxAbandonedBytes} keep such memory open.
 *
 * <p><b>Flushing.</b> The calls made in one turn of the event loop are flushed together at its end.
 */
public final class RpcClient extends ChannelInboundHandlerAdapter {

    /** How long a call waits for its reply unless something else was asked for, in milliseconds. */
    public static final long DEFAULT_CALL_TIMEOUT_MILLIS = 60_000;

    private static final Logger LOGGER = LoggerFactory.getLogger(RpcClient.class);

    private final long callTimeoutMillis;
    private final int firstXid;
    private final LongSupplier nanoClock;
    private volatile ChannelHandlerContext ctx;
    private PendingCallTable pending;
    private FlushBatch flushBatch;
    private HeadRoom headRoom;
    /** What went wrong last on the connection, to be named as the reason when it is lost. */
    private Throwable lastFailure;
    /** {@code null} if nobody measures the calls. */
    private RpcCallTimer timer;
    private boolean closed;

    // The event loop alone writes these, others may look: so they are written opaquely, which costs nothing.
    private final AtomicLong calls = new AtomicLong();
    private final AtomicLong timedOutCalls = new AtomicLong();
    private final AtomicLong unmatchedReplies = new AtomicLong();
    private final AtomicLong droppedMessages = new AtomicLong();

    /** Creates a client whose calls wait for {@value #DEFAULT_CALL_TIMEOUT_MILLIS} milliseconds. */
    public RpcClient() {
        this(DEFAULT_CALL_TIMEOUT_MILLIS);
    }

    /**
     * Creates a client.
     *
     * @param callTimeoutMillis how long a call waits for its reply unless its request says otherwise, in milliseconds; more than
     *                          0. Too small a value shows as {@link RpcTimeoutException} while the server is merely busy, and
     *                          over RDMA as lost connections
     * @throws IllegalArgumentException if it is not positive
     */
    public RpcClient(long callTimeoutMillis) {
        // A random start keeps a server's cache of replies from taking a new connection's calls for an old one's.
        this(callTimeoutMillis, ThreadLocalRandom.current().nextInt(), System::nanoTime);
    }

    RpcClient(long callTimeoutMillis, int firstXid, LongSupplier nanoClock) {
        this.callTimeoutMillis = RpcRequest.bounded(checkPositive(callTimeoutMillis, "callTimeoutMillis"));
        this.firstXid = firstXid;
        this.nanoClock = nanoClock;
    }

    /**
     * Calls a procedure. Any thread; calls from one thread are written in order.
     *
     * @param request what to call; the reference to its arguments passes to this call
     * @return the results, reader index at their first byte; the caller releases them. Fails with an {@link RpcException}.
     *         Cancelling the future drops the call, which is then not written if it still waits to be
     * @throws IllegalStateException if this handler is not in a pipeline yet, or its executor, where it has one of its own, has
     *         not run its {@code handlerAdded}, which may be after {@code connect} has succeeded; the arguments are released
     */
    public Future<ByteBuf> call(RpcRequest request) {
        Objects.requireNonNull(request, "request"); // here, as on the event loop nobody would be told
        ChannelHandlerContext context = ctx;
        if (context == null) {
            request.arguments().release();
            throw new IllegalStateException("the RpcClient is not in a pipeline yet");
        }
        EventExecutor executor = context.executor();
        PendingCall call = new PendingCall(this, executor, request);
        if (executor.inEventLoop()) {
            start(call);
        } else {
            try {
                executor.execute(call);
            } catch (RuntimeException | Error e) {
                request.arguments().release();
                // An event loop that has ended cannot tell listeners any more, nor can one whose queue has no memory for that.
                return ImmediateEventExecutor.INSTANCE.newFailedFuture(
                        new RpcConnectionException(request, "not written", false, e));
            }
        }
        return call;
    }

    /**
     * Counts what happened so far. Any thread; a thread other than the event loop may see values of a moment ago.
     *
     * @return a snapshot
     */
    public RpcClientStatistics statistics() {
        return new RpcClientStatistics(ctx == null ? 0 : pending.size(), calls.getOpaque(), timedOutCalls.getOpaque(),
                unmatchedReplies.getOpaque(), droppedMessages.getOpaque());
    }

    private static void increment(AtomicLong counter) {
        counter.setOpaque(counter.getPlain() + 1);
    }

    void start(PendingCall call) {
        RpcRequest request = call.request;
        Throwable obstacle = obstacleTo(call);
        if (obstacle != null) {
            request.arguments().release();
            notWritten(call, obstacle);
            return;
        }
        increment(calls);
        call.xid = request.xid() != null ? request.xid() : pending.takeXid();
        Object message = null;
        try {
            message = encode(call.xid, request);
            call.written = new PendingCallWrite(ctx, call);
            // Entered before it is written, since the write may fail at once; armed last, since the timer must find it.
            pending.add(call, timeoutMillis(request));
        } catch (RuntimeException | Error e) { // no memory, for instance; what there was is released where encode() fails
            ReferenceCountUtil.release(message);
            notWritten(call, e);
            return;
        }
        if (timer != null) {
            call.written.measure(RpcCallTimer.contentOf(message).readableBytes());
            timer.made(call.xid, beginNanos(call));
        }
        headRoom.offer(message);
        ctx.write(message, call.written);
        headRoom.withdraw();
        flushBatch.written();
        try {
            pending.armTimer();
        } catch (RuntimeException | Error e) { // no memory for the queue, for instance, and the call could wait for ever
            if (pending.remove(call)) {
                abandon(call);
                call.tryFailure(new RpcConnectionException(request, "there can be no time-out", call.written.hasBegun(), e));
            }
        }
    }

    /** Why a call cannot be made, {@code null} if it can. */
    private Throwable obstacleTo(PendingCall call) {
        if (closed || call.isDone()) {
            return connectionLost();
        }
        Integer xid = call.request.xid();
        return xid != null && pending.contains(xid)
                ? new IllegalStateException(String.format("a call with XID %08x is pending", xid)) : null;
    }

    private static void notWritten(PendingCall call, Throwable cause) {
        call.tryFailure(new RpcConnectionException(call.request, "not written", false, cause));
    }

    private long timeoutMillis(RpcRequest request) {
        return request.timeoutMillis() == 0 ? callTimeoutMillis : request.timeoutMillis();
    }

    private long beginNanos(PendingCall call) {
        return call.deadlineNanos - TimeUnit.MILLISECONDS.toNanos(timeoutMillis(call.request));
    }

    /** The reference to the arguments passes to what is returned; it is released where something is thrown. */
    private Object encode(int xid, RpcRequest request) {
        int headerBytes = RpcCallHeader.encodedLength(request.credential(), OpaqueAuth.NONE);
        List<DataItem> items = List.of();
        try {
            if (request.dataItems() != null) {
                items = DataItem.allMovedBy(request.dataItems(), headerBytes);
            }
        } catch (RuntimeException | Error e) { // a position beyond what an int can hold, or no memory
            request.arguments().release();
            throw e;
        }
        ByteBuf message = request.arguments();
        int end = message.writerIndex();
        if (request.hasHeadRoom() && HeadRoom.begin(message, headerBytes)) {
            writeHeader(message, xid, request);
            message.writerIndex(end);
        } else {
            ByteBufAllocator alloc = ctx.alloc();
            ByteBuf encoded = MessageAssembly.newHeader(alloc, headerBytes, request.arguments());
            writeHeader(encoded, xid, request);
            message = MessageAssembly.join(alloc, encoded, request.arguments());
        }
        return request.dataItems() == null && request.replySpace() == null ? message
                : new RpcMessage(message, items, request.replySpace());
    }

    private static void writeHeader(ByteBuf out, int xid, RpcRequest request) {
        RpcCallHeader.write(out, xid, request.program(), request.version(), request.procedure(), request.credential(),
                OpaqueAuth.NONE);
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object msg) {
        if (!(msg instanceof ByteBuf message)) {
            context.fireChannelRead(msg);
            return;
        }
        if (timer != null) {
            timer.read();
        }
        switch (RpcMessageType.peek(message)) {
            case REPLY -> replyReceived(message);
            case CALL -> context.fireChannelRead(message);
            case UNKNOWN -> {
                increment(droppedMessages);
                message.release();
                DemandedRead.restore(context);
            }
        }
    }

    private void replyReceived(ByteBuf message) {
        PendingCall call = pending.remove(message.getInt(message.readerIndex()));
        if (call == null) {
            increment(unmatchedReplies);
            message.release();
            DemandedRead.restore(ctx);
            return;
        }
        int bytes = message.readableBytes();
        RpcException failure = failureOf(call.request, message);
        measure(call, failure == null ? Outcome.SUCCESS : Outcome.ERROR, bytes);
        if (failure != null) {
            message.release();
            call.tryFailure(failure);
        } else if (!call.trySuccess(message)) {
            message.release(); // cancelled by another thread a moment ago
        }
    }

    /** Returns {@code null} if the reply is a success, and then leaves the reader index at the results. */
    private static RpcException failureOf(RpcRequest request, ByteBuf message) {
        if (SuccessHeader.skip(message)) {
            return null;
        }
        try {
            RpcReplyHeader header = RpcReplyHeader.read(message);
            if (header instanceof RpcReplyHeader.Accepted accepted) {
                return accepted.status() == AcceptStatus.SUCCESS ? null : new RpcAcceptException(request, accepted);
            }
            return new RpcDeniedException(request, (RpcReplyHeader.Denied) header);
        } catch (XdrException e) {
            return new RpcReplyException(request, e);
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (!(event instanceof RpcCallFailure failure)) {
            context.fireUserEventTriggered(event);
            return;
        }
        PendingCall call = pending.remove(failure.xid());
        if (call == null) {
            increment(unmatchedReplies);
        } else {
            measure(call, Outcome.FAILED, 0);
            call.tryFailure(new RpcTransportException(call.request, failure.cause()));
        }
    }

    void writeTaken(PendingCall call) {
        if (timer != null) {
            call.written.queued(timer.sinceNanos(beginNanos(call)));
        }
    }

    void writeFailed(PendingCall call, Throwable cause) {
        if (pending.remove(call)) {
            measure(call, cause instanceof CancellationException ? Outcome.ABANDONED
                    : cause instanceof ClosedChannelException || !ctx.channel().isOpen() ? Outcome.LOST : Outcome.FAILED, 0);
            boolean maybeSent = call.written.hasBegun();
            String reason = maybeSent ? "perhaps sent, its write has failed" : "not written";
            call.tryFailure(new RpcConnectionException(call.request, reason, maybeSent, cause));
        }
    }

    /** Any thread. */
    void cancelled(PendingCall call) {
        EventExecutor executor = ctx.executor();
        if (executor.inEventLoop()) {
            dropCancelled(call);
        } else {
            try {
                executor.execute(() -> dropCancelled(call));
            } catch (RuntimeException | Error e) { // no memory for the queue, for instance
                if (!executor.isShutdown()) {
                    PeerLog.fault(LOGGER, ctx.channel(), "a cancelled call is dropped when its time is over, as the event loop "
                            + "has not taken this", e);
                }
            }
        }
    }

    private void dropCancelled(PendingCall call) {
        if (pending.remove(call)) {
            abandon(call);
        }
    }

    /** The call has ended; {@code replyBytes} is 0 without a reply. */
    private void measure(PendingCall call, Outcome outcome, int replyBytes) {
        if (timer != null) {
            timer.ended(call.request, call.xid, outcome, beginNanos(call), call.written.queuedNanos(), call.written.callBytes(),
                    replyBytes);
        }
    }

    private void abandon(PendingCall call) {
        measure(call, Outcome.ABANDONED, 0);
        if (!call.written.cancel(false)) { // what can still be cancelled, no peer has seen
            ctx.pipeline().fireUserEventTriggered(new RpcCallAbandoned(call.xid));
        }
    }

    private void timedOut(PendingCall call) {
        increment(timedOutCalls);
        abandon(call);
        call.tryFailure(new RpcTimeoutException(call.request, timeoutMillis(call.request)));
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        flushBatch = new FlushBatch(context);
        headRoom = HeadRoom.ofThread();
        timer = RpcCallTimer.of(context, Side.CLIENT);
        pending = new PendingCallTable(context.executor(), firstXid, nanoClock, this::timedOut);
        ctx = context; // last, as it publishes the others
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        if (timer != null) {
            timer.readComplete();
        }
        flushBatch.readComplete();
        context.fireChannelReadComplete();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        lastFailure = cause;
        if (cause instanceof TooLongFrameException) {
            PeerLog.warn(LOGGER, context.channel(), "lost: {}", cause); // who fires it closes the channel
        } else if (cause instanceof IOException) {
            // The channel closes itself after one of these; the calls that suffer are told the reason.
            LOGGER.debug("{} failed: {}", context.channel(), cause.toString());
        } else if (cause instanceof OutOfMemoryError) {
            context.close(); // a socket closes itself; elsewhere nobody knows what was lost of which reply
            PeerLog.fault(LOGGER, context.channel(), "lost, as there is no memory", cause);
        } else {
            context.fireExceptionCaught(cause);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        close();
        context.fireChannelInactive();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        close();
    }

    private void close() {
        closed = true;
        pending.cancelTimer();
        // A peer that closes has no message to say why, so that is all that can be said of it here.
        String reason = lastFailure != null ? "connection lost"
                : "connection lost, and nothing has failed at this end; if the peer has closed it, its log may say why";
        for (PendingCall call = pending.removeFirst(); call != null; call = pending.removeFirst()) {
            measure(call, Outcome.LOST, 0);
            call.tryFailure(new RpcConnectionException(call.request, reason, call.written.hasBegun(), connectionLost()));
        }
        if (timer != null) {
            timer.lose();
        }
    }

    private Throwable connectionLost() {
        return lastFailure == null ? new ClosedChannelException() : lastFailure;
    }
}
