package org.nettyrdma.codec.oncrpc;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.util.AttributeKey;
import io.netty.util.concurrent.EventExecutor;
import java.util.function.LongSupplier;
import org.nettyrdma.codec.oncrpc.RpcCallListener.Outcome;
import org.nettyrdma.codec.oncrpc.RpcCallListener.Side;
import org.nettyrdma.handler.credit.support.XidMap;
import org.nettyrdma.peer.PeerLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Measures the calls that one handler makes or serves: {@link RpcClient} and {@link RpcServerHandler} have one each, where
 * somebody wants to know. Not a handler in front of them, which would have to tell a second time which call and reply belong
 * together. Executor of the handler only.
 */
final class RpcCallTimer {

    private static final Logger LOGGER = LoggerFactory.getLogger(RpcCallTimer.class);
    private static final AttributeKey<Watcher> WATCHER = AttributeKey.valueOf(RpcCallTimer.class, "watcher");

    /** Where the fields of a call and of an accepted reply are (RFC 5531, section 9). */
    private static final int PROGRAM = 12;
    private static final int VERSION = 16;
    private static final int CALL_BYTES = 24;
    private static final int REPLY_STATUS = 8;
    private static final int VERIFIER_LENGTH = 16;
    private static final int VERIFIER = 20;

    /** {@code listener} is {@code null} if only a flight recording wants to know. */
    private record Watcher(RpcCallListener listener, LongSupplier nanoClock) {
    }

    private final Channel channel;
    private final EventExecutor executor;
    private final Side side;
    private final RpcCallListener listener;
    /** In place of {@code listener} where that keeps sums; {@code null} otherwise. */
    private final CallTally tally;
    private final LongSupplier nanoClock;
    /**
     * The last look at the clock. A batch of reads was there when it began, so that one look does for all of it, until there is a
     * later one for a write.
     */
    private long nowNanos;
    private boolean reading;
    /** The transport takes many calls in one turn of the event loop, which this ends: one look does for them, too. */
    private final Runnable turnEnd = () -> taking = false;
    private boolean taking;
    private boolean tookOne;
    /** When the first of the calls in the tally that have no time yet began. */
    private long untimedBeginNanos;
    /** The server's call that is being passed to its program; {@code null} outside of that. */
    private Call serving;
    /** A server's calls that were not answered at once, in no order; {@code null} if there is none. */
    private Call kept;
    /** The last call that was answered at once, to be used again. */
    private Call spare;
    /** A client's calls in a recording; {@code null} before the first. */
    private XidMap<RpcCallEvent> events;

    private RpcCallTimer(ChannelHandlerContext ctx, Side side, Watcher watcher) {
        channel = ctx.channel();
        executor = ctx.executor();
        this.side = side;
        listener = watcher.listener;
        nanoClock = watcher.nanoClock;
        tally = listener instanceof RpcCallMetrics metrics ? metrics.newTally(side) : null;
    }

    /** From now on, handlers that are added measure their calls. */
    static void watch(Channel channel, RpcCallListener listener, LongSupplier nanoClock) {
        channel.attr(WATCHER).set(new Watcher(listener, nanoClock));
    }

    /** Returns {@code null} where nobody wants to know. */
    static RpcCallTimer of(ChannelHandlerContext ctx, Side side) {
        Watcher watcher = ctx.channel().attr(WATCHER).get();
        return watcher == null ? null : new RpcCallTimer(ctx, side, watcher);
    }

    /** A call of a server that has not ended. */
    final class Call {

        private int xid;
        private int program;
        private int version;
        private int procedure;
        private int bytes;
        private long beginNanos;
        private boolean ended;
        private Call previousKept;
        private Call nextKept;
        /** {@code null} where nobody records. */
        private RpcCallEvent event;

        private boolean isAlike(Outcome outcome) {
            return !tally.hasUntimed() || tally.isOf(program, version, procedure, outcome);
        }

        private void begin(ByteBuf message) {
            int start = message.readerIndex();
            long versionAndProcedure = message.getLong(start + VERSION);
            xid = message.getInt(start);
            program = message.getInt(start + PROGRAM);
            version = (int) (versionAndProcedure >>> Integer.SIZE);
            procedure = (int) versionAndProcedure;
            bytes = message.readableBytes();
            if (tally != null && !isAlike(Outcome.SUCCESS)) {
                settle(); // what this one takes is not theirs
            }
            beginNanos = nowNanos;
            ended = false;
            event = RpcCallEvent.begun();
        }

        /** The reply is about to be written: a {@link ByteBuf} or a {@link RpcMessage}. */
        void answered(Object message) {
            ByteBuf reply = contentOf(message);
            end(hasResults(reply) ? Outcome.SUCCESS : Outcome.ERROR, reply.readableBytes());
        }

        private void end(Outcome outcome, int replyBytes) {
            if (ended) { // lost with the connection, and answered now
                return;
            }
            ended = true;
            dropKept(this);
            if (tally != null && this == serving && reading && isAlike(outcome)) {
                // Replies are flushed at the end of the batch of reads. One look then does for all that are alike.
                if (!tally.hasUntimed()) {
                    untimedBeginNanos = beginNanos;
                }
                tellUntimed(program, version, procedure, outcome, bytes, replyBytes);
            } else {
                look();
                tell(program, version, procedure, outcome, nowNanos - beginNanos, 0, bytes, replyBytes);
            }
            if (event != null) {
                record(event, xid, program, version, procedure, outcome);
                event = null;
            }
        }
    }

    static ByteBuf contentOf(Object message) {
        return message instanceof RpcMessage whole ? whole.content() : (ByteBuf) message;
    }

    private long look() {
        return nowNanos = listener == null ? 0 : nanoClock.getAsLong();
    }

    /** The channel has read a message. */
    void read() {
        if (!reading) {
            reading = true;
            tookOne = false;
            if (!taking) {
                look();
            }
        }
    }

    void readComplete() {
        reading = false;
        settle();
    }

    /** What was told is shown. */
    private void settle() {
        if (tally != null && !tally.isEmpty()) {
            if (tally.hasUntimed()) {
                tally.time(look() - untimedBeginNanos);
            }
            tally.settle();
        }
    }

    private CallTally findTally(int program, int version, int procedure, Outcome outcome) {
        if (!tally.isOf(program, version, procedure, outcome)) {
            settle();
            tally.begin(program, version, procedure, outcome);
        }
        return tally;
    }

    /**
     * A client is about to write a call.
     *
     * @param beginNanos a look at the clock which the client has just had
     */
    void made(int xid, long beginNanos) {
        nowNanos = beginNanos;
        tellBegun();
        RpcCallEvent event = RpcCallEvent.begun();
        if (event != null) {
            if (events == null) {
                events = new XidMap<>();
            }
            events.put(xid, event);
        }
    }

    /** How long ago that was, for a call that the transport has taken. */
    long sinceNanos(long beginNanos) {
        if (!reading && !taking) {
            look();
            if (tookOne && !executor.isShuttingDown()) {
                taking = true;
                try {
                    executor.execute(turnEnd);
                } catch (RuntimeException | Error e) { // no memory for the queue, for instance: one look for each, then
                    taking = false;
                }
            }
            tookOne = true;
        }
        return nowNanos - beginNanos;
    }

    /**
     * A client's call has ended.
     *
     * @param queuedNanos how long it took until the transport had taken the call, negative if it is not known to have
     * @param replyBytes  length of the reply, which has just been read, 0 if there is none
     */
    void ended(RpcRequest request, int xid, Outcome outcome, long beginNanos, long queuedNanos, int callBytes, int replyBytes) {
        if (replyBytes == 0) {
            look();
        }
        long elapsedNanos = nowNanos - beginNanos;
        // A reply may be here before the transport has told that it has taken the call.
        long waitedNanos = queuedNanos >= 0 ? queuedNanos : replyBytes > 0 ? 0 : elapsedNanos;
        tell(request.program(), request.version(), request.procedure(), outcome, elapsedNanos, waitedNanos, callBytes,
                replyBytes);
        RpcCallEvent event = events == null ? null : events.remove(xid);
        if (event != null) {
            record(event, xid, request.program(), request.version(), request.procedure(), outcome);
        }
    }

    /** A server has read a call. Returns {@code null} if the message is too short for one. */
    Call served(ByteBuf message) {
        if (message.readableBytes() < CALL_BYTES) {
            return null;
        }
        Call call = spare == null ? new Call() : spare;
        spare = null;
        serving = call;
        call.begin(message);
        tellBegun();
        return call;
    }

    /** All was done with a call for now. Unless that has ended it, it is lost with the connection. */
    void keep(Call call) {
        serving = null;
        if (call.ended) {
            spare = call;
            return;
        }
        call.nextKept = kept;
        if (kept != null) {
            kept.previousKept = call;
        }
        kept = call;
    }

    private void dropKept(Call call) {
        if (call == kept) {
            kept = call.nextKept;
        } else if (call.previousKept != null) {
            call.previousKept.nextKept = call.nextKept;
        } else {
            return;
        }
        if (call.nextKept != null) {
            call.nextKept.previousKept = call.previousKept;
        }
        call.previousKept = null;
        call.nextKept = null;
    }

    /** The connection has ended, perhaps within a batch of reads. */
    void lose() {
        while (kept != null) {
            kept.end(Outcome.LOST, 0);
        }
        readComplete();
    }

    private static boolean hasResults(ByteBuf reply) {
        int start = reply.readerIndex();
        int length = reply.readableBytes();
        if (length >= VERIFIER_LENGTH + Long.BYTES && reply.getInt(start + REPLY_STATUS) == 0
                && reply.getLong(start + VERIFIER_LENGTH) == 0) {
            return true; // most have an empty verifier, and success
        }
        if (length < VERIFIER || reply.getInt(start + REPLY_STATUS) != 0) {
            return false;
        }
        int verifierBytes = reply.getInt(start + VERIFIER_LENGTH);
        if (verifierBytes < 0 || verifierBytes > OpaqueAuth.MAX_BODY_BYTES) {
            return false;
        }
        int status = VERIFIER + Xdr.paddedLength(verifierBytes);
        return length >= status + Integer.BYTES && reply.getInt(start + status) == AcceptStatus.SUCCESS.code();
    }

    // What the listener throws, or the registry of a tally, must not keep the call from its end.

    private void tellBegun() {
        try {
            if (listener != null) {
                listener.begun(side);
            }
        } catch (RuntimeException | Error e) {
            listenerFailed(e);
        }
    }

    private void tellUntimed(int program, int version, int procedure, Outcome outcome, int callBytes, int replyBytes) {
        try {
            findTally(program, version, procedure, outcome).addUntimed(callBytes, replyBytes);
        } catch (RuntimeException | Error e) {
            listenerFailed(e);
        }
    }

    private void tell(int program, int version, int procedure, Outcome outcome, long elapsedNanos, long queuedNanos,
                      int callBytes, int replyBytes) {
        try {
            if (tally != null) {
                findTally(program, version, procedure, outcome).add(elapsedNanos, queuedNanos, callBytes, replyBytes);
                if (!reading) {
                    tally.settle();
                }
            } else if (listener != null) {
                listener.ended(side, program, version, procedure, outcome, elapsedNanos, queuedNanos, callBytes, replyBytes);
            }
        } catch (RuntimeException | Error e) {
            listenerFailed(e);
        }
    }

    private void listenerFailed(Throwable cause) {
        PeerLog.fault(LOGGER, channel, "the listener of its calls has failed", cause);
    }

    private void record(RpcCallEvent event, int xid, int program, int version, int procedure, Outcome outcome) {
        event.end(); // before it is asked: until then it has lasted no time
        if (event.shouldCommit()) {
            event.side = side.name();
            event.peer = String.valueOf(channel.remoteAddress());
            event.xid = xid;
            event.program = program;
            event.version = version;
            event.procedure = procedure;
            event.outcome = outcome.name();
            event.commit();
        }
    }
}
