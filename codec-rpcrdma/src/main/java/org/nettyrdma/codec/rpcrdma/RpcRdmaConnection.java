package org.nettyrdma.codec.rpcrdma;

import io.netty.channel.Channel;
import io.netty.util.AttributeKey;
import org.nettyrdma.channel.RdmaChannel;

/**
 * What one connection has settled so far: its version, how large a Send may be, and what the sides have told each other about
 * themselves. The handlers of the connection share it, and change it on the event loop; {@link RpcRdma#connection} gives it to
 * the application.
 *
 * <p>Each change is a new {@link ConnectionTerms}, which is fired through the pipeline as a user event.
 *
 * <h2>Sizes in version 2</h2>
 * Until the server has sent a message of version 2, a client sends no more than {@value #FIRST_MESSAGE_BYTES} bytes at once
 * (version-two-08, section 7). From then on {@value #DEFAULT_BUFFER_BYTES} bytes hold in each direction, until RDMA2_CONNPROP
 * tells the receiver's Receive Buffer Size, and always no more than {@link RpcRdmaLimits#inlineThresholdBytes()} of this side.
 * What the connection private data said (RFC 8797) holds for version 1 only. A later RDMA2_CONNPROP replaces the earlier one; a
 * smaller size in it holds for what is planned from then on. A size that no message fits into is taken as it is: calls then fail
 * as too large.
 */
public final class RpcRdmaConnection {

    /** Largest message before it is known that the peer speaks version 2. */
    static final int FIRST_MESSAGE_BYTES = 1024;
    /** Receive Buffer Size of a peer of version 2 that has not told another one. */
    static final int DEFAULT_BUFFER_BYTES = 4096;

    private static final AttributeKey<RpcRdmaConnection> KEY = AttributeKey.valueOf(RpcRdmaConnection.class, "CONNECTION");

    private final RdmaChannel channel;
    private final VersionPolicy policy;
    private final RpcRdmaPrivateData privateData;
    private final int maxSendBytes;
    private PropertySet properties;
    private boolean propertiesSent;
    private PropertySet peerProperties = PropertySet.EMPTY;
    private RpcRdmaVersion version;
    private boolean agreed;
    /** Set by the Connection Configuration Protocol, 0 if not. */
    private int configuredSendBytes;
    private volatile ConnectionTerms terms;

    /**
     * @param server      whether the peer makes the calls
     * @param privateData what this side has told while connecting
     * @param own         the limits of this side, as far as the channel's receives allow
     * @param properties  what this side tells the peer in version 2
     */
    RpcRdmaConnection(RdmaChannel channel, boolean server, VersionPolicy policy, RpcRdmaPrivateData privateData,
                      RpcRdmaLimits own, PropertySet properties) {
        this.channel = channel;
        this.policy = policy;
        this.privateData = privateData;
        this.maxSendBytes = own.inlineThresholdBytes();
        this.properties = properties;
        version = policy == VersionPolicy.V2_ONLY || policy == VersionPolicy.PREFER_V2 && !server ? RpcRdmaVersion.TWO
                : RpcRdmaVersion.ONE;
        agreed = policy == VersionPolicy.V1_ONLY;
        channel.attr(KEY).set(this);
    }

    static RpcRdmaConnection of(Channel channel) {
        return channel.attr(KEY).get();
    }

    /**
     * What holds now. Any thread.
     *
     * @return the terms; of a channel that is not connected yet they are not meaningful
     */
    public ConnectionTerms terms() {
        ConnectionTerms known = terms;
        if (known == null) { // a connect future completes, and calls may be written, before channelActive is fired
            known = computeTerms();
            if (channel.isActive() && channel.eventLoop().inEventLoop()) {
                terms = known;
            }
        }
        return known;
    }

    /** Whether the version is settled for good. */
    boolean isAgreed() {
        return agreed;
    }

    /** Whether a client may go on in version 1 where its server does not speak version 2. */
    boolean isFallbackPossible() {
        return policy.speaks(RpcRdmaVersion.ONE);
    }

    /** The version that calls are sent in, as far as it is known. */
    RpcRdmaVersion version() {
        return version;
    }

    /** Whether a message of this version may come from the peer, after the codec has let it through. */
    boolean accepts(RpcRdmaVersion received, boolean server) {
        return received == version || server && !agreed && policy.speaks(received);
    }

    /** The version is settled. Fires the new terms. */
    void agree(RpcRdmaVersion newVersion) {
        version = newVersion;
        agreed = true;
        update();
    }

    /**
     * The peer has told its properties, in version 2: in RDMA2_CONNPROP, or in a message of an extension. Fires the new terms.
     * Event loop only.
     *
     * @param received all that is known of the peer's properties now; those that are not in it have their defaults
     */
    public void peerProperties(PropertySet received) {
        peerProperties = received;
        agree(RpcRdmaVersion.TWO);
    }

    /**
     * How much of calls from server to client the peer copes with; version 1 has only those without chunks, and does not tell
     * whether it has them.
     */
    ReverseRequestSupport peerReverseSupport() {
        return version == RpcRdmaVersion.ONE ? ReverseRequestSupport.INLINE
                : peerProperties.get(TransportProperty.REVERSE_REQUEST_SUPPORT);
    }

    /**
     * What this side tells the peer in version 2. Event loop only.
     *
     * @return the properties
     */
    public PropertySet properties() {
        return properties;
    }

    /** {@link #properties()} go to the peer ahead of all that is sent from now on. Fires the new terms if they are agreed. */
    void propertiesSent() {
        propertiesSent = true;
        if (agreed) {
            update();
        }
    }

    /**
     * Changes what this side has told the peer about itself. To be called before RDMA2_CONNPROP is sent, or
     * when a message of an extension has told the peer, ahead of all that is sent from then on. Fires the new terms. Event loop only.
     *
     * @param told all the properties of this side; those that are not in it have their defaults
     */
    public void properties(PropertySet told) {
        properties = told;
        propertiesSent();
    }

    /** The peer can receive as much, says the Connection Configuration Protocol. Fires the new terms. */
    void configureSend(int sendBytes) {
        configuredSendBytes = sendBytes;
        update();
    }

    private void update() {
        ConnectionTerms earlier = terms;
        if (!channel.isActive()) {
            return; // they are fired when the channel becomes active
        }
        terms = computeTerms();
        if (!terms.equals(earlier)) {
            channel.pipeline().fireUserEventTriggered(terms);
        }
    }

    private ConnectionTerms computeTerms() {
        if (version == RpcRdmaVersion.ONE) {
            ConnectionTerms told = ConnectionTerms.of(privateData, RpcRdmaPrivateData.parse(channel.peerPrivateData()));
            if (configuredSendBytes > 0) {
                told = told.withSendBytes(configuredSendBytes);
            }
            return agreed ? told : told.notAgreed();
        }
        int sendBytes = agreed ? sizeIn(peerProperties) : FIRST_MESSAGE_BYTES;
        int receiveBytes = propertiesSent ? sizeIn(properties) : Math.min(sizeIn(properties), DEFAULT_BUFFER_BYTES);
        InlineThreshold threshold = new InlineThreshold(Math.min(sendBytes, maxSendBytes), receiveBytes, version);
        boolean invalidation = privateData.acceptsInvalidation(); // each call says the rest
        return new ConnectionTerms(threshold, invalidation, invalidation, agreed, peerProperties);
    }

    private static int sizeIn(PropertySet set) {
        return (int) Math.min(set.get(TransportProperty.RECEIVE_BUFFER_SIZE), Integer.MAX_VALUE);
    }
}
