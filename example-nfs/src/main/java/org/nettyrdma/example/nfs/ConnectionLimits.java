package org.nettyrdma.example.nfs;

import static io.netty.util.internal.ObjectUtil.checkPositive;
import static io.netty.util.internal.ObjectUtil.checkPositiveOrZero;

import io.netty.util.internal.PlatformDependent;

/**
 * How many connections a server has over each of its transports, and for how long they may be idle. Beyond a limit RDMA
 * connections are rejected, and TCP connections closed.
 *
 * @param maxConnections           connections at once; at least 1, or {@link #AUTOMATIC}
 * @param maxConnectionsPerAddress connections at once from one address, of IPv6 from the same 64 bits; at least 1, or
 *                                 {@link #AUTOMATIC}
 * @param idleTimeoutMillis        after how many milliseconds without traffic and calls a connection is closed, 0 for never
 */
public record ConnectionLimits(int maxConnections, int maxConnectionsPerAddress, long idleTimeoutMillis) {

    /**
     * As a number of connections: as many as may take 3/8 of the direct memory for their receive buffers, but not less than
     * {@value #FEWEST} and not more than {@value #MOST}. Over RDMA these are the receives of all credits; over TCP one buffer of
     * 64 KiB, which may hold the beginning of a record that the client does not end. As a number by address: three quarters of
     * all, so that no address alone can keep the others out.
     */
    public static final int AUTOMATIC = 0;

    /** Automatic numbers, and six minutes, as the NFS server of Linux has it: more than Linux clients keep an idle connection. */
    public static final ConnectionLimits DEFAULTS = new ConnectionLimits(AUTOMATIC, AUTOMATIC, 360_000);

    static final int FEWEST = 64;
    static final int MOST = 16_384;

    /**
     * Checks the ranges.
     *
     * @param maxConnections           connections at once
     * @param maxConnectionsPerAddress connections at once from one address
     * @param idleTimeoutMillis        when idle connections are closed
     * @throws IllegalArgumentException if a limit is negative
     */
    public ConnectionLimits {
        checkPositiveOrZero(maxConnections, "maxConnections");
        checkPositiveOrZero(maxConnectionsPerAddress, "maxConnectionsPerAddress");
        checkPositiveOrZero(idleTimeoutMillis, "idleTimeoutMillis");
    }

    /** The limits with numbers where they are automatic, for connections that may hold so much direct memory each. */
    ConnectionLimits resolved(int bytesPerConnection) {
        return resolved(bytesPerConnection, PlatformDependent.maxDirectMemory());
    }

    ConnectionLimits resolved(int bytesPerConnection, long directMemoryBytes) {
        int all = maxConnections != AUTOMATIC ? maxConnections
                : (int) Math.max(FEWEST, Math.min(MOST, directMemoryBytes / 8 * 3
                        / checkPositive(bytesPerConnection, "bytesPerConnection")));
        int perAddress = maxConnectionsPerAddress != AUTOMATIC ? maxConnectionsPerAddress : Math.max(1, all - all / 4);
        return new ConnectionLimits(all, perAddress, idleTimeoutMillis);
    }
}
