package org.nettyrdma.example.nfs;

import static io.netty.util.internal.ObjectUtil.checkInRange;

import java.util.Objects;
import org.nettyrdma.codec.rpcrdma.VersionPolicy;

/**
 * What connections over RDMA agree on, beside what {@link Transport} knows for itself.
 *
 * @param credits  calls of one connection in progress at once: what a server grants at most, and what a client asks for; 1 to
 *                 1024, default 128
 * @param checksum whether MPA frames carry a CRC32C; it is used when either side asks for it (RFC 5044, section 7.1.2), default
 *                 {@code false}
 * @param versions the versions of RPC-over-RDMA that a client calls in and a server accepts, default
 *                 {@link VersionPolicy#V1_ONLY}
 */
public record RdmaSettings(int credits, boolean checksum, VersionPolicy versions) {

    /** 128 credits, no checksums, version 1. */
    public static final RdmaSettings DEFAULTS = new RdmaSettings(128, false, VersionPolicy.V1_ONLY);

    /**
     * Checks the number of credits.
     *
     * @param credits  calls of one connection in progress at once
     * @param checksum whether MPA frames carry a CRC32C
     * @param versions the versions of RPC-over-RDMA
     * @throws IllegalArgumentException if {@code credits} is out of its range
     */
    public RdmaSettings {
        checkInRange(credits, 1, 1024, "credits");
        Objects.requireNonNull(versions, "versions");
    }
}
