package org.nettyrdma.codec.rpcrdma.characteristics;

import static org.nettyrdma.codec.rpcrdma.header.TransportProperty.RECEIVE_BUFFER_SIZE;

import org.nettyrdma.codec.rpcrdma.ConnectionTerms;
import org.nettyrdma.codec.rpcrdma.characteristics.CharacteristicChanged.Side;
import org.nettyrdma.codec.rpcrdma.header.PropertySet;
import org.nettyrdma.codec.rpcrdma.header.PropertySet.Value;
import org.nettyrdma.codec.rpcrdma.header.TransportProperty;

/**
 * The values of the peer's properties. Its Receive Buffer Size may be kept below what it has told: from a request for a lower
 * one on, this side sends no more than it has asked for. Event loop only.
 */
final class PeerValues {

    private static final long NO_CEILING = Long.MAX_VALUE;

    private final CharacteristicsHandler handler;
    /** The Receive Buffer Size that the peer has told, see {@link #toldBytes()}. */
    private long toldBytes = RECEIVE_BUFFER_SIZE.defaultValue();
    /** The properties of the peer as this has left them; another object is what the peer has told since. */
    private PropertySet known = PropertySet.EMPTY;
    /** What this side keeps to since it has asked for less. */
    private long ceilingBytes = NO_CEILING;

    PeerValues(CharacteristicsHandler handler) {
        this.handler = handler;
    }

    /** What this side keeps to. */
    PropertySet all() {
        return handler.connection().terms().peerProperties();
    }

    /** What the peer has told of one. */
    Object told(TransportProperty<?> property) {
        long bytes = toldBytes(); // first, as what follows is newer
        return property.equals(RECEIVE_BUFFER_SIZE) ? (Object) bytes : all().get(property);
    }

    /** Also by an RDMA2_CONNPROP with the size that this side keeps to already, which is no new {@link ConnectionTerms}. */
    private long toldBytes() {
        PropertySet now = all();
        if (now != known) {
            known = now;
            toldBytes = now.get(RECEIVE_BUFFER_SIZE);
        }
        return toldBytes;
    }

    /** This side is about to ask for a value. */
    void wanted(Value<?> value) {
        if (value.property().equals(RECEIVE_BUFFER_SIZE) && (Long) value.value() < toldBytes()) {
            ceilingBytes = Math.max((Long) value.value(), Characteristics.LEAST_RECEIVE_BUFFER_BYTES);
            applySize();
        }
    }

    /** Whether this side keeps below what the peer has told. */
    boolean isCeilingLow() {
        return ceilingBytes != NO_CEILING;
    }

    /** The peer has told a value without a request for it, or while one is pending. */
    <T> void changed(Value<T> now) {
        Object earlier = told(now.property());
        if (now.property().equals(RECEIVE_BUFFER_SIZE)) {
            toldBytes = (Long) now.value();
            applySize();
        } else {
            replace(now.property(), now.value());
        }
        if (!earlier.equals(now.value())) {
            @SuppressWarnings("unchecked") // a value of the same property
            T before = (T) earlier;
            handler.context().fireUserEventTriggered(new CharacteristicChanged<>(Side.PEER, now.property(), before, now.value()));
        }
    }

    /** A request has ended with this value. */
    void settled(Value<?> now) {
        removeCeiling(now.property()); // not applied yet: what the peer has told before may be more than the new value
        changed(now);
    }

    /** A request has ended without a change: what the peer has told before holds again. */
    void unsettled(TransportProperty<?> property) {
        removeCeiling(property);
        applySize();
    }

    private void removeCeiling(TransportProperty<?> property) {
        if (property.equals(RECEIVE_BUFFER_SIZE)) {
            ceilingBytes = NO_CEILING;
        }
    }

    /** Lets this side send as much as the peer has told, and no more than it has been asked to lower that to. */
    void applySize() {
        long bytes = Math.min(toldBytes(), ceilingBytes);
        if (all().get(RECEIVE_BUFFER_SIZE) != bytes) {
            replace(RECEIVE_BUFFER_SIZE, bytes);
        }
    }

    private <T> void replace(TransportProperty<T> property, T value) {
        known = PropertyReplacement.replace(all(), property, value);
        handler.connection().peerProperties(known);
    }
}
