package org.nettyrdma.channel;

/**
 * A piece of memory that the peer has exposed on this connection. RFC 5040 calls its three values steering tag, length and tagged
 * offset; RPC-over-RDMA calls the piece a segment of handle, length and offset.
 *
 * @param steeringTag the tag under which the peer exposed it; all 32 bits are significant
 * @param length      its size in bytes, 0 to 4294967295
 * @param offset      the tagged offset of its first byte, an unsigned 64-bit number
 */
public record RemoteSegment(int steeringTag, long length, long offset) {

    /** Largest length that the wire can carry. */
    public static final long MAX_LENGTH = 0xFFFF_FFFFL;

    /**
     * Checks the length.
     *
     * @param steeringTag the tag
     * @param length      the size in bytes
     * @param offset      the tagged offset
     * @throws IllegalArgumentException if {@code length} is outside 0 to {@link #MAX_LENGTH}
     */
    public RemoteSegment {
        if (length < 0 || length > MAX_LENGTH) {
            throw new IllegalArgumentException("length: " + length + " (expected: 0.." + MAX_LENGTH + ')');
        }
    }

    /**
     * The same piece with another length.
     *
     * @param newLength its size in bytes
     * @return a segment with the same tag and offset
     */
    public RemoteSegment withLength(long newLength) {
        return newLength == length ? this : new RemoteSegment(steeringTag, newLength, offset);
    }

    @Override
    public String toString() {
        return String.format("%08x:%d@%016x", steeringTag, length, offset);
    }
}
