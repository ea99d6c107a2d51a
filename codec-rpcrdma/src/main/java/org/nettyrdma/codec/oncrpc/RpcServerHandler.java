package org.nettyrdma.codec.oncrpc;

import static io.netty.util.internal.ObjectUtil.checkPositive;
import static io.netty.util.internal.ObjectUtil.checkPositiveOrZero;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.TooLongFrameException;
import io.netty.util.concurrent.EventExecutor;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.nettyrdma.codec.oncrpc.RpcCallListener.Side;
import org.nettyrdma.codec.oncrpc.transport.CallbackPromise;
import org.nettyrdma.codec.oncrpc.transport.DemandedRead;
import org.nettyrdma.codec.oncrpc.transport.HeadRoom;
import org.nettyrdma.codec.oncrpc.transport.ServerShutdown;
import org.nettyrdma.peer.PeerLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves the calls that a connection receives (RFC 5531). One handler per channel; the programs are shared. Replies pass to
 * the next handler, so that an {@link RpcClient} may follow for calls in the other direction.
 *
 * <p><b>Exactly one reply per call</b>, also if the program throws. Calls for unknown programs, versions and RPC
 * versions, and with credentials that the program rejects, are answered as RFC 5531 says. A message without an XID or that is
 * neither call nor reply cannot be answered: it is counted and released.
 *
 * <p><b>Threads.</b> Programs run on the event loop, or on the executor if there is one. With an executor, calls of one
 * connection begin in order, may run at the same time and be answered out of order. Answers are passed to the event loop. The
 * answers of one turn of the event loop are flushed together.
 *
 * <p><b>Turns.</b> The executor gets one task for each call, and has to run them all. A task runs the call whose turn it is, of
 * all connections whose handlers have the same executor. The turn goes to the address whose calls have taken least of its time,
 * and there to the connection that has taken least; calls that run count so far. What one has taken more than others counts for
 * a second at most, and what it has not taken while it had no calls is not kept for it. If the executor rejects a task, the
 * newest call of who has most waiting is refused. Calls that run are not stopped: slow ones of one address can hold all threads,
 * unless the executor is a {@link CallExecutor}, which bounds how many of them run at once.
 *
 * <p><b>Memory.</b> Two things count: the calls on an executor, each with its arguments and 1024 bytes, and the replies that
 * the peer has not taken. While they exceed a limit, the connection is not read: a wanted read is passed on later.
 * {@code AUTO_READ} is off until the end of that turn of the event loop, and then again as the application had set it before. A
 * program that waits for a call in the other direction must therefore not wait for ever. With a {@link MemoryBudget} each call
 * waits until there is memory for its arguments and {@linkplain RpcProgram#maxResultBytes its results} before it runs. The call
 * keeps the memory until the peer has taken its reply. A peer that takes replies too slowly loses the connection, after a second
 * already where an address that has no memory waits for some, with Netty's NIO transport. A budget is for transports that do not
 * count memory themselves, such as TCP. RPC-over-RDMA counts the memory that calls offer.
 *
 * <p><b>Time.</b> A call that its program has not answered in time is answered with SYSTEM_ERR. A later answer of the program is
 * released. A call that still waits for the executor at that time does not run, and its arguments are released.
 *
 * <p><b>Writes.</b> All replies are written with one {@linkplain io.netty.channel.ChannelPromise#isVoid void promise}. A handler
 * in front of this one that listens to writes asks the promise for {@link io.netty.channel.ChannelPromise#unvoid}, as with every
 * void promise.
 *
 * <p><b>Close.</b> A call that still waits for the executor when the connection is lost does not run, and its arguments are
 * released at once. A reply that cannot be written closes the connection, because its caller would wait in vain.
 * {@link GracefulShutdown} ends a connection behind the replies to the calls that have come.
 */
public final class RpcServerHandler extends ChannelDuplexHandler {

    /** How much memory the calls of a connection may take before reading stops, in bytes, unless another limit is given. */
    public static final long DEFAULT_MAX_BYTES_IN_PROGRESS = 16 << 20;

    /** How long a program may take to answer a call unless another time is given, in milliseconds: five minutes. */
    public static final long DEFAULT_SERVE_TIMEOUT_MILLIS = 300_000;

    private static final Logger LOGGER = LoggerFactory.getLogger(RpcServerHandler.class);

    private final ProgramTable programs;
    /** {@code null} for the event loop. */
    private final Executor executor;
    private final long maxBytesInProgress;
    private final long serveTimeoutMillis;
    private final LongSupplier nanoClock;
    /** {@code null} where nothing is counted. */
    private final MemoryBudget memory;
    private final TransferLimits transferLimits;

    private final ServedCallOwner owner = new Owner();
    private ChannelHandlerContext ctx;
    private FlushBatch flushBatch;
    private HeadRoom headRoom;
    private ReplyHandOver handOver;
    private ReadPause pause;
    private ReadThrottle throttle;
    private CallRunner runner;
    /** {@code null} without a budget. */
    private ServedCallMemory callMemory;
    /** For all replies. */
    private CallbackPromise replyPromise;
    private UnansweredCalls unanswered;
    /** The call whose program is just being called, or handed to the executor; {@code null} at other times. */
    private RpcCall beginning;
    /** A connection's callers are few, so the last credential is likely to be the next one. */
    private OpaqueAuth lastCredential = OpaqueAuth.NONE;
    /** {@code null} if nobody measures the calls. */
    private RpcCallTimer timer;

    /** No further call is begun. */
    private boolean draining;
    private int callsInProgress;
    // The event loop alone writes the first four, others may look: so they are written opaquely, which costs nothing.
    private final AtomicLong calls = new AtomicLong();
    private final AtomicLong droppedMessages = new AtomicLong();
    private final AtomicLong lostReplies = new AtomicLong();
    private final AtomicLong overdueCalls = new AtomicLong();
    private final AtomicLong refusedCalls = new AtomicLong();
    private final AtomicLong programFailures = new AtomicLong();

    /**
     * Creates a handler whose programs run on the event loop; they must not block.
     *
     * @param programs the programs to serve
     * @throws IllegalArgumentException if two programs share a number and a version, or one has no version
     */
    public RpcServerHandler(RpcProgram... programs) {
        this(List.of(programs), null, DEFAULT_MAX_BYTES_IN_PROGRESS, DEFAULT_SERVE_TIMEOUT_MILLIS, System::nanoTime);
    }

    /**
     * Creates a handler whose programs run on an executor.
     *
     * @param programs the programs to serve
     * @param executor where they run. When it rejects a call, one that waits is answered with SYSTEM_ERR
     * @throws IllegalArgumentException if two programs share a number and a version, or one has no version
     */
    public RpcServerHandler(List<RpcProgram> programs, Executor executor) {
        this(programs, executor, DEFAULT_MAX_BYTES_IN_PROGRESS);
    }

    /**
     * Creates a handler whose programs run on an executor.
     *
     * @param programs           the programs to serve
     * @param executor           where they run. When it rejects a call, one that waits is answered with SYSTEM_ERR
     * @param maxBytesInProgress arguments and replies of the connection in bytes, and 1024 for each call, beyond which
     *                           reading stops; more than 0. With too little, a server is idle while its clients wait
     * @throws IllegalArgumentException if programs share a number and a version, one has no version, or the limit is not positive
     */
    public RpcServerHandler(List<RpcProgram> programs, Executor executor, long maxBytesInProgress) {
        this(programs, executor, maxBytesInProgress, DEFAULT_SERVE_TIMEOUT_MILLIS);
    }

    /**
     * Creates a handler whose programs run on an executor, with a time-out for their answers.
     *
     * @param programs           the programs to serve
     * @param executor           where they run. When it rejects a call, one that waits is answered with SYSTEM_ERR
     * @param maxBytesInProgress arguments and replies of the connection in bytes, and 1024 for each call, beyond which
     *                           reading stops; more than 0. With too little, a server is idle while its clients wait
     * @param serveTimeoutMillis how long a program may take to answer, in milliseconds, from the arrival of the call; 0 for
     *                           ever. Too small a value shows as SYSTEM_ERR for calls that are carried out nevertheless
     * @throws IllegalArgumentException if programs share a number and a version, one has no version, or a limit is out of range
     */
    public RpcServerHandler(List<RpcProgram> programs, Executor executor, long maxBytesInProgress, long serveTimeoutMillis) {
        this(programs, Objects.requireNonNull(executor, "executor"), maxBytesInProgress, serveTimeoutMillis, System::nanoTime);
    }

    /**
     * Creates a handler whose calls take memory of a budget. The handler must run on the event loop of the channel.
     *
     * @param programs           the programs to serve
     * @param executor           where they run, {@code null} for the event loop. When it rejects a call, one that waits is
     *                           answered with SYSTEM_ERR
     * @param maxBytesInProgress arguments and replies of the connection in bytes, and 1024 for each call on the executor,
     *                           beyond which reading stops; more than 0
     * @param serveTimeoutMillis how long a program may take to answer, in milliseconds, from when it has its memory; 0 for ever
     * @param memory             what the calls of all connections may take, {@code null} for no limit
     * @param transferLimits     how slowly the peer may take its replies; only with a budget
     * @throws IllegalArgumentException if programs share a number and a version, one has no version, or a limit is out of range
     */
    public RpcServerHandler(List<RpcProgram> programs, Executor executor, long maxBytesInProgress, long serveTimeoutMillis,
                            MemoryBudget memory, TransferLimits transferLimits) {
        this(programs, executor, maxBytesInProgress, serveTimeoutMillis, System::nanoTime, memory,
                Objects.requireNonNull(transferLimits, "transferLimits"));
    }

    /** {@code executor} is {@code null} for the event loop. */
    RpcServerHandler(List<RpcProgram> programs, Executor executor, long maxBytesInProgress, long serveTimeoutMillis,
                     LongSupplier nanoClock) {
        this(programs, executor, maxBytesInProgress, serveTimeoutMillis, nanoClock, null, TransferLimits.DEFAULT);
    }

    private RpcServerHandler(List<RpcProgram> programs, Executor executor, long maxBytesInProgress, long serveTimeoutMillis,
                             LongSupplier nanoClock, MemoryBudget memory, TransferLimits transferLimits) {
        this.memory = memory;
        this.transferLimits = transferLimits;
        this.programs = new ProgramTable(programs);
        this.executor = executor;
        this.maxBytesInProgress = checkPositive(maxBytesInProgress, "maxBytesInProgress");
        this.serveTimeoutMillis = checkPositiveOrZero(serveTimeoutMillis, "serveTimeoutMillis");
        this.nanoClock = nanoClock;
    }

    /**
     * Counts what happened so far. Any thread; a thread other than the event loop may see values of a moment ago.
     *
     * @return a snapshot
     */
    public RpcServerStatistics statistics() {
        return new RpcServerStatistics(calls.getOpaque(), refusedCalls.get(), droppedMessages.getOpaque(), programFailures.get(),
                lostReplies.getOpaque(), overdueCalls.getOpaque());
    }

    private static void increment(AtomicLong counter) {
        counter.setOpaque(counter.getPlain() + 1);
    }

    /**
     * Counts the calls that programs have received and not answered. Event loop only.
     *
     * @return how many
     */
    public int callsInProgress() {
        return callsInProgress;
    }

    private Channel channel() {
        return ctx.channel();
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        ctx = context;
        flushBatch = new FlushBatch(context);
        headRoom = HeadRoom.ofThread();
        handOver = new ReplyHandOver(context, () -> increment(lostReplies));
        timer = RpcCallTimer.of(context, Side.SERVER);
        pause = new ReadPause(context);
        throttle = new ReadThrottle(context.channel(), context.executor(), maxBytesInProgress, pause);
        runner = new CallRunner(context.channel(), executor, throttle, nanoClock, programFailures);
        callMemory = memory == null ? null : new ServedCallMemory(context, memory, transferLimits, pause, this::replyWritten);
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
        pause.messageRead();
        if (timer != null) {
            timer.read();
        }
        switch (RpcMessageType.peek(message)) {
            case CALL -> {
                if (draining || handOver.closeIfReplyIsMissing()) {
                    increment(droppedMessages);
                    message.release();
                } else if (timer == null) {
                    callReceived(message, null);
                } else {
                    measure(message);
                }
                if (context.isRemoved()) { // and its figures are kept behind its beginning
                    close();
                }
            }
            case REPLY -> context.fireChannelRead(message);
            case UNKNOWN -> {
                increment(droppedMessages);
                message.release();
                readOn();
            }
        }
    }

    private void measure(ByteBuf message) {
        RpcCallTimer.Call measured = timer.served(message);
        try {
            callReceived(message, measured);
        } finally {
            if (measured != null) { // also where there is no memory, for instance: then it ends with the connection
                timer.keep(measured);
            }
        }
    }

    private void callReceived(ByteBuf message, RpcCallTimer.Call measured) {
        RpcReplyHeader refusal = null;
        RpcProgram program = null;
        RpcCall call = null;
        try {
            RpcCallHeader header = RpcCallHeader.read(message, lastCredential);
            lastCredential = header.credential();
            program = programs.find(header.program(), header.version());
            if (program == null) {
                refusal = noSuchProgram(header);
            } else {
                call = new RpcCall(owner, header, message);
            }
        } catch (RpcCallHeaderException e) {
            PeerLog.warn(LOGGER, channel(), "malformed call: {}", e);
            refusal = e.answer();
        } catch (Throwable t) { // no memory, for instance
            message.release();
            throw t;
        }
        if (call != null) {
            serve(program, call, measured);
        } else {
            message.release();
            refuseUnseen(refusal, measured);
        }
    }

    private void serve(RpcProgram program, RpcCall call, RpcCallTimer.Call measured) {
        increment(calls);
        callsInProgress++;
        call.measure(measured);
        if (callMemory == null) {
            begin(program, call);
        } else {
            beginWithMemory(program, call);
        }
    }

    private void refuseUnseen(RpcReplyHeader reply, RpcCallTimer.Call measured) {
        readOn();
        if (callMemory == null) {
            refuse(reply, null, measured, 0);
        } else {
            callMemory.admit(ServedCallMemory.CALL_BYTES, bytes -> refuse(reply, null, measured, bytes), () -> { }, () -> { });
        }
    }

    /** No program sees what has come, and the application may have asked for one call, as {@link DemandedRead} says. */
    private void readOn() {
        if (!channel().config().isAutoRead()) {
            read(ctx);
        }
    }

    private void begin(RpcProgram program, RpcCall call) {
        beginning = call;
        runner.run(program, call);
        beginning = null;
        if (!call.isAnswered()) {
            unanswered.add(call); // if it is answered now, then by another thread, whose reply comes through here
        }
        if (ctx.isRemoved()) { // by the program, before there was anything of the call to be closed
            close();
        }
    }

    private void beginWithMemory(RpcProgram program, RpcCall call) {
        long needed = callMemory.bytesOf(program, call);
        if (needed < 0) {
            call.arguments().release();
            call.tryRefuse(AcceptStatus.SYSTEM_ERR);
            readOn();
            return;
        }
        callMemory.admit(needed, bytes -> {
            call.setMemoryBytes(bytes);
            begin(program, call);
        }, call::letGoOfLargeBuffer, () -> call.arguments().release());
    }

    private RpcReplyHeader noSuchProgram(RpcCallHeader header) {
        VersionRange versions = programs.versionsOf(header.program());
        return versions == null ? new RpcReplyHeader.Accepted(header.xid(), AcceptStatus.PROG_UNAVAIL)
                : new RpcReplyHeader.Accepted(header.xid(), OpaqueAuth.NONE, AcceptStatus.PROG_MISMATCH, versions);
    }

    /** This handler, as its calls see it. */
    private final class Owner implements ServedCallOwner {

        @Override
        public Channel channel() {
            return RpcServerHandler.this.channel();
        }

        @Override
        public void refuse(RpcCall call, RpcReplyHeader reply) {
            RpcServerHandler.this.refuse(reply, call, null, call.memoryBytes());
        }

        @Override
        public void send(RpcCall call, Object message) {
            RpcServerHandler.this.send(call, message, call.memoryBytes());
        }

        @Override
        public void programFailed(RpcCallHeader header, Throwable cause) {
            runner.failed(header, cause);
        }
    }

    private void overdue(RpcCall call) {
        if (call.tryGiveUp()) {
            increment(overdueCalls);
            runner.dropAnswered();
            LOGGER.debug("{} no answer within {} ms to {}", channel(), serveTimeoutMillis, call.header());
        } else {
            handOver.closeIfReplyIsMissing();
        }
    }

    /** {@code measured} is for a call that no program has seen, and may be {@code null}. */
    private void refuse(RpcReplyHeader reply, RpcCall call, RpcCallTimer.Call measured, long memoryBytes) {
        ByteBuf message;
        try {
            message = ctx.alloc().buffer(RpcReplyHeader.SUCCESS_BYTES + VersionRange.ENCODED_BYTES);
        } catch (RuntimeException | Error e) { // not even this much memory, and the caller would wait in vain
            handOver.closeForMissingReply();
            PeerLog.warn(LOGGER, channel(), "no reply can be made, closing the connection: {}", e);
            return;
        }
        reply.write(message);
        refusedCalls.incrementAndGet();
        if (measured != null) {
            measured.answered(message);
        }
        send(call, message, memoryBytes);
    }

    /** {@code call} is {@code null} if no program has seen it. */
    private void send(RpcCall call, Object message, long memoryBytes) {
        EventExecutor loop = ctx.executor();
        if (loop.inEventLoop()) {
            write(call, message, memoryBytes);
            return;
        }
        try {
            loop.execute(() -> write(call, message, memoryBytes));
        } catch (Throwable t) {
            handOver.failed(message, t);
        }
    }

    private void write(RpcCall call, Object message, long memoryBytes) {
        if (call != beginning) { // most calls are answered at once, and were never there
            unanswered.remove(call);
        }
        if (call != null) {
            callsInProgress--;
            if (call.measured() != null) {
                call.measured().answered(message);
            }
        }
        throttle.replyStarted();
        headRoom.offer(message);
        ctx.write(message, memoryBytes == 0 ? replyPromise : callMemory.reply(memoryBytes));
        headRoom.withdraw();
        throttle.pauseIfOver();
        flushBatch.written();
    }

    private void replyWritten(Throwable cause) {
        throttle.replyDone();
        if (cause != null) {
            replyLost(cause);
        }
        endIfDrained();
    }

    private void replyLost(Throwable cause) {
        increment(lostReplies);
        if (cause instanceof RpcReplyReplacedException) {
            LOGGER.debug("{} reply was replaced: {}", channel(), cause.getMessage());
        } else if (channel().isActive()) {
            PeerLog.warn(LOGGER, channel(), "reply cannot be written, closing the connection: {}", cause);
            channel().close();
        }
    }

    /** Begins no further call, and ends the connection when the others are answered. Event loop only. */
    void drain() {
        ServerShutdown.begin(channel()); // before the next reply
        draining = true;
        endIfDrained();
    }

    private void endIfDrained() {
        if (!draining || callsInProgress > 0 || throttle.hasReplies()) {
            return;
        }
        if (channel() instanceof DuplexChannel stream) {
            // A close with unread input would make TCP send a reset, which destroys replies on their way.
            channel().config().setAutoRead(true);
            stream.shutdownOutput().addListener(ended -> {
                if (!ended.isSuccess()) {
                    stream.close();
                }
            });
        } else {
            channel().close();
        }
    }

    @Override
    public void read(ChannelHandlerContext context) {
        if (!pause.keepsRead()) {
            context.read();
        }
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
    public void channelInactive(ChannelHandlerContext context) {
        close();
        context.fireChannelInactive();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        close();
    }

    private void close() {
        unanswered.close();
        runner.close();
        if (timer != null) {
            timer.lose();
        }
        if (callMemory != null) {
            callMemory.close();
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        if (cause instanceof TooLongFrameException) {
            PeerLog.warn(LOGGER, context.channel(), "lost: {}", cause); // who fires it closes the channel
        } else if (cause instanceof IOException) {
            // The peer went away or broke the transport's rules: the channel closes itself after one of these.
            if (isPlainLoss(cause)) {
                PeerLog.info(LOGGER, context.channel(), "lost: {}", cause);
            } else {
                PeerLog.warn(LOGGER, context.channel(), "lost: {}", cause);
            }
        } else if (cause instanceof OutOfMemoryError) {
            context.close(); // a socket closes itself; elsewhere nobody knows what was lost of which call
            PeerLog.fault(LOGGER, context.channel(), "lost, as there is no memory", cause);
        } else {
            context.fireExceptionCaught(cause);
        }
    }

    /**
     * Whether the system says so, as of a peer that went away; whatever else is found out here, is a rule or a limit that was
     * exceeded.
     */
    private static boolean isPlainLoss(Throwable cause) {
        return cause.getClass().getName().startsWith("java.");
    }
}
