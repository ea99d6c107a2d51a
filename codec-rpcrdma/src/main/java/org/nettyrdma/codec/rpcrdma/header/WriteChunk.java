package org.nettyrdma.codec.rpcrdma.header;

import java.util.List;
import org.nettyrdma.channel.RemoteSegment;

/**
 * Memory of the requester that the responder fills by RDMA Write: with one DDP-eligible result when it stands in the Write
 * list, with the whole reply when it is the Reply chunk (RFC 8166, sections 3.4.6 and 4.3.3). In a call the lengths
 * say how much fits, in a reply how much was written.
 *
 * @param segments the requester's memory in the order of the content; immutable, and empty for a result that is to travel with
 *                 the rest of the reply although others have chunks
 */
public record WriteChunk(List<RemoteSegment> segments) {

    /**
     * Copies the list unless it is immutable.
     *
     * @param segments the requester's memory
     */
    public WriteChunk {
        segments = List.copyOf(segments);
    }

    /**
     * The bytes of all segments together.
     *
     * @return the length in bytes
     */
    public long lengthBytes() {
        return lengthBytes(segments);
    }

    /**
     * The same chunk as a responder returns it after it has written to its start. The number of segments stays, as
     * RFC 8166, section 3.4.6 demands.
     *
     * @param writtenBytes how many bytes were written, 0 for an unused chunk
     * @return a chunk whose lengths add up to {@code writtenBytes}
     * @throws IllegalArgumentException if more was written than the chunk holds
     */
    public WriteChunk written(long writtenBytes) {
        if (writtenBytes < 0 || writtenBytes > lengthBytes()) {
            throw new IllegalArgumentException("writtenBytes: " + writtenBytes + " (expected: 0.." + lengthBytes() + ')');
        }
        if (writtenBytes == lengthBytes()) {
            return this;
        }
        if (segments.size() == 1) {
            return new WriteChunk(List.of(segments.get(0).withLength(writtenBytes)));
        }
        RemoteSegment[] returned = new RemoteSegment[segments.size()];
        long left = writtenBytes;
        for (int i = 0; i < returned.length; i++) {
            RemoteSegment segment = segments.get(i);
            long length = Math.min(left, segment.length());
            returned[i] = segment.withLength(length);
            left -= length;
        }
        return new WriteChunk(List.of(returned));
    }

    static long lengthBytes(List<RemoteSegment> segments) {
        long length = 0;
        for (int i = 0; i < segments.size(); i++) {
            length += segments.get(i).length();
        }
        return length;
    }
}
