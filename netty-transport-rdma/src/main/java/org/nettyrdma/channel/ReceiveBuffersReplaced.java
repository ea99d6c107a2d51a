package org.nettyrdma.channel;

/**
 * User event of an {@link RdmaChannel}: {@link RdmaChannelOption#RECEIVE_BUFFER_SIZE} was set after the channel was registered,
 * and no receive is posted any more that is smaller. From here on the peer may send messages of that size. A size that was
 * lowered is told at once; one that was raised needs as many messages of the peer as receives were posted, so that it is not
 * told while the connection is idle. Of sizes that are set in quick succession only the last one is told. Fired on the event
 * loop, behind the message that was in the last smaller receive unless messages are being held back.
 *
 * @param bytes the size in bytes, 1 to {@link RegisteredByteBufAllocator#MAX_POOLED_BYTES}
 */
public record ReceiveBuffersReplaced(int bytes) {
}
