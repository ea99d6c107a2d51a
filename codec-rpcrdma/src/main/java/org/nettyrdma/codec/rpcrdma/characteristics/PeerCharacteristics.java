package org.nettyrdma.codec.rpcrdma.characteristics;

import static org.nettyrdma.codec.rpcrdma.header.TransportProperty.RECEIVE_BUFFER_SIZE;

import io.netty.util.concurrent.Promise;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.codec.rpcrdma.ConnectionTerms;
import org.nettyrdma.codec.rpcrdma.characteristics.Outcome.Disposition;
import org.nettyrdma.codec.rpcrdma.header.PropertySet;
import org.nettyrdma.codec.rpcrdma.header.PropertySet.Entry;
import org.nettyrdma.codec.rpcrdma.header.PropertySet.Value;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaError;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaVersion;
import org.nettyrdma.codec.rpcrdma.header.TransportProperty;

/** The properties of the peer: what this side asks for, and what the peer says about it. Event loop only. */
final class PeerCharacteristics {

    private static final int MAX_WAITING = 16;

    /** Whether the peer has the extension. */
    private enum Support {
        /** It may. */
        UNKNOWN,
        /** It has said no, which rejects every request (xcharext-02, section 3). */
        ABSENT,
        /** It has not answered a request. It may still do so, and then nobody cares. */
        SILENT
    }

    private final CharacteristicsHandler handler;
    private final Characteristics settings;
    private final PeerValues values;
    private final ArrayDeque<Exchange> waiting = new ArrayDeque<>();
    /** The requests of which a value is pending, by property. */
    private final Map<TransportProperty<?>, Exchange> pending = new HashMap<>();
    /** Sent, and without a response; {@code null} if there is none. */
    private Exchange current;
    private int requestXid;
    private int updateXid;
    private Future<?> timeout;
    private Support support = Support.UNKNOWN;
    private boolean closed;

    PeerCharacteristics(CharacteristicsHandler handler, Characteristics settings, PeerValues values) {
        this.handler = handler;
        this.settings = settings;
        this.values = values;
    }

    // --- What this side asks for

    void ask(PropertySet wanted, Promise<Outcome> promise) {
        if (closed) { // ahead of what else may be wrong: what was asked for before is never going to end
            promise.tryFailure(new ClosedChannelException());
            return;
        }
        try {
            requireSendable(wanted);
            for (Entry entry : wanted.entries()) {
                requireNotAsked(((Value<?>) entry).property());
            }
            enqueue(new Exchange(wanted, null, promise));
        } catch (CharacteristicsException | RuntimeException | Error e) { // also what the type of a value throws
            promise.tryFailure(e);
        }
    }

    private void requireNotAsked(TransportProperty<?> property) throws CharacteristicsException {
        if (pending.containsKey(property) || current != null && current.asksFor(property)
                || waiting.stream().anyMatch(exchange -> exchange.asksFor(property))) {
            throw new CharacteristicsException("a request for " + property + " is on its way or pending");
        }
    }

    private void requireSendable(PropertySet wanted) throws CharacteristicsException {
        Set<Integer> ids = new HashSet<>();
        for (Entry entry : wanted.entries()) {
            if (!ids.add(entry.id())) {
                throw new IllegalArgumentException("two values of property " + Integer.toUnsignedString(entry.id()));
            }
        }
        CharacteristicsMessageTypes.requireFits(settings.types().request(), new PropertyRequest(wanted),
                Characteristics.LEAST_RECEIVE_BUFFER_BYTES); // a request may wait behind one for a lower size
        PropertySet told = values.all();
        for (Entry entry : wanted.entries()) {
            if (!told.entries().isEmpty() && !told.contains(((Value<?>) entry).property())) {
                throw new CharacteristicsException("the peer has not told " + ((Value<?>) entry).property()
                        + ", so it cannot change (version-two-08, section 5.3.4)");
            }
        }
    }

    /** Tells a change of this side, and then asks for nothing: the response shows that the peer knows. */
    void announce(PropertyUpdate update, Promise<Outcome> promise) {
        enqueue(new Exchange(PropertySet.EMPTY, update, promise));
    }

    private void enqueue(Exchange exchange) {
        if (closed) {
            exchange.promise().tryFailure(new ClosedChannelException());
        } else if (support != Support.UNKNOWN) {
            finishUnsent(exchange);
        } else if (waiting.size() >= MAX_WAITING) {
            exchange.promise().tryFailure(new CharacteristicsException(MAX_WAITING + " requests wait, which is the limit"));
        } else {
            waiting.add(exchange);
            proceed();
        }
    }

    private void finishUnsent(Exchange exchange) {
        if (support == Support.ABSENT && exchange.update() == null) {
            exchange.rejected();
            exchange.finish(values.all());
        } else {
            exchange.promise().tryFailure(unsupported());
        }
    }

    private CharacteristicsException unsupported() {
        return new CharacteristicsException(support == Support.ABSENT ? "the peer does not have the extension"
                : "the peer does not answer requests");
    }

    /** Whether there is any sense in telling the peer something; if not, why. */
    void requireSupport() throws CharacteristicsException {
        if (support != Support.UNKNOWN) {
            throw unsupported();
        }
    }

    /** Sends the next request if it is its time. */
    void proceed() {
        if (closed || current != null || waiting.isEmpty()) {
            return;
        }
        ConnectionTerms terms = handler.connection().terms();
        if (!handler.channel().isActive() || !terms.agreed()) {
            return;
        }
        if (terms.version() != RpcRdmaVersion.TWO) {
            failWaiting(new CharacteristicsException(
                    "the connection speaks version 1 (expected: 2, by RpcRdmaBuilder.versions)"));
            return;
        }
        waiting.peek().wanted().forEach(values::wanted);
        // What waits above was planned with the size before; it must go first (xcharext-02, section 3.1).
        if (!values.isCeilingLow() || handler.channel().isWritable()) {
            send(waiting.poll());
        }
    }

    private void send(Exchange exchange) {
        current = exchange;
        try {
            timeout = handler.context().executor().schedule(this::timedOut, settings.responseTimeoutMillis(),
                    TimeUnit.MILLISECONDS);
            write(exchange);
        } catch (RuntimeException | Error e) { // no memory for the timer, for instance: the peer is not to blame
            if (current == exchange) {
                notSent(e);
            }
        }
    }

    private void write(Exchange exchange) {
        if (exchange.update() != null) {
            updateXid = handler.nextXid();
            handler.sendRequest(settings.types().update(), updateXid, exchange.update()).addListener(write -> {
                if (!write.isSuccess()) {
                    exchange.untold(write.cause()); // the response to what follows says nothing about it
                }
            });
        }
        requestXid = handler.nextXid();
        handler.sendRequest(settings.types().request(), requestXid, new PropertyRequest(new PropertySet(
                List.copyOf(exchange.wanted())))).addListener(write -> {
                    if (!write.isSuccess() && current == exchange) {
                        notSent(write.cause());
                    }
                });
    }

    /** The peer has not seen the current request. */
    private void notSent(Throwable cause) {
        current.wanted().forEach(value -> values.unsettled(value.property()));
        giveUp(cause);
        proceed();
    }

    private void timedOut() {
        // Ceiling and all: nobody knows whether the peer has received it.
        support = Support.SILENT;
        giveUp(new CharacteristicsException("no response to a request within " + settings.responseTimeoutMillis() + " ms"));
    }

    // --- What the peer says about it

    void responded(int xid, PropertyResponse response) throws CharacteristicsException {
        if (support != Support.UNKNOWN) {
            return;
        }
        if (current == null || xid != requestXid) {
            throw new CharacteristicsException(String.format("response %08x to no request", xid));
        }
        requirePartition(response, current.wanted().size());
        Exchange exchange = takeCurrent();
        try {
            for (int i = 0; i < exchange.wanted().size(); i++) {
                settle(exchange, i, response);
            }
            exchange.finish(values.all());
        } catch (RuntimeException | Error e) { // no memory to note what is pending, for instance
            exchange.promise().tryFailure(e);
            throw e;
        } finally {
            proceed();
        }
    }

    private Exchange takeCurrent() {
        Exchange exchange = current;
        current = null;
        if (timeout != null) {
            timeout.cancel(false);
            timeout = null;
        }
        return exchange;
    }

    private static void requirePartition(PropertyResponse response, int size) throws CharacteristicsException {
        int end = Math.max(response.done().end(), Math.max(response.rejected().end(), response.pending().end()));
        if (end > size) {
            throw new CharacteristicsException("response with bit " + (end - 1) + " to a request with " + size + " values");
        }
        for (int i = 0; i < size; i++) {
            int subsets = (response.done().contains(i) ? 1 : 0) + (response.rejected().contains(i) ? 1 : 0)
                    + (response.pending().contains(i) ? 1 : 0);
            if (subsets != 1) {
                throw new CharacteristicsException("response with value " + i + " in " + subsets + " subsets (expected: 1)");
            }
        }
    }

    private void settle(Exchange exchange, int position, PropertyResponse response) {
        Value<?> wanted = exchange.wanted().get(position);
        TransportProperty<?> property = wanted.property();
        if (response.pending().contains(position)) {
            exchange.deferred(position, values.told(property));
            pending.put(property, exchange);
            return;
        }
        boolean done = response.done().contains(position);
        exchange.settled(position, done ? Disposition.DONE : Disposition.REJECTED);
        if (done) {
            values.settled(wanted);
        } else {
            values.unsettled(property);
        }
    }

    void updated(PropertyUpdate update) throws CharacteristicsException {
        if (!(update.now() instanceof Value<?> now)) {
            if (update.pendingCleared()) {
                throw new CharacteristicsException("update with rdma_pendclr of property "
                        + Integer.toUnsignedString(update.now().id()) + ", which nobody has asked for");
            }
            return;
        }
        TransportProperty<?> property = now.property();
        if (property.equals(RECEIVE_BUFFER_SIZE) && (Long) now.value() < Characteristics.LEAST_RECEIVE_BUFFER_BYTES) {
            throw new CharacteristicsException(property + ": " + now.value() + " (expected: at least "
                    + Characteristics.LEAST_RECEIVE_BUFFER_BYTES + ')');
        }
        if (!update.pendingCleared() || support != Support.UNKNOWN) {
            values.changed(now);
            return;
        }
        Exchange exchange = pending.get(property);
        if (exchange == null) {
            throw new CharacteristicsException("update with rdma_pendclr without a pending request");
        }
        values.settled(now);
        pending.remove(property);
        exchange.completed(property, now.value());
        exchange.finish(values.all());
    }

    /** Whether an error is the answer to a message of this handler; then it is dealt with. */
    boolean refused(int xid, RpcRdmaError error) {
        if (xid == 0 || xid != requestXid && xid != updateXid) { // before there is any, both are 0
            return false;
        }
        boolean absent = error instanceof RpcRdmaError.InvalidHeaderType;
        if (current == null) {
            return absent; // of a call with the same XID the peer would not say so
        }
        if (xid != requestXid && !absent) { // what was sent behind the update is still answered
            current.untold(new CharacteristicsException("refused with " + error));
            return true;
        }
        current.wanted().forEach(value -> values.unsettled(value.property()));
        if (absent) {
            support = Support.ABSENT;
        }
        giveUp(new CharacteristicsException("refused with " + error));
        proceed();
        return true;
    }

    /** There is no response to the current request, and in most cases not to the next ones either. */
    private void giveUp(Throwable cause) {
        Exchange exchange = takeCurrent();
        if (support == Support.ABSENT) {
            finishUnsent(exchange);
        } else {
            exchange.promise().tryFailure(cause);
        }
        if (support != Support.UNKNOWN) {
            while (!waiting.isEmpty()) {
                finishUnsent(waiting.poll());
            }
            pending.values().forEach(other -> other.promise().tryFailure(cause));
            pending.clear();
        }
    }

    void close() {
        if (closed) {
            return;
        }
        closed = true;
        ClosedChannelException cause = new ClosedChannelException();
        if (current != null) {
            takeCurrent().promise().tryFailure(cause);
        }
        failWaiting(cause);
        pending.values().forEach(exchange -> exchange.promise().tryFailure(cause));
    }

    private void failWaiting(Throwable cause) {
        while (!waiting.isEmpty()) {
            waiting.poll().promise().tryFailure(cause);
        }
    }
}
