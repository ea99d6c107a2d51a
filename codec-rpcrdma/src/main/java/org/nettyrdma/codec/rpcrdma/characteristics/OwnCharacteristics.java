package org.nettyrdma.codec.rpcrdma.characteristics;

import static org.nettyrdma.codec.rpcrdma.header.TransportProperty.RECEIVE_BUFFER_SIZE;

import io.netty.util.concurrent.Promise;
import java.nio.channels.ClosedChannelException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.nettyrdma.channel.RdmaChannelOption;
import org.nettyrdma.codec.rpcrdma.characteristics.CharacteristicChanged.Side;
import org.nettyrdma.codec.rpcrdma.characteristics.CharacteristicPolicy.Decision;
import org.nettyrdma.codec.rpcrdma.header.PropertySet;
import org.nettyrdma.codec.rpcrdma.header.PropertySet.Entry;
import org.nettyrdma.codec.rpcrdma.header.PropertySet.Value;
import org.nettyrdma.codec.rpcrdma.header.TransportProperty;
import org.nettyrdma.peer.PeerLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The properties of this side: what the peer asks for, and what this side changes on its own. Event loop only. */
final class OwnCharacteristics {

    private static final Logger LOGGER = LoggerFactory.getLogger(OwnCharacteristics.class);
    /** Most responses that the peer has not taken; a peer that waits for each has one. */
    private static final int MAX_UNSENT_RESPONSES = 16;

    private final CharacteristicsHandler handler;
    private final Characteristics settings;
    private final PeerCharacteristics peer;
    private final Map<TransportProperty<?>, Change<?>> changes = new HashMap<>();
    private int unsentResponses;
    /** Nothing can be sent any more, and no receives will be replaced: whatever waited for that would wait for ever. */
    private boolean closed;

    OwnCharacteristics(CharacteristicsHandler handler, Characteristics settings, PeerCharacteristics peer) {
        this.handler = handler;
        this.settings = settings;
        this.peer = peer;
    }

    /**
     * A change that is under way, the only one of its property. One that the peer has asked for, and that was pending, is owed an
     * update; an offer of this side is told (xcharext-02, sections 4.3 and 4.4).
     */
    private static final class Change<T> {

        private final TransportProperty<T> property;
        /** The value that the property is going to have, or that the peer would like it to have. */
        private T value;
        /** Whether it is up to the user how it ends. */
        private boolean deferred;
        /** Of an offer; {@code null} where the peer has asked. */
        private final Promise<Void> promise;

        Change(TransportProperty<T> property, T value, boolean deferred, Promise<Void> promise) {
            this.property = property;
            this.value = value;
            this.deferred = deferred;
            this.promise = promise;
        }
    }

    private PropertySet told() {
        return handler.connection().properties();
    }

    // --- What the peer asks for

    void requested(int xid, PropertyRequest request) throws CharacteristicsException {
        if (unsentResponses >= MAX_UNSENT_RESPONSES) {
            throw new CharacteristicsException("more than " + MAX_UNSENT_RESPONSES
                    + " requests of a peer that does not take the responses");
        }
        PropertySubset done = PropertySubset.EMPTY;
        PropertySubset rejected = PropertySubset.EMPTY;
        PropertySubset pending = PropertySubset.EMPTY;
        List<Entry> wanted = request.wanted().entries();
        Set<Integer> seen = new HashSet<>();
        for (int i = 0; i < wanted.size(); i++) {
            // Of several values for one property only the first can be granted.
            ChangeResult result = seen.add(wanted.get(i).id()) && wanted.get(i) instanceof Value<?> value ? change(value)
                    : ChangeResult.REJECTED;
            switch (result) {
                case DONE -> done = done.with(i);
                case REJECTED -> rejected = rejected.with(i);
                case PENDING -> pending = pending.with(i);
            }
        }
        unsentResponses++;
        handler.endUnlessSent(handler.sendResponse(settings.types().response(), xid,
                new PropertyResponse(done, rejected, pending)).addListener(sent -> unsentResponses--));
    }

    private enum ChangeResult { DONE, REJECTED, PENDING }

    private <T> ChangeResult change(Value<T> wanted) {
        TransportProperty<T> property = wanted.property();
        T now = told().get(property);
        if (!told().contains(property) || changes.containsKey(property)) {
            return ChangeResult.REJECTED;
        }
        if (now.equals(wanted.value())) {
            return ChangeResult.DONE;
        }
        if (property.equals(RECEIVE_BUFFER_SIZE) && !settings.isPossibleSize((Long) wanted.value())) {
            return ChangeResult.REJECTED;
        }
        return switch (decide(property, now, wanted.value())) {
            case REJECT -> ChangeResult.REJECTED;
            case DEFER -> {
                owe(property, wanted.value(), true);
                yield ChangeResult.PENDING;
            }
            case ACCEPT -> {
                if (!prepare(property, wanted.value())) {
                    owe(property, wanted.value(), false);
                    yield ChangeResult.PENDING;
                }
                apply(property, wanted.value());
                yield ChangeResult.DONE;
            }
        };
    }

    /** Whatever the policy does, the peer must get its response: without one it asks no more. */
    private <T> Decision decide(TransportProperty<T> property, T now, T wanted) {
        try {
            return Objects.requireNonNull(settings.policy().decide(handler.channel(), property, now, wanted), "decision");
        } catch (RuntimeException | Error e) {
            PeerLog.fault(LOGGER, handler.channel(), "the policy has failed on " + property, e);
            return Decision.REJECT;
        }
    }

    private <T> void owe(TransportProperty<T> property, T value, boolean deferred) {
        changes.put(property, new Change<>(property, value, deferred, null));
    }

    /** Whether a value can be told at once; if not, {@link #replaced} will tell when. */
    private boolean prepare(TransportProperty<?> property, Object value) {
        if (!property.equals(RECEIVE_BUFFER_SIZE)) {
            return true;
        }
        int bytes = (int) (long) (Long) value;
        boolean lower = bytes < told().get(RECEIVE_BUFFER_SIZE);
        // Receives can be larger than the peer has been told.
        if (lower || bytes > handler.channel().receivableBytes()) {
            handler.channel().config().setOption(RdmaChannelOption.RECEIVE_BUFFER_SIZE, bytes);
        }
        return handler.channel().receivableBytes() >= bytes;
    }

    /** All receives have a new size. */
    void replaced(int bytes) {
        Change<?> change = changes.get(RECEIVE_BUFFER_SIZE);
        if (change != null && !change.deferred && change.value.equals((long) bytes)) {
            ready(change);
        }
    }

    private <T> void ready(Change<T> change) {
        if (change.promise != null) {
            tell(change);
            return;
        }
        changes.remove(change.property);
        handler.endUnlessSent(handler.sendRequest(settings.types().update(), handler.nextXid(),
                new PropertyUpdate(new Value<>(change.property, change.value), true)));
        apply(change.property, change.value);
    }

    <T> void settle(TransportProperty<T> property, T value, Promise<Void> promise) {
        if (closed) {
            promise.tryFailure(new ClosedChannelException());
            return;
        }
        Change<?> found = changes.get(property);
        if (found == null || !found.deferred) {
            promise.tryFailure(new IllegalStateException("no request for " + property + " is deferred"));
            return;
        }
        @SuppressWarnings("unchecked") // equal properties have the same type of values
        Change<T> change = (Change<T>) found;
        try {
            requireEnd(change, value);
        } catch (RuntimeException | Error e) {
            promise.tryFailure(e);
            return;
        }
        change.value = value;
        change.deferred = false;
        if (told().get(property).equals(value) || prepare(property, value)) {
            ready(change);
        }
        promise.trySuccess(null);
    }

    private <T> void requireEnd(Change<T> change, T value) {
        if (change.property.equals(RECEIVE_BUFFER_SIZE) && !isBetween((Long) value, (Long) change.value)) {
            throw new IllegalArgumentException(change.property + ": " + value + " (expected: from "
                    + told().get(change.property) + " to " + change.value + ')');
        }
        // An update that can be long goes out at once, while the peer has the receives that it has told.
        requireFits(change.property, value, handler.connection().terms().sendBytes());
    }

    private <T> void requireFits(TransportProperty<T> property, T value, int receiveBytes) {
        CharacteristicsMessageTypes.requireFits(settings.types().update(),
                new PropertyUpdate(new Value<>(property, value), true), receiveBytes);
    }

    private boolean isBetween(long value, long wanted) {
        long now = told().get(RECEIVE_BUFFER_SIZE);
        return value >= Math.min(now, wanted) && value <= Math.max(now, wanted);
    }

    // --- What this side changes

    <T> void offer(TransportProperty<T> property, T value, Promise<Void> promise) {
        if (closed) {
            promise.tryFailure(new ClosedChannelException());
            return;
        }
        try {
            requirePossible(property, value);
            peer.requireSupport();
        } catch (CharacteristicsException | RuntimeException | Error e) {
            promise.tryFailure(e);
            return;
        }
        if (changes.containsKey(property)) {
            promise.tryFailure(new CharacteristicsException("a change of " + property + " is under way"));
            return;
        }
        Change<T> change = new Change<>(property, value, false, promise);
        changes.put(property, change);
        if (prepare(property, value)) {
            ready(change);
        }
    }

    private <T> void requirePossible(TransportProperty<T> property, T value) {
        if (!told().contains(property)) {
            throw new IllegalArgumentException(property + " was not told to the peer (version-two-08, section 5.3.4)");
        }
        if (property.equals(RECEIVE_BUFFER_SIZE)
                && ((Long) value <= told().get(RECEIVE_BUFFER_SIZE) || !settings.isPossibleSize((Long) value))) {
            throw new IllegalArgumentException(property + ": " + value + " (expected: more than "
                    + told().get(RECEIVE_BUFFER_SIZE) + ", and within Characteristics.receiveBufferBytes of this side)");
        }
        requireFits(property, value, Characteristics.LEAST_RECEIVE_BUFFER_BYTES); // an offer may wait behind a lower size
    }

    private <T> void tell(Change<T> change) {
        Promise<Outcome> known = handler.context().executor().newPromise();
        known.addListener(done -> {
            changes.remove(change.property);
            if (done.isSuccess()) {
                apply(change.property, change.value);
                change.promise.trySuccess(null);
            } else {
                change.promise.tryFailure(done.cause());
            }
        });
        peer.announce(new PropertyUpdate(new Value<>(change.property, change.value), false), known);
    }

    /** Both sides know the value. */
    private <T> void apply(TransportProperty<T> property, T value) {
        T earlier = told().get(property);
        if (!earlier.equals(value)) {
            handler.connection().properties(PropertyReplacement.replace(told(), property, value));
            handler.context().fireUserEventTriggered(new CharacteristicChanged<>(Side.OWN, property, earlier, value));
        }
    }

    void close() {
        closed = true;
        List<Change<?>> unfinished = List.copyOf(changes.values());
        changes.clear();
        for (Change<?> change : unfinished) {
            if (change.promise != null) {
                change.promise.tryFailure(new ClosedChannelException());
            }
        }
    }
}
