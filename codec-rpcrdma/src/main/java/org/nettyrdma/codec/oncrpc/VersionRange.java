package org.nettyrdma.codec.oncrpc;

/**
 * The versions that a peer speaks, both ends included.
 *
 * @param lowest  lowest version, an unsigned 32-bit number
 * @param highest highest version, an unsigned 32-bit number
 */
public record VersionRange(int lowest, int highest) {

    static final int ENCODED_BYTES = 2 * Integer.BYTES;

    /**
     * Whether a version lies in the range.
     *
     * @param version an unsigned 32-bit number
     * @return {@code true} if so
     */
    public boolean contains(int version) {
        return Integer.compareUnsigned(version, lowest) >= 0 && Integer.compareUnsigned(version, highest) <= 0;
    }

    @Override
    public String toString() {
        return Integer.toUnsignedString(lowest) + " to " + Integer.toUnsignedString(highest);
    }
}
