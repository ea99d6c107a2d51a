package org.nettyrdma.codec.oncrpc;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.util.AttributeKey;
import java.util.function.LongSupplier;
import org.nettyrdma.codec.oncrpc.RpcCallListener.Outcome;
import org.nettyrdma.codec.oncrpc.RpcCallListener.Side;

/**
 * Measures the calls that one handler makes or serves: {@link RpcClient} and {@link RpcServerHandler} have one each, where
 * somebody wants to know. Not a handler in front of them, which would have to tell a second time which call and reply belong
 * together. Executor of the handler only.
 */
final class RpcCallTimer {

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
    private final Side side;
    private final RpcCallListener listener;
    private final LongSupplier nanoClock;
    /**
     * The last look at the clock. A batch of reads, at the end of which the handlers owe their flush as well, was there when it
     * began, so that one look does for all of it, until there is a later one for a write.
     */
    private long nowNanos;
    private boolean reading;
    /** Calls that were not answered at once, in no order; {@code null} if there is none. */
    private Call kept;

    private RpcCallTimer(Channel channel, Side side, Watcher watcher) {
        this.channel = channel;
        this.side = side;
        listener = watcher.listener;
        nanoClock = watcher.nanoClock;
    }

    /** From now on, handlers that are added measure their calls. */
    static void watch(Channel channel, RpcCallListener listener, LongSupplier nanoClock) {
        channel.attr(WATCHER).set(new Watcher(listener, nanoClock));
    }

    /** Returns {@code null} where nobody wants to know. */
    static RpcCallTimer of(Channel channel, Side side) {
        Watcher watcher = channel.attr(WATCHER).get();
        return watcher == null ? null : new RpcCallTimer(channel, side, watcher);
    }

    /** A call that has not ended. */
    final class Call {

        private final int xid;
        private final int program;
        private final int version;
        private final int procedure;
        private final int bytes;
        private final long beginNanos = nowNanos;
        private long queuedNanos = -1;
        private boolean ended;
        private Call previousKept;
        private Call nextKept;
        /** {@code null} where nobody records. */
        private final RpcCallEvent event = RpcCallEvent.begun();

        private Call(RpcRequest request, int xid, int bytes) {
            this.xid = xid;
            program = request.program();
            version = request.version();
            procedure = request.procedure();
            this.bytes = bytes;
        }

        private Call(ByteBuf message) {
            int start = message.readerIndex();
            long versionAndProcedure = message.getLong(start + VERSION);
            xid = message.getInt(start);
            program = message.getInt(start + PROGRAM);
            version = (int) (versionAndProcedure >>> Integer.SIZE);
            procedure = (int) versionAndProcedure;
            bytes = message.readableBytes();
        }

        /** The transport has taken the call. */
        void taken() {
            queuedNanos = (reading ? nowNanos : look()) - beginNanos;
        }

        /** The reply has just been read. */
        void answered(boolean success, int replyBytes) {
            end(this, success ? Outcome.SUCCESS : Outcome.ERROR, replyBytes);
        }

        /** The reply is about to be written: a {@link ByteBuf} or a {@link RpcMessage}. */
        void answered(Object message) {
            ByteBuf reply = contentOf(message);
            look();
            end(this, hasResults(reply) ? Outcome.SUCCESS : Outcome.ERROR, reply.readableBytes());
        }

        /** It has ended without a reply. */
        void failed(Outcome outcome) {
            look();
            end(this, outcome, 0);
        }
    }

    private static ByteBuf contentOf(Object message) {
        return message instanceof RpcMessage whole ? whole.content() : (ByteBuf) message;
    }

    private long look() {
        return nowNanos = listener == null ? 0 : nanoClock.getAsLong();
    }

    /** The channel has read a message. */
    void read() {
        if (!reading) {
            reading = true;
            look();
        }
    }

    void readComplete() {
        reading = false;
    }

    /**
     * A call is about to be written.
     *
     * @param beginNanos a look at the clock which the client has just had
     */
    Call made(PendingCall call, Object message, long beginNanos) {
        nowNanos = beginNanos;
        return begun(new Call(call.request, call.xid, contentOf(message).readableBytes()));
    }

    /** A call has been read. Returns {@code null} if the message is too short for one. */
    Call served(ByteBuf message) {
        return message.readableBytes() < CALL_BYTES ? null : begun(new Call(message));
    }

    private Call begun(Call call) {
        if (listener != null) {
            listener.begun(side);
        }
        return call;
    }

    /** All was done with a call for now. Unless that has ended it, it is lost with the connection. */
    void keep(Call call) {
        if (!call.ended) {
            call.nextKept = kept;
            if (kept != null) {
                kept.previousKept = call;
            }
            kept = call;
        }
    }

    private void dropKept(Call call) {
        if (call == kept) {
            kept = call.nextKept;
        } else if (call.previousKept != null) {
            call.previousKept.nextKept = call.nextKept;
        }
        if (call.nextKept != null) {
            call.nextKept.previousKept = call.previousKept;
        }
    }

    /** The connection has ended. */
    void lose() {
        while (kept != null) {
            kept.failed(Outcome.LOST);
        }
    }

    private static boolean hasResults(ByteBuf reply) {
        int start = reply.readerIndex();
        int length = reply.readableBytes();
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

    private void end(Call call, Outcome outcome, int replyBytes) {
        if (call.ended) { // lost with the connection, and answered now
            return;
        }
        call.ended = true;
        dropKept(call);
        if (listener != null) {
            long elapsedNanos = nowNanos - call.beginNanos;
            // A reply may be here before the transport has told that it has taken the call.
            long queuedNanos = side == Side.SERVER ? 0 : call.queuedNanos >= 0 ? call.queuedNanos
                    : replyBytes > 0 ? 0 : elapsedNanos;
            listener.ended(side, call.program, call.version, call.procedure, outcome, elapsedNanos, queuedNanos, call.bytes,
                    replyBytes);
        }
        RpcCallEvent event = call.event;
        if (event != null && event.shouldCommit()) {
            event.side = side.name();
            event.peer = String.valueOf(channel.remoteAddress());
            event.xid = call.xid;
            event.program = call.program;
            event.version = call.version;
            event.procedure = call.procedure;
            event.outcome = outcome.name();
            event.commit();
        }
    }
}
