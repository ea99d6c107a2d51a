package org.nettyrdma.example.nfs;

import static io.netty.util.internal.ObjectUtil.checkInRange;

/**
 * What connections over RDMA agree on, beside what {@link Transport} knows for itself.
 *
 * @param credits  calls of one connection in progress at once: what a server grants at most, and what a client asks for; 1 to
 *                 1024, default 128
 * @param checksum whether MPA frames carry a CRC32C (RFC 5044, section 4.1); it is used when either side asks for it, default
 *                 {@code false}
 */
public record RdmaSettings(int credits, boolean checksum) {

    /** 128 credits, no checksums. */
    public static final RdmaSettings DEFAULTS = new RdmaSettings(128, false);

    /**
     * Checks the number of credits.
     *
     * @param credits  calls of one connection in progress at once
     * @param checksum whether MPA frames carry a CRC32C
     * @throws IllegalArgumentException if {@code credits} is out of its range
     */
    public RdmaSettings {
        checkInRange(credits, 1, 1024, "credits");
    }
}
