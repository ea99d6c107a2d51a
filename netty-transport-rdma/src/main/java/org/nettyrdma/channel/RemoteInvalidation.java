package org.nettyrdma.channel;

/**
 * User event of an {@link RdmaChannel}: the next message that the channel passes on was a Send with Invalidate (RFC 5040, section
 * 5.3). The event is fired directly before that message, on the event loop. The {@link ExposedMemory} with this tag is
 * invalidated already. The protocol above decides whether the peer may withdraw it with this message.
 *
 * @param steeringTag the tag that the message has invalidated; this side may have invalidated it before
 */
public record RemoteInvalidation(int steeringTag) {
}
