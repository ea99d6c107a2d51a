package org.nettyrdma.codec.oncrpc;

import static io.netty.util.internal.ObjectUtil.checkPositive;
import static io.netty.util.internal.ObjectUtil.checkPositiveOrZero;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.EventExecutor;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves the calls that a connection receives (RFC 5531). One handler per channel; the programs are shared. Replies pass to
 * the next handler, so that an {@link RpcClient} may follow for calls in the other direction.
 *
 * <p><b>Exactly one reply per call</b>, also where the program throws. Calls for unknown programs, versions and RPC
 * versions, and with credentials that the program rejects, are answered as RFC 5531 says. A message without an XID or that is
 * neither call nor reply cannot be answered: it is counted and released.
 *
 * <p><b>Threads.</b> Programs run on the event loop, or on the executor where there is one; then calls of one connection may
 * run at the same time and be answered out of order. Answers are passed to the event loop, and those given in one turn of it
 * are flushed together.
 *
 * <p><b>Memory.</b> While the arguments that programs work on and the replies that the peer has not taken come to more than
 * a limit, no more is read from the connection, unless it is read on demand. A program that waits for a call in the other
 * direction must therefore not wait for ever.
 *
 * <p><b>Time.</b> A call that its program has not answered in time is answered with SYSTEM_ERR; what the program answers
 * after that is released and counts for nothing. A call that still waits for the executor then does not run.
 *
 * <p><b>Writes.</b> All replies are written with one {@linkplain io.netty.channel.ChannelPromise#isVoid void promise}: a handler
 * in front of this one that listens to writes asks it for {@link io.netty.channel.ChannelPromise#unvoid}, as with every such promise.
 *
 * <p><b>Close.</b> A call that still waits for the executor when the connection is lost does not run. A reply that cannot be
 * written closes the connection, since its caller would wait in vain.
 */
public final class RpcServerHandler extends ChannelInboundHandlerAdapter {

    /** How much memory the calls of a connection may take before reading stops unless something else was asked for. */
    public static final long DEFAULT_MAX_BYTES_IN_PROGRESS = 16 << 20;

    /** How long a program may take to answer a call unless something else was asked for, in milliseconds: five minutes. */
    public static final long DEFAULT_SERVE_TIMEOUT_MILLIS = 300_000;

    private static final Logger LOGGER = LoggerFactory.getLogger(RpcServerHandler.class);

    private final ProgramTable programs;
    /** {@code null} for the event loop. */
    private final Executor executor;
    private final long maxBytesInProgress;
    private final long serveTimeoutMillis;
    private final LongSupplier nanoClock;

    private ChannelHandlerContext ctx;
    private FlushBatch flushBatch;
    private ReadThrottle throttle;
    /** For all replies. */
    private CallbackPromise replyPromise;
    private UnansweredCalls unanswered;
    /** A connection's callers are few, so the last credential is likely to be the next one. */
    private OpaqueAuth lastCredential = OpaqueAuth.NONE;

    private long calls;
    private long droppedMessages;
    private long lostReplies;
    private long overdueCalls;
    private final AtomicLong refusedCalls = new AtomicLong();
    private final AtomicLong programFailures = new AtomicLong();

    /**
     * Creates a handler whose programs run on the event loop; they must not block.
     *
     * @param programs the programs to serve
     * @throws IllegalArgumentException if two programs share a number and a version
     */
    public RpcServerHandler(RpcProgram... programs) {
        this(List.of(programs), null, DEFAULT_MAX_BYTES_IN_PROGRESS, DEFAULT_SERVE_TIMEOUT_MILLIS, System::nanoTime);
    }

    /**
     * Creates a handler whose programs run on an executor.
     *
     * @param programs the programs to serve
     * @param executor where they run. When it rejects a call, the call is answered with SYSTEM_ERR
     * @throws IllegalArgumentException if two programs share a number and a version
     */
    public RpcServerHandler(List<RpcProgram> programs, Executor executor) {
        this(programs, executor, DEFAULT_MAX_BYTES_IN_PROGRESS);
    }

    /**
     * Creates a handler whose programs run on an executor.
     *
     * @param programs           the programs to serve
     * @param executor           where they run. When it rejects a call, the call is answered with SYSTEM_ERR
     * @param maxBytesInProgress arguments and replies of the connection in bytes beyond which reading stops; more than 0. Too
     *                           small a value shows as a server that is idle while its clients wait
     * @throws IllegalArgumentException if two programs share a number and a version, or the limit is not positive
     */
    public RpcServerHandler(List<RpcProgram> programs, Executor executor, long maxBytesInProgress) {
        this(programs, executor, maxBytesInProgress, DEFAULT_SERVE_TIMEOUT_MILLIS);
    }

    /**
     * Creates a handler whose programs run on an executor, with a time-out for their answers.
     *
     * @param programs           the programs to serve
     * @param executor           where they run. When it rejects a call, the call is answered with SYSTEM_ERR
     * @param maxBytesInProgress arguments and replies of the connection in bytes beyond which reading stops; more than 0. Too
     *                           small a value shows as a server that is idle while its clients wait
     * @param serveTimeoutMillis how long a program may take to answer, in milliseconds, from the arrival of the call; 0 for
     *                           ever. Too small a value shows as SYSTEM_ERR for calls that are carried out nevertheless
     * @throws IllegalArgumentException if two programs share a number and a version, or a limit is out of its range
     */
    public RpcServerHandler(List<RpcProgram> programs, Executor executor, long maxBytesInProgress, long serveTimeoutMillis) {
        this(programs, Objects.requireNonNull(executor, "executor"), maxBytesInProgress, serveTimeoutMillis, System::nanoTime);
    }

    /** {@code executor} is {@code null} for the event loop. */
    RpcServerHandler(List<RpcProgram> programs, Executor executor, long maxBytesInProgress, long serveTimeoutMillis,
                     LongSupplier nanoClock) {
        this.programs = new ProgramTable(programs);
        this.executor = executor;
        this.maxBytesInProgress = checkPositive(maxBytesInProgress, "maxBytesInProgress");
        this.serveTimeoutMillis = checkPositiveOrZero(serveTimeoutMillis, "serveTimeoutMillis");
        this.nanoClock = nanoClock;
    }

    /**
     * Counts what happened so far. Any thread.
     *
     * @return a snapshot
     */
    public RpcServerStatistics statistics() {
        return new RpcServerStatistics(calls, refusedCalls.get(), droppedMessages, programFailures.get(),
                lostReplies, overdueCalls);
    }

    Channel channel() {
        return ctx.channel();
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        ctx = context;
        flushBatch = new FlushBatch(context);
        throttle = new ReadThrottle(context.channel(), context.executor(), maxBytesInProgress);
        unanswered = new UnansweredCalls(context.executor(), serveTimeoutMillis, nanoClock, this::overdue);
        replyPromise = new CallbackPromise(context) {
            @Override
            protected void written(Throwable cause) {
                replyWritten(cause);
            }
        };
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object msg) {
        if (!(msg instanceof ByteBuf message)) {
            context.fireChannelRead(msg);
            return;
        }
        switch (RpcMessageType.peek(message)) {
            case CALL -> callReceived(message);
            case REPLY -> context.fireChannelRead(message);
            case UNKNOWN -> {
                droppedMessages++;
                message.release();
            }
        }
    }

    private void callReceived(ByteBuf message) {
        RpcReplyHeader refusal;
        try {
            RpcCallHeader header = RpcCallHeader.read(message, lastCredential);
            lastCredential = header.credential();
            RpcProgram program = programs.find(header.program(), header.version());
            if (program != null) {
                calls++;
                RpcCall call = new RpcCall(this, header, message);
                execute(program, call);
                if (!call.isAnswered()) {
                    unanswered.add(call); // if it is answered now, then by another thread, whose reply comes through here
                }
                return;
            }
            refusal = noSuchProgram(header);
        } catch (RpcCallHeaderException e) {
            LOGGER.trace("{} malformed call", channel(), e);
            refusal = e.answer();
        }
        message.release();
        refuse(null, refusal);
    }

    private RpcReplyHeader noSuchProgram(RpcCallHeader header) {
        VersionRange versions = programs.versionsOf(header.program());
        return versions == null ? new RpcReplyHeader.Accepted(header.xid(), AcceptStatus.PROG_UNAVAIL)
                : new RpcReplyHeader.Accepted(header.xid(), OpaqueAuth.NONE, AcceptStatus.PROG_MISMATCH, versions);
    }

    private void execute(RpcProgram program, RpcCall call) {
        if (executor == null) {
            serve(program, call);
            return;
        }
        int bytes = call.arguments().readableBytes();
        throttle.callStarted(bytes);
        try {
            executor.execute(() -> {
                try {
                    serve(program, call);
                } finally {
                    throttle.callDone(bytes);
                }
            });
        } catch (RejectedExecutionException e) {
            LOGGER.trace("{} no thread for {}", channel(), call.header(), e);
            call.arguments().release();
            call.tryRefuse(AcceptStatus.SYSTEM_ERR);
            throttle.callDone(bytes);
        }
    }

    private void serve(RpcProgram program, RpcCall call) {
        try {
            if (channel().isActive() && !call.isAnswered()) { // overdue before its turn had come
                call(program, call);
            }
        } catch (XdrException e) {
            LOGGER.trace("{} garbage arguments in {}", channel(), call.header(), e);
            call.tryRefuse(AcceptStatus.GARBAGE_ARGS);
        } catch (Throwable t) {
            // Also errors such as a stack overflow or a failed assertion: the caller waits for an answer all the same.
            call.tryRefuse(AcceptStatus.SYSTEM_ERR);
            programFailed(call.header(), t);
        } finally {
            call.arguments().release();
        }
    }

    private static void call(RpcProgram program, RpcCall call) throws Exception {
        AuthStatus status = program.authenticate(call.header());
        if (status == AuthStatus.AUTH_OK) {
            program.call(call);
        } else {
            call.replyAuthError(status);
        }
    }

    /** Any thread. */
    void programFailed(RpcCallHeader header, Throwable cause) {
        // The first failure is worth a look, a thousand like it would only fill the log.
        if (programFailures.getAndIncrement() == 0) {
            LOGGER.warn("{} program failed in {}", channel(), header, cause);
        } else {
            LOGGER.trace("{} program failed in {}", channel(), header, cause);
        }
    }

    private void overdue(RpcCall call) {
        if (call.tryGiveUp()) {
            overdueCalls++;
            LOGGER.debug("{} no answer within {} ms to {}", channel(), serveTimeoutMillis, call.header());
        }
    }

    /** Any thread. {@code call} is {@code null} if no program has seen it. */
    void refuse(RpcCall call, RpcReplyHeader reply) {
        ByteBuf message = ctx.alloc().buffer(RpcReplyHeader.SUCCESS_BYTES + VersionRange.ENCODED_BYTES);
        reply.write(message);
        refusedCalls.incrementAndGet();
        send(call, message);
    }

    /** Any thread; the message's reference passes to the channel. {@code call} is {@code null} if no program has seen it. */
    void send(RpcCall call, Object message) {
        EventExecutor loop = ctx.executor();
        if (loop.inEventLoop()) {
            write(call, message);
            return;
        }
        try {
            loop.execute(() -> write(call, message));
        } catch (RejectedExecutionException e) {
            ReferenceCountUtil.release(message);
            LOGGER.debug("{} reply after the end of its event loop", channel(), e);
        }
    }

    private void write(RpcCall call, Object message) {
        unanswered.remove(call);
        throttle.replyStarted();
        ctx.write(message, replyPromise);
        throttle.pauseIfOver();
        flushBatch.written();
    }

    private void replyWritten(Throwable cause) {
        throttle.replyDone();
        if (cause == null) {
            return;
        }
        lostReplies++;
        if (cause instanceof RpcReplyReplacedException) {
            LOGGER.debug("{} reply was replaced", channel(), cause);
        } else if (channel().isActive()) {
            LOGGER.warn("{} reply cannot be written, closing the connection", channel(), cause);
            channel().close();
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        flushBatch.readComplete();
        context.fireChannelReadComplete();
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        unanswered.close();
        context.fireChannelInactive();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        unanswered.close();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        if (cause instanceof IOException) {
            // The peer went away or broke the transport's rules: the channel closes itself after one of these.
            LOGGER.info("{} lost: {}", context.channel(), cause.toString());
            LOGGER.debug("", cause);
        } else {
            context.fireExceptionCaught(cause);
        }
    }
}
