package org.nettyrdma.codec.rpcrdma.header;

import java.util.List;
import org.nettyrdma.channel.RemoteSegment;

/**
 * A piece of a call that the responder fetches from the requester's memory by RDMA Read: all entries of the Read list that
 * have the same position (RFC 8166, section 3.4.5).
 *
 * @param position where the content belongs in the RPC message, in bytes from its XID, a multiple of 4; 0 says that the
 *                 chunk holds the message itself (a Position Zero Read chunk)
 * @param segments the requester's memory in the order of the content; one or more, immutable
 */
public record ReadChunk(int position, List<RemoteSegment> segments) {

    /**
     * Checks the fields and copies the list unless it is immutable.
     *
     * @param position where the content belongs
     * @param segments the requester's memory
     * @throws IllegalArgumentException if the position is negative or no multiple of 4, or there is no segment
     */
    public ReadChunk {
        if (position < 0 || (position & 3) != 0) {
            throw new IllegalArgumentException("position: " + position + " (expected: a multiple of 4, at least 0)");
        }
        if (segments.isEmpty()) {
            throw new IllegalArgumentException("segments: none (expected: 1 or more)");
        }
        segments = List.copyOf(segments);
    }

    /**
     * The bytes of all segments together. They may or may not include the padding of the item.
     *
     * @return the length in bytes
     */
    public long lengthBytes() {
        return WriteChunk.lengthBytes(segments);
    }
}
