package org.nettyrdma.channel;

/**
 * User event of an {@link RdmaChannel}: {@link RdmaChannelOption#RECEIVE_BUFFER_SIZE} was set after the channel was registered,
 * and no smaller receive is posted any more. From now on the peer may send messages of that size. The event comes at once for a
 * size that was lowered. For a size that was raised it comes after as many messages of the peer as receives were posted, so not
 * while the connection is idle. Of several sizes that are set in quick succession only the last one has an event. Fired on the
 * event loop, behind the message that was in the last smaller receive unless messages are being held back.
 *
 * @param bytes the size in bytes, 1 to {@link RegisteredByteBufAllocator#MAX_POOLED_BYTES}
 */
public record ReceiveBuffersReplaced(int bytes) {
}
