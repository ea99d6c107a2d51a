package org.nettyrdma.codec.rpcrdma.characteristics;

import static io.netty.util.internal.ObjectUtil.checkInRange;
import static io.netty.util.internal.ObjectUtil.checkPositive;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelPipeline;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.codec.rpcrdma.PropertySet;
import org.nettyrdma.codec.rpcrdma.RpcRdmaExtensions;
import org.nettyrdma.codec.rpcrdma.TransportProperty;
import org.nettyrdma.codec.rpcrdma.XdrType;
import org.nettyrdma.handler.credit.CreditGate;

/**
 * The extension as it is put into connections; see the package. Immutable, one instance serves any number of connections. Both
 * {@link #extensions} and {@link #install} must be given to {@link org.nettyrdma.codec.rpcrdma.RpcRdma.Builder}. On connections
 * of version 1 it does nothing.
 */
public final class Characteristics {

    /**
     * Requester Remote Invalidation (xcharext-02, section 3.2): whether the sender copes with replies by Send with Invalidate.
     * Default {@code false}. Its id is 0xFFFFFF02, from the experimental range (section 6.2), since version-two-08 has given id 2
     * to another property; only peers that have agreed on that number understand each other. Nothing here acts on it:
     * version-two-08 names in each call what may be invalidated. Register it with {@link Builder#property}.
     */
    public static final TransportProperty<Boolean> REQUESTER_REMOTE_INVALIDATION =
            new TransportProperty<>(0xFFFFFF02, "Requester Remote Invalidation", false, new Bool());

    /** Least Receive Buffer Size that can be agreed on: what every peer of version 2 may send before it knows anything. */
    static final int LEAST_RECEIVE_BUFFER_BYTES = 1024;

    private final CharacteristicPolicy policy;
    private final int minReceiveBufferBytes;
    private final int maxReceiveBufferBytes;
    private final int responseTimeoutMillis;
    private final MessageTypes types;
    private final RpcRdmaExtensions extensions;

    private Characteristics(Builder builder) {
        policy = builder.policy;
        minReceiveBufferBytes = builder.minReceiveBufferBytes;
        maxReceiveBufferBytes = builder.maxReceiveBufferBytes;
        responseTimeoutMillis = builder.responseTimeoutMillis;
        types = MessageTypes.of(builder.withProperties().build().propertySets());
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
     * What has to be understood of version 2 for this.
     *
     * @return the header types, and the properties that were added
     */
    public RpcRdmaExtensions extensions() {
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

    MessageTypes types() {
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
         * Sets what decides on requests; the default is {@link CharacteristicPolicy#RECEIVE_BUFFER_SIZE_ONLY}.
         *
         * @param newPolicy the policy
         * @return this
         */
        public Builder policy(CharacteristicPolicy newPolicy) {
            policy = Objects.requireNonNull(newPolicy, "newPolicy");
            return this;
        }

        /**
         * Adds a property beside those of the base protocol, as {@link RpcRdmaExtensions.Builder#property} does. To be changed it
         * must be among what this side tells ({@link org.nettyrdma.codec.rpcrdma.RpcRdmaConnection#properties(PropertySet)}).
         *
         * @param property the property
         * @return this
         */
        public Builder property(TransportProperty<?> property) {
            properties.add(Objects.requireNonNull(property, "property"));
            return this;
        }

        private RpcRdmaExtensions.Builder withProperties() {
            RpcRdmaExtensions.Builder with = RpcRdmaExtensions.builder();
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
            checkInRange(min, LEAST_RECEIVE_BUFFER_BYTES, 1 << 20, "min");
            maxReceiveBufferBytes = checkInRange(max, min, 1 << 20, "max");
            minReceiveBufferBytes = min;
            return this;
        }

        /**
         * Sets how long to wait for the response to a request. A client that does not have the extension cannot say so, as
         * only servers send errors, so this is how a server finds out. No request is made on that connection from then on.
         *
         * @param millis in milliseconds, at least 1; default 10000
         * @return this
         * @throws IllegalArgumentException if it is not positive
         */
        public Builder responseTimeoutMillis(int millis) {
            responseTimeoutMillis = checkPositive(millis, "millis");
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
