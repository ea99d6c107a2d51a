package org.nettyrdma.codec.rpcrdma.connection;

import io.netty.channel.Channel;
import io.netty.util.AttributeKey;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.codec.rpcrdma.ConnectionTerms;
import org.nettyrdma.codec.rpcrdma.RpcRdmaConnection;
import org.nettyrdma.codec.rpcrdma.RpcRdmaPrivateData;
import org.nettyrdma.codec.rpcrdma.VersionPolicy;
import org.nettyrdma.codec.rpcrdma.format.VersionTwoLayout;
import org.nettyrdma.codec.rpcrdma.header.HeaderExtensions;
import org.nettyrdma.codec.rpcrdma.header.PropertySet;
import org.nettyrdma.codec.rpcrdma.header.ReverseRequestSupport;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaVersion;
import org.nettyrdma.codec.rpcrdma.header.TransportProperty;
import org.nettyrdma.codec.rpcrdma.shared.InlineThreshold;

/**
 * What one connection has settled, for the handlers of the connection, which share this object and change it on the event loop.
 * {@link RpcRdmaConnection} says what holds when. A Receive Buffer Size that no message fits into ends the connection, see
 * {@link ConnectionHandler}.
 */
public final class NegotiatedConnection implements RpcRdmaConnection {

    /** Largest message before it is known that the peer speaks version 2, in bytes. */
    static final int FIRST_MESSAGE_BYTES = 1024;
    /** Receive Buffer Size of a peer of version 2 that has not told another size, in bytes. */
    static final int DEFAULT_BUFFER_BYTES = 4096;

    private static final AttributeKey<NegotiatedConnection> KEY = AttributeKey.valueOf(NegotiatedConnection.class, "CONNECTION");

    private final RdmaChannel channel;
    private final boolean server;
    private final VersionPolicy policy;
    private final RpcRdmaPrivateData privateData;
    private final int maxSendBytes;
    private PropertySet properties;
    private boolean propertiesSent;
    private PropertySet peerProperties = PropertySet.EMPTY;
    private RpcRdmaVersion version;
    private boolean agreed;
    private boolean settled;
    /** Set by {@link #configure}, 0 if not. */
    private int configuredSendBytes;
    private boolean peerServesReads = true;
    private volatile ConnectionTerms terms;
    /** Of {@link #thresholdTerms}. */
    private InlineThreshold threshold;
    private ConnectionTerms thresholdTerms;

    /**
     * Creates the connection of a channel.
     *
     * @param channel     the channel, which knows it from then on
     * @param server      whether the peer makes the calls
     * @param policy      which versions this side speaks
     * @param privateData what this side has told while connecting
     * @param maxSendBytes largest Send of version 2, whatever the peer can receive
     * @param properties  what this side tells the peer in version 2
     */
    public NegotiatedConnection(RdmaChannel channel, boolean server, VersionPolicy policy, RpcRdmaPrivateData privateData,
                                int maxSendBytes, PropertySet properties) {
        this.channel = channel;
        this.server = server;
        this.policy = policy;
        this.privateData = privateData;
        this.maxSendBytes = maxSendBytes;
        this.properties = properties;
        version = policy == VersionPolicy.V2_ONLY || policy == VersionPolicy.PREFER_V2 && !server ? RpcRdmaVersion.TWO
                : RpcRdmaVersion.ONE;
        agreed = policy == VersionPolicy.V1_ONLY;
        settled = agreed;
        channel.attr(KEY).set(this);
    }

    /** The connection of a channel, {@code null} if it has none. */
    public static NegotiatedConnection of(Channel channel) {
        return channel.attr(KEY).get();
    }

    @Override
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

    /**
     * How large a Send may be now, in version 2 one with a reply as well. There nobody tells how much it sends at most, so no
     * more counts as fitting into a Send of the peer than the peer itself receives (version-two-08, section 4.2.1), which is what
     * this library sends. Event loop only.
     *
     * @return the same object until the terms change
     */
    public InlineThreshold threshold() {
        ConnectionTerms now = terms();
        if (now != thresholdTerms) {
            threshold = now.version() == RpcRdmaVersion.ONE ? InlineThreshold.of(now)
                    : new InlineThreshold(now.sendBytes(), Math.min(now.receiveBytes(), leastSentBytes(now)), now.version());
            thresholdTerms = now;
        }
        return threshold;
    }

    private static int leastSentBytes(ConnectionTerms terms) {
        return terms.agreed() ? Math.max(FIRST_MESSAGE_BYTES, sizeIn(terms.peerProperties())) : FIRST_MESSAGE_BYTES;
    }

    /** Whether this side was connected to, so that the peer makes the calls but for those of the reverse direction. */
    public boolean isServer() {
        return server;
    }

    /** Whether the version is settled and will not change. */
    public boolean isAgreed() {
        return agreed;
    }

    /**
     * Whether the {@link ConnectionHandler}, if there is one, has nothing more to do for calls and replies of the version that is
     * agreed on.
     */
    public boolean isSettled() {
        return settled;
    }

    /** Calls and replies of the version that is agreed on may pass the {@link ConnectionHandler} by, or may not any more. */
    void settled(boolean isSettled) {
        settled = isSettled;
    }

    /** Whether a client may go on in version 1 where its server does not speak version 2. */
    public boolean isFallbackPossible() {
        return policy.speaks(RpcRdmaVersion.ONE);
    }

    /** The version that calls are sent in, as far as it is known. */
    public RpcRdmaVersion version() {
        return version;
    }

    /** Whether a message of this version may come from the peer, after the codec has let it through. */
    boolean accepts(RpcRdmaVersion received) {
        return received == version || server && !agreed && policy.speaks(received);
    }

    /** Both sides speak this version, and will not change it. Fires the new terms. */
    public void agree(RpcRdmaVersion newVersion) {
        version = newVersion;
        agreed = true;
        update();
    }

    @Override
    public void peerProperties(PropertySet received) {
        peerProperties = received;
        agree(RpcRdmaVersion.TWO);
    }

    /**
     * Which calls from server to client the peer supports. In version 1 these are calls without chunks; version 1 does not tell
     * whether the peer supports them at all.
     */
    public ReverseRequestSupport peerReverseSupport() {
        return version == RpcRdmaVersion.ONE ? ReverseRequestSupport.INLINE
                : peerProperties.get(TransportProperty.REVERSE_REQUEST_SUPPORT);
    }

    @Override
    public PropertySet properties() {
        return properties;
    }

    /** {@link #properties()} go to the peer ahead of all that is sent from now on. Fires the new terms if they are agreed. */
    public void propertiesSent() {
        propertiesSent = true;
        if (agreed) {
            update();
        }
    }

    /** How long RDMA2_CONNPROP is with these properties, in bytes. */
    static int lengthBytes(PropertySet told) {
        return VersionTwoLayout.PREFIX_LENGTH + HeaderExtensions.NONE.propertySets().lengthOf(told);
    }

    @Override
    public void properties(PropertySet told) {
        if (!propertiesSent && lengthBytes(told) > DEFAULT_BUFFER_BYTES) {
            throw new IllegalArgumentException("RDMA2_CONNPROP of " + lengthBytes(told) + " bytes (expected: at most "
                    + DEFAULT_BUFFER_BYTES + ", the default Receive Buffer Size)");
        }
        properties = told;
        if (agreed) {
            update();
        }
    }

    /**
     * Takes what the peer has told of itself in version 1 on the connection that stands. Fires the new terms. Event loop only.
     *
     * @param sendBytes   the largest Send that the peer takes
     * @param servesReads see {@link #peerServesReads}
     */
    public void configure(int sendBytes, boolean servesReads) {
        configuredSendBytes = sendBytes;
        peerServesReads = servesReads;
        update();
    }

    /** Whether the peer answers RDMA Reads; it does unless it has told otherwise. */
    public boolean peerServesReads() {
        return peerServesReads;
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
            ConnectionTerms told = termsOf(privateData, RpcRdmaPrivateData.parse(channel.peerPrivateData()));
            return new ConnectionTerms(told.version(), configuredSendBytes > 0 ? configuredSendBytes : told.sendBytes(),
                    told.receiveBytes(), told.mayInvalidate(), told.mayBeInvalidated(), agreed, told.peerProperties());
        }
        int sendBytes = agreed ? sizeIn(peerProperties) : FIRST_MESSAGE_BYTES;
        int receiveBytes = propertiesSent ? sizeIn(properties) : Math.min(sizeIn(properties), DEFAULT_BUFFER_BYTES);
        boolean invalidation = privateData.acceptsInvalidation(); // each call says the rest
        int ownBytes = Math.max(maxSendBytes, receiveBytes); // peers expect as much as they are told that this side receives
        return new ConnectionTerms(version, Math.min(sendBytes, ownBytes), receiveBytes, invalidation, invalidation, agreed,
                peerProperties);
    }

    /**
     * The terms of version 1: the smaller one of what each side is prepared for, in each direction (RFC 8797).
     *
     * @param own  what this side has told
     * @param peer what the peer has told
     * @return the terms, agreed
     */
    public static ConnectionTerms termsOf(RpcRdmaPrivateData own, RpcRdmaPrivateData peer) {
        return new ConnectionTerms(RpcRdmaVersion.ONE, Math.min(own.sendBytes(), peer.receiveBytes()),
                Math.min(own.receiveBytes(), peer.sendBytes()), own.acceptsInvalidation() && peer.acceptsInvalidation(),
                own.acceptsInvalidation(), true, PropertySet.EMPTY);
    }

    private static int sizeIn(PropertySet set) {
        return (int) Math.min(set.get(TransportProperty.RECEIVE_BUFFER_SIZE), Integer.MAX_VALUE);
    }
}
