package org.nettyrdma.codec.rpcrdma.header;

import java.util.Objects;
import org.nettyrdma.codec.rpcrdma.format.VersionTwoLayout;

/**
 * A bit of the flag word of version 2 (version-two-08, sections 3.2 and 9.4). Bits that are not registered with
 * {@link HeaderExtensions} are ignored and counted when they are received, and are never sent.
 *
 * @param mask the bit
 * @param name what logs call it
 */
public record HeaderFlag(int mask, String name) {

    /** RPCRDMA2_F_RESPONSE: the XID is one that the receiver has made, and the credits are a grant. */
    public static final HeaderFlag RESPONSE = new HeaderFlag(VersionTwoLayout.F_RESPONSE, "RESPONSE");

    /**
     * Checks the fields.
     *
     * @param mask the bit
     * @param name what logs call it
     * @throws IllegalArgumentException if it is not one bit
     */
    public HeaderFlag {
        if (Integer.bitCount(mask) != 1) {
            throw new IllegalArgumentException("mask: 0x" + Integer.toHexString(mask) + " (expected: one bit)");
        }
        Objects.requireNonNull(name, "name");
    }

    /**
     * Whether a header has this flag.
     *
     * @param header any header; those of version 1 have none
     * @return {@code true} if it is set
     */
    public boolean isSet(RpcRdmaHeader header) {
        return (header.flags() & mask) != 0;
    }
}
