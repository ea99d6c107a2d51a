package org.nettyrdma.channel;

/**
 * User event of an {@link RdmaChannel}: the next message that the channel passes on was a Send with Invalidate (RFC 5040
 * section 5.3). It is fired directly before that message, on the event loop. The {@link ExposedMemory} with this tag is
 * invalidated already; it is up to a protocol whether the peer was entitled to withdraw it with just this message.
 *
 * @param steeringTag the tag that the message has invalidated. This side's own invalidation of it may have been faster
 */
public record RemoteInvalidation(int steeringTag) {
}
