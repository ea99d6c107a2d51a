package org.nettyrdma.codec.rpcrdma.characteristics;

import static io.netty.util.internal.ObjectUtil.checkInRange;
import static io.netty.util.internal.ObjectUtil.checkPositive;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelPipeline;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.codec.rpcrdma.header.HeaderExtensions;
import org.nettyrdma.codec.rpcrdma.header.PropertySet;
import org.nettyrdma.codec.rpcrdma.header.TransportProperty;
import org.nettyrdma.codec.rpcrdma.header.XdrType;
import org.nettyrdma.handler.credit.CreditGate;

/**
 * The configuration of the extension; see the package. Immutable. One instance serves any number of connections. Both
 * {@link #extensions} and {@link #install} must be given to {@link org.nettyrdma.codec.rpcrdma.RpcRdmaBuilder}. On connections
 * of version 1 it does nothing.
 */
public final class Characteristics {

    /**
     * Requester Remote Invalidation (xcharext-02, section 3.2): whether the sender accepts replies by Send with Invalidate.
     * Default {@code false}. Its id is 0xFFFFFF02, from the experimental range (section 6.2), since version-two-08 has given id 2
     * to another property; only peers that have agreed on that number understand each other. This library does not act on it: in
     * version-two-08 each call names the handle that may be invalidated. Register it with {@link Builder#property}.
     */
    public static final TransportProperty<Boolean> REQUESTER_REMOTE_INVALIDATION =
            new TransportProperty<>(0xFFFFFF02, "Requester Remote Invalidation", false, new Bool());

    /**
     * Least Receive Buffer Size that can be agreed on, in bytes: every peer of version 2 may send messages of this size before it
     * knows the properties of this side.
     */
    static final int LEAST_RECEIVE_BUFFER_BYTES = 1024;

    private final CharacteristicPolicy policy;
    private final int minReceiveBufferBytes;
    private final int maxReceiveBufferBytes;
    private final int responseTimeoutMillis;
    private final CharacteristicsMessageTypes types;
    private final HeaderExtensions extensions;

    private Characteristics(Builder builder) {
        policy = builder.policy;
        minReceiveBufferBytes = builder.minReceiveBufferBytes;
        maxReceiveBufferBytes = builder.maxReceiveBufferBytes;
        responseTimeoutMillis = builder.responseTimeoutMillis;
        types = CharacteristicsMessageTypes.of(builder.withProperties().build().propertySets());
        extensions = builder.withProperties().headerType(types.request()).headerType(types.response())
                .headerType(types.update()).build();
    }

    /**
     * Starts with the defaults.
     *
     * @return a builder
     */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * The extensions of version 2 that this needs.
     *
     * @return the header types, and the properties that were added
     */
    public HeaderExtensions extensions() {
        return extensions;
    }

    /**
     * Adds a {@link CharacteristicsHandler} to a connection.
     *
     * @param pipeline a pipeline with a {@link CreditGate}, before which the handler goes
     */
    public void install(ChannelPipeline pipeline) {
        pipeline.addBefore(pipeline.context(CreditGate.class).name(), null, new CharacteristicsHandler(this));
    }

    CharacteristicPolicy policy() {
        return policy;
    }

    CharacteristicsMessageTypes types() {
        return types;
    }

    int responseTimeoutMillis() {
        return responseTimeoutMillis;
    }

    /** Whether this side may have receives of such a size. */
    boolean isPossibleSize(long bytes) {
        return bytes >= minReceiveBufferBytes && bytes <= maxReceiveBufferBytes;
    }

    /** Says what to do. Not thread safe. */
    public static final class Builder {

        private final List<TransportProperty<?>> properties = new ArrayList<>();
        private CharacteristicPolicy policy = CharacteristicPolicy.RECEIVE_BUFFER_SIZE_ONLY;
        private int minReceiveBufferBytes = LEAST_RECEIVE_BUFFER_BYTES;
        private int maxReceiveBufferBytes = 65_536;
        private int responseTimeoutMillis = 10_000;

        private Builder() {
        }

        /**
         * Sets the policy that decides on requests; the default is {@link CharacteristicPolicy#RECEIVE_BUFFER_SIZE_ONLY}.
         *
         * @param newPolicy the policy
         * @return this
         */
        public Builder policy(CharacteristicPolicy newPolicy) {
            policy = Objects.requireNonNull(newPolicy, "newPolicy");
            return this;
        }

        /**
         * Adds a property beside those of the base protocol, as {@link HeaderExtensions.Builder#property} does. A peer can ask to
         * change only properties that this side has told
         * ({@link org.nettyrdma.codec.rpcrdma.RpcRdmaConnection#properties(PropertySet)}).
         *
         * @param property the property
         * @return this
         */
        public Builder property(TransportProperty<?> property) {
            properties.add(Objects.requireNonNull(property, "property"));
            return this;
        }

        private HeaderExtensions.Builder withProperties() {
            HeaderExtensions.Builder with = HeaderExtensions.builder();
            properties.forEach(with::property);
            return with;
        }

        /**
         * Sets the bounds of this side's Receive Buffer Size. A channel may come to hold its
         * {@link org.nettyrdma.channel.RdmaChannelOption#RECEIVE_QUEUE_DEPTH} times the larger one.
         *
         * @param min least size that a peer gets, in bytes, 1024 or more; default 1024
         * @param max largest size that a peer gets, in bytes, {@code min} to 1048576; default 65536
         * @return this
         * @throws IllegalArgumentException if one is out of its range
         */
        public Builder receiveBufferBytes(int min, int max) {
            checkInRange(min, LEAST_RECEIVE_BUFFER_BYTES, 1 << 20, "minReceiveBufferBytes");
            maxReceiveBufferBytes = checkInRange(max, min, 1 << 20, "maxReceiveBufferBytes");
            minReceiveBufferBytes = min;
            return this;
        }

        /**
         * Sets how long to wait for the response to a request. A server without calls to its clients takes no errors. So it finds
         * out by this time-out that a client lacks the extension. From then on no request is made on that connection.
         *
         * @param millis in milliseconds, at least 1; default 10000
         * @return this
         * @throws IllegalArgumentException if it is not positive
         */
        public Builder responseTimeoutMillis(int millis) {
            responseTimeoutMillis = checkPositive(millis, "responseTimeoutMillis");
            return this;
        }

        /**
         * Makes the extension.
         *
         * @return the extension
         * @throws IllegalArgumentException if two properties have one id
         */
        public Characteristics build() {
            return new Characteristics(this);
        }
    }

    private static final class Bool implements XdrType<Boolean> {

        @Override
        public Boolean read(ByteBuf in) {
            return Xdr.readBoolean(in, "bool");
        }

        @Override
        public int lengthOf(Boolean value) {
            return Integer.BYTES;
        }

        @Override
        public void write(Boolean value, ByteBuf out) {
            Xdr.writeBoolean(out, value);
        }
    }
}
