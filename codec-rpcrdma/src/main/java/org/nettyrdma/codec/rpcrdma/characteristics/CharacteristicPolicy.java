package org.nettyrdma.codec.rpcrdma.characteristics;

import io.netty.channel.Channel;
import org.nettyrdma.codec.rpcrdma.header.TransportProperty;

/**
 * Decides which changes of properties of this side are granted to peers that ask (xcharext-02, section 3: "peers MAY reject a
 * request to change a characteristic for any reason"). One instance serves any number of connections at once.
 *
 * <p>The policy is asked about properties that this side has told the peer, about values other than the present one, and while no
 * other change of the property is under way. All other requests are rejected without asking. A Receive Buffer Size is within the
 * bounds of {@link Characteristics.Builder#receiveBufferBytes}.
 */
public interface CharacteristicPolicy {

    /** Grants any Receive Buffer Size that is within the bounds, and nothing else. */
    CharacteristicPolicy RECEIVE_BUFFER_SIZE_ONLY = new CharacteristicPolicy() {
        @Override
        public <T> Decision decide(Channel channel, TransportProperty<T> property, T now, T wanted) {
            return property.equals(TransportProperty.RECEIVE_BUFFER_SIZE) ? Decision.ACCEPT : Decision.REJECT;
        }
    };

    /** Grants nothing. */
    CharacteristicPolicy NOTHING = new CharacteristicPolicy() {
        @Override
        public <T> Decision decide(Channel channel, TransportProperty<T> property, T now, T wanted) {
            return Decision.REJECT;
        }
    };

    /** What becomes of a request. */
    enum Decision {
        /**
         * The change is made. A change of the Receive Buffer Size is made by the codec, and may be pending for a time. A change
         * of another property holds when this is returned, and {@link CharacteristicChanged} is fired.
         */
        ACCEPT,
        /** The change is not made. */
        REJECT,
        /** The request is pending until {@link CharacteristicsHandler#settle} is called for it. */
        DEFER
    }

    /**
     * Decides on a request. Called on the event loop, where it must not block. If it throws, or returns {@code null}, the request
     * is rejected, and a line in the log tells why.
     *
     * @param <T>      what a value of the property is
     * @param channel  the connection
     * @param property the property of this side
     * @param now      its value
     * @param wanted   the value that the peer would like it to have
     * @return the decision
     */
    <T> Decision decide(Channel channel, TransportProperty<T> property, T now, T wanted);
}
