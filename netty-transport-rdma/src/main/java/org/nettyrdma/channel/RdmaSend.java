package org.nettyrdma.channel;

import io.netty.buffer.ByteBuf;

/**
 * Outbound message: sends a message, and optionally withdraws one of the steering tags that the peer has exposed. A plain
 * {@link ByteBuf} written to the channel is the same as a Send that withdraws nothing.
 *
 * <p>The write passes the one reference of this message to the channel, which drops it when the write completes. Until then the
 * bytes must not be changed. The promise succeeds when the provider has completed the Send.
 */
public final class RdmaSend extends RdmaOperation<RdmaSend> {

    private final boolean invalidating;
    private final int steeringTag;

    /**
     * A plain Send.
     *
     * @param message its readable bytes are the message; they may be none
     */
    public RdmaSend(ByteBuf message) {
        this(message, false, 0);
    }

    /**
     * A Send with Invalidate (RFC 5040 section 5.3).
     *
     * @param message                 its readable bytes are the message; they may be none
     * @param steeringTagToInvalidate a tag that the peer has exposed to this side and not withdrawn; with any other the peer
     *                                ends the connection
     */
    public RdmaSend(ByteBuf message, int steeringTagToInvalidate) {
        this(message, true, steeringTagToInvalidate);
    }

    private RdmaSend(ByteBuf message, boolean invalidating, int steeringTag) {
        super(message);
        this.invalidating = invalidating;
        this.steeringTag = steeringTag;
    }

    /**
     * Whether this is a Send with Invalidate.
     *
     * @return {@code true} if {@link #steeringTag()} is to be withdrawn
     */
    public boolean isInvalidating() {
        return invalidating;
    }

    /**
     * The peer's tag that is withdrawn.
     *
     * @return the tag, 0 unless {@link #isInvalidating()}
     */
    public int steeringTag() {
        return steeringTag;
    }

    @Override
    void requireFit() {
        // A message has no segment.
    }

    @Override
    public RdmaSend replace(ByteBuf message) {
        return new RdmaSend(message, invalidating, steeringTag);
    }

    @Override
    public String toString() {
        return invalidating
                ? String.format("RdmaSend(%s, invalidate %08x)", contentToString(), steeringTag)
                : "RdmaSend(" + contentToString() + ')';
    }
}
