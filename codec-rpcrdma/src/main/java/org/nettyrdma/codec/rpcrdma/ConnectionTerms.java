package org.nettyrdma.codec.rpcrdma;

/**
 * What the two sides have told each other, and what follows from it. Fired through the pipeline as a user event when the
 * connection stands, ahead of {@code channelActive}, and again whenever something of it has changed. Immutable.
 *
 * @param threshold        how large a Send may be
 * @param mayInvalidate    whether this side's replies may be Sends with Invalidate: only if both sides have said that they cope with them
 *                         (RFC 8797)
 * @param mayBeInvalidated whether the peer's replies may be: if this side has said so. The Linux server asks for no more, and says itself
 *                         that it does not cope with them, since it never opens memory to its clients
 * @param agreed           whether the version is settled; until then it is the one that this side begins with
 * @param peerProperties   what the peer has told about itself in version 2, empty if it has not
 */
public record ConnectionTerms(InlineThreshold threshold, boolean mayInvalidate, boolean mayBeInvalidated, boolean agreed,
                              PropertySet peerProperties) {

    /** Terms that are agreed, with a peer that has not told any property. */
    ConnectionTerms(InlineThreshold threshold, boolean mayInvalidate, boolean mayBeInvalidated) {
        this(threshold, mayInvalidate, mayBeInvalidated, true, PropertySet.EMPTY);
    }

    /**
     * The version that calls on this connection are sent in.
     *
     * @return the version
     */
    public RpcRdmaVersion version() {
        return threshold.version();
    }

    /** The same terms with another limit for what this side sends. */
    ConnectionTerms withSendBytes(int sendBytes) {
        return new ConnectionTerms(new InlineThreshold(sendBytes, threshold.receiveBytes(), version()), mayInvalidate,
                mayBeInvalidated, agreed, peerProperties);
    }

    /** The same terms before the version is settled. */
    ConnectionTerms notAgreed() {
        return new ConnectionTerms(threshold, mayInvalidate, mayBeInvalidated, false, peerProperties);
    }

    /** For version 1. */
    static ConnectionTerms of(RpcRdmaPrivateData own, RpcRdmaPrivateData peer) {
        return new ConnectionTerms(InlineThreshold.of(own, peer), own.acceptsInvalidation() && peer.acceptsInvalidation(),
                own.acceptsInvalidation());
    }
}
