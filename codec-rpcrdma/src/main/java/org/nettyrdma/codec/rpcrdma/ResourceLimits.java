package org.nettyrdma.codec.rpcrdma;

import static io.netty.util.internal.ObjectUtil.checkInRange;
import static io.netty.util.internal.ObjectUtil.checkPositive;
import static io.netty.util.internal.ObjectUtil.checkPositiveOrZero;

import org.nettyrdma.codec.oncrpc.RpcServerHandler;

/**
 * How much memory and time the calls of one {@link RpcRdma} may take. Immutable; start with {@link #DEFAULT} and change what
 * differs. Unlike {@link RpcRdmaLimits}, which say what a message may be, nothing of this is told to the peer: what is over
 * a limit of memory waits, and what is over a limit of time is given up.
 *
 * <h2>What counts as memory</h2>
 * At a responder, the Read chunks of a call and the room for its reply, which is what the call offers in Write and Reply
 * chunks, at most {@link RpcRdmaLimits#maxMessageBytes()}; from before the first byte is allocated until the reply is
 * written. At a requester, everything that a call exposes, until its reply is here. Messages without chunks do not count:
 * the credits and the inline threshold bound these. What an application keeps beyond its calls is its own affair.
 *
 * <p>Calls that wait for memory do so in order; a call without chunks may overtake them. When a connection ends, its memory
 * counts as free at once, although a device may keep buffers a moment longer.
 *
 * @param maxTotalBytes         memory of all connections together; 1 or more, default 512 MiB. A call that needs more
 *                              than all of it is answered with ERR_CHUNK at a responder, and fails at a requester. Too small
 *                              a value shows as {@link ChunkStatistics.Counter#CALLS_HELD_BACK} rising while memory is left
 * @param maxConnectionBytes    memory of one connection; 1 or more, default 64 MiB. One call is always admitted, however
 *                              large. Too small a value shows as low throughput of large calls; with too large a one, few
 *                              connections can take the memory of all
 * @param maxAbandonedBytes     memory that calls whose caller has given up, by a timeout or a cancellation, may keep exposed
 *                              on one connection of a requester until their replies come; 0 to half of
 *                              {@code maxConnectionBytes}, default 0. What does not fit in is withdrawn at once. The
 *                              responder cannot know of that: if it uses the memory, or answers by Send with Invalidate, its
 *                              connection ends, and with it all calls on it (RFC 5040, section 7.1), as a device cannot
 *                              tell a slow responder from a hostile one. With a value above 0 such a responder is waited
 *                              for, and a hostile one can change or read that much memory of calls given up, which is given
 *                              to nobody else meanwhile
 * @param transferTimeoutMillis how long a connection of a responder may have work for the device, RDMA Reads of a call's
 *                              chunks or a reply to write, without completing any of it, before it is closed; in
 *                              milliseconds, default 60,000, 0 for ever. Too small a value ends connections whose client
 *                              pauses
 * @param serveTimeoutMillis    how long a program may take to answer a call, in milliseconds; default 300,000, 0 for ever.
 *                              After that the call is answered with SYSTEM_ERR, and its own reply is dropped. Applies to the
 *                              programs that {@link RpcRdma.Builder#program} adds; with
 *                              {@link RpcRdma.Builder#handlers handlers of your own}, see {@link RpcServerHandler}
 */
public record ResourceLimits(
        long maxTotalBytes,
        long maxConnectionBytes,
        long maxAbandonedBytes,
        long transferTimeoutMillis,
        long serveTimeoutMillis) {

    /** The default of each limit. */
    public static final ResourceLimits DEFAULT =
            new ResourceLimits(512L << 20, 64L << 20, 0, 60_000, RpcServerHandler.DEFAULT_SERVE_TIMEOUT_MILLIS);

    /**
     * Checks each limit.
     *
     * @param maxTotalBytes         memory of all connections
     * @param maxConnectionBytes    memory of one connection
     * @param maxAbandonedBytes     memory of the calls that were given up on one connection
     * @param transferTimeoutMillis time without progress
     * @param serveTimeoutMillis    time until an answer
     * @throws IllegalArgumentException if one is out of its range; the message names it
     */
    public ResourceLimits {
        checkPositive(maxTotalBytes, "maxTotalBytes");
        checkPositive(maxConnectionBytes, "maxConnectionBytes");
        checkInRange(maxAbandonedBytes, 0, maxConnectionBytes / 2, "maxAbandonedBytes");
        checkPositiveOrZero(transferTimeoutMillis, "transferTimeoutMillis");
        checkPositiveOrZero(serveTimeoutMillis, "serveTimeoutMillis");
    }

    /**
     * These limits with other memory for all connections.
     *
     * @param newMaxTotalBytes 1 or more
     * @return the changed limits
     */
    public ResourceLimits withMaxTotalBytes(long newMaxTotalBytes) {
        return new ResourceLimits(newMaxTotalBytes, maxConnectionBytes, maxAbandonedBytes, transferTimeoutMillis,
                serveTimeoutMillis);
    }

    /**
     * These limits with other memory for each connection; that of the calls given up shrinks with it where it must.
     *
     * @param newMaxConnectionBytes 1 or more
     * @return the changed limits
     */
    public ResourceLimits withMaxConnectionBytes(long newMaxConnectionBytes) {
        return new ResourceLimits(maxTotalBytes, newMaxConnectionBytes,
                Math.min(maxAbandonedBytes, Math.max(0, newMaxConnectionBytes / 2)), transferTimeoutMillis, serveTimeoutMillis);
    }

    /**
     * These limits with other memory that may stay open for calls that were given up.
     *
     * @param newMaxAbandonedBytes 0 to half of {@link #maxConnectionBytes()}
     * @return the changed limits
     */
    public ResourceLimits withMaxAbandonedBytes(long newMaxAbandonedBytes) {
        return new ResourceLimits(maxTotalBytes, maxConnectionBytes, newMaxAbandonedBytes, transferTimeoutMillis,
                serveTimeoutMillis);
    }

    /**
     * These limits with another time without progress.
     *
     * @param newTransferTimeoutMillis milliseconds, 0 for ever
     * @return the changed limits
     */
    public ResourceLimits withTransferTimeoutMillis(long newTransferTimeoutMillis) {
        return new ResourceLimits(maxTotalBytes, maxConnectionBytes, maxAbandonedBytes, newTransferTimeoutMillis,
                serveTimeoutMillis);
    }

    /**
     * These limits with another time until a call has to be answered.
     *
     * @param newServeTimeoutMillis milliseconds, 0 for ever
     * @return the changed limits
     */
    public ResourceLimits withServeTimeoutMillis(long newServeTimeoutMillis) {
        return new ResourceLimits(maxTotalBytes, maxConnectionBytes, maxAbandonedBytes, transferTimeoutMillis,
                newServeTimeoutMillis);
    }
}
