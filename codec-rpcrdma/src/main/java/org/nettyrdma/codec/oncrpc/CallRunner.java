package org.nettyrdma.codec.oncrpc;

import io.netty.channel.Channel;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.nettyrdma.peer.PeerLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the programs that serve the calls of one connection: on the event loop, or on an executor, where they take turns with
 * those of other connections ({@link CallTurns}). Answers in place of a program that has thrown. Event loop only, except where
 * noted.
 */
final class CallRunner {

    private static final Logger LOGGER = LoggerFactory.getLogger(CallRunner.class);
    /** One in the life of the process. */
    private static final AtomicBoolean FAILURE_SHOWN = new AtomicBoolean();

    private final Channel channel;
    /** {@code null} for the event loop. */
    private final Executor executor;
    private final ReadThrottle throttle;
    private final LongSupplier nanoClock;
    private final AtomicLong failures;
    /** Where calls wait for the executor; {@code null} before the first one, as the peer need not be known earlier. */
    private CallTurns.Connection turns;

    /**
     * @param executor {@code null} for the event loop
     * @param failures counts the failures of programs
     */
    CallRunner(Channel channel, Executor executor, ReadThrottle throttle, LongSupplier nanoClock, AtomicLong failures) {
        this.channel = channel;
        this.executor = executor;
        this.throttle = throttle;
        this.nanoClock = nanoClock;
        this.failures = failures;
    }

    /** Serves a call, now or when it has its turn; the reference of its arguments passes to this. */
    void run(RpcProgram program, RpcCall call) {
        if (executor == null) {
            serve(program, call);
        } else {
            execute(program, call);
        }
    }

    private void execute(RpcProgram program, RpcCall call) {
        ServedCall served;
        boolean needsTask;
        try {
            call.letGoOfLargeBuffer();
            if (turns == null) {
                turns = CallTurns.of(executor).open(channel.remoteAddress(), nanoClock);
            }
            served = new ServedCall(this, throttle, turns, program, call);
            needsTask = turns.add(served);
        } catch (Throwable t) { // no memory, for instance: it does not wait
            fail(call, t);
            return;
        }
        throttle.callStarted(served.bytes());
        if (!needsTask) {
            return;
        }
        try {
            executor.execute(served);
        } catch (Throwable t) { // rejected, or no thread can be started
            if (!(t instanceof RejectedExecutionException)) {
                failed(call.header(), t);
            }
            LOGGER.trace("{} no thread for {}", channel, call.header(), t);
            served.refuse();
        }
    }

    private void fail(RpcCall call, Throwable cause) {
        try {
            call.tryRefuse(AcceptStatus.SYSTEM_ERR);
            failed(call.header(), cause);
        } finally {
            call.arguments().release();
        }
    }

    /** Any thread. */
    void serve(RpcProgram program, RpcCall call) {
        try {
            if (channel.isActive() && !call.isAnswered()) { // overdue before its turn had come
                call(program, call);
            }
        } catch (XdrException e) {
            PeerLog.warn(LOGGER, channel, "garbage arguments in {}: {}", call.header(), e);
            call.tryRefuse(AcceptStatus.GARBAGE_ARGS);
        } catch (Throwable t) {
            // Also errors such as a stack overflow or a failed assertion: the caller waits for an answer all the same.
            call.tryRefuse(AcceptStatus.SYSTEM_ERR);
            failed(call.header(), t);
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
    void failed(RpcCallHeader header, Throwable cause) {
        failures.incrementAndGet();
        PeerLog.warn(LOGGER, channel, "program failed in {}: {}", header, cause.toString());
        // Where it failed is worth a look once, unless it is memory, which is short everywhere then. A thousand traces like it,
        // by as many peers as like to cause them, would only fill the log.
        if (!(cause instanceof VirtualMachineError) && FAILURE_SHOWN.compareAndSet(false, true)) {
            LOGGER.warn("the first failure of a program", cause);
        } else {
            LOGGER.trace("program failed", cause);
        }
    }

    /** The oldest calls that wait may have been answered, as they are overdue: they wait no longer. */
    void dropAnswered() {
        if (turns != null) {
            turns.dropAnswered();
        }
    }

    /** The connection has ended. */
    void close() {
        if (turns != null) {
            turns.close();
        }
    }
}
