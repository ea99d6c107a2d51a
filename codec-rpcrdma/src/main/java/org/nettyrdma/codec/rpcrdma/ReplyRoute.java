package org.nettyrdma.codec.rpcrdma;

import org.nettyrdma.codec.rpcrdma.legacy.LegacyProfile;

/** How a reply travelled from the responder to the requester. */
public enum ReplyRoute {
    /** In one Send. */
    INLINE,
    /** In one Send, with at least one DDP-eligible result in a Write chunk. */
    WRITE_CHUNK,
    /** In a Reply chunk, placed results apart. */
    REPLY_CHUNK,
    /** In Read chunks, whole or in part; only in the {@link LegacyProfile}. */
    READ_CHUNK
}
