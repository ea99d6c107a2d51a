package org.nettyrdma.codec.rpcrdma.characteristics;

import org.nettyrdma.codec.rpcrdma.header.TransportProperty;

/**
 * User event: a property of one side has a new value, and both sides know it. Fired on the event loop.
 *
 * @param <T>      what a value of the property is
 * @param side     whose property it is
 * @param property the property
 * @param earlier  the value that it had
 * @param now      the value that it has
 */
public record CharacteristicChanged<T>(Side side, TransportProperty<T> property, T earlier, T now) {

    /** The two ends of a connection. */
    public enum Side {
        /** This one. */
        OWN,
        /** The other one. */
        PEER
    }
}
