package org.nettyrdma.codec.rpcrdma;

import static io.netty.util.internal.ObjectUtil.checkInRange;
import static io.netty.util.internal.ObjectUtil.checkPositive;
import static io.netty.util.internal.ObjectUtil.checkPositiveOrZero;

import org.nettyrdma.codec.oncrpc.MemoryBudget;
import org.nettyrdma.codec.oncrpc.RpcServerHandler;
import org.nettyrdma.codec.oncrpc.TransferLimits;

/**
 * How much memory and time the calls of one {@link RpcRdma} may take. Immutable; start with {@link #DEFAULT} and change single
 * values. The peer is not told these limits. The limits of a single message are in {@link RpcRdmaLimits}. A call over a limit of
 * memory waits. A call or transfer over a limit of time is given up.
 *
 * <h2>What counts as memory</h2>
 * At a responder: the Read chunks of a call, and the room for its reply. The room is what the call offers in Write and Reply
 * chunks, at most {@link RpcRdmaLimits#maxMessageBytes()}. Both count from before the first byte is allocated until the reply
 * is written. At a requester: everything that a call exposes, until its reply is here. Messages without chunks do not count;
 * the credits, the inline threshold and {@link org.nettyrdma.channel.RdmaChannel#fairMessages()} bound them. Memory that an
 * application keeps beyond its calls does not count either.
 *
 * <p>Calls that wait for memory do so in order on their connection; a call without chunks may overtake them. How connections
 * and addresses share the memory is in {@link MemoryBudget}. When a connection ends, its memory
 * counts as free at once, although a device may keep buffers a moment longer.
 *
 * @param maxTotalBytes         memory of all connections together; 1 or more, default {@link MemoryBudget#DEFAULT_MAX_BYTES}. One
 *                              connection gets an eighth of it at most. A call that needs more than all of it is answered with
 *                              ERR_CHUNK at a responder, and fails at a requester. Calls from server to
 *                              client ({@link RpcRdmaBuilder#reverse}) have as much again for themselves, so that neither
 *                              direction waits for memory of the other. Too small a value shows as
 *                              {@link ChunkStatistics.Counter#CALLS_HELD_BACK} rising while memory is left
 * @param maxConnectionBytes    memory of one connection; 1 or more, default 64 MiB. One call is always admitted, however
 *                              large. Too small a value shows as low throughput of large calls; with too large a one, few
 *                              connections can take the memory of all
 * @param maxAbandonedBytes     memory that calls whose caller has given up, by a timeout or a cancellation, may keep exposed on
 *                              one connection of a requester until their replies come; 0 to half of {@code maxConnectionBytes},
 *                              default 0. Memory beyond it is withdrawn at once. The responder is not told. If it uses the
 *                              memory, or answers by Send with Invalidate, its connection ends with all calls on it (RFC 5040,
 *                              section 7.1): a device does not distinguish a slow responder from a hostile one. With a value
 *                              above 0 this side waits for slow responders. A hostile responder can then change or read that much
 *                              memory of such calls; nothing else uses this memory meanwhile
 * @param transferTimeoutMillis how long a connection may have work for the device, RDMA Reads of a call's chunks or a
 *                              message to send, without completing it or moving {@code minTransferBytesPerSecond},
 *                              before it is closed; in milliseconds, default 60,000, 0 for ever. Too small a value ends
 *                              connections whose peer pauses. At a server a second is enough for a connection whose calls
 *                              have memory while an address that has none waits for some, with a device that
 *                              {@linkplain org.nettyrdma.channel.RdmaChannel#movedBytes tells} what has moved, as software
 *                              iWARP does; never so with 0
 * @param serveTimeoutMillis    how long a program may take to answer a call, in milliseconds; default 300,000, 0 for ever.
 *                              After that the call is answered with SYSTEM_ERR, and its own reply is dropped. Applies to the
 *                              programs that {@link RpcRdmaBuilder#program} adds; with
 *                              {@link RpcRdmaBuilder#handlers handlers of your own}, see {@link RpcServerHandler}
 * @param minTransferBytesPerSecond the least rate of transfers that take longer than the time-out, in bytes per second; 0 or
 *                                  more, default 16 KiB. Single completions now and then are not enough. Too large a value ends
 *                                  connections over slow networks
 */
public record ResourceLimits(
        long maxTotalBytes,
        long maxConnectionBytes,
        long maxAbandonedBytes,
        long transferTimeoutMillis,
        long serveTimeoutMillis,
        long minTransferBytesPerSecond) {

    /** The default of each limit. */
    public static final ResourceLimits DEFAULT =
            new ResourceLimits(MemoryBudget.DEFAULT_MAX_BYTES, 64L << 20, 0, TransferLimits.DEFAULT.timeoutMillis(),
                    RpcServerHandler.DEFAULT_SERVE_TIMEOUT_MILLIS, TransferLimits.DEFAULT.minBytesPerSecond());

    /**
     * Checks each limit.
     *
     * @param maxTotalBytes         memory of all connections
     * @param maxConnectionBytes    memory of one connection
     * @param maxAbandonedBytes     memory of the calls that were given up on one connection
     * @param transferTimeoutMillis time without progress
     * @param serveTimeoutMillis    time until an answer
     * @param minTransferBytesPerSecond least progress
     * @throws IllegalArgumentException if one is out of its range; the message names it
     */
    public ResourceLimits {
        checkPositive(maxTotalBytes, "maxTotalBytes");
        checkPositive(maxConnectionBytes, "maxConnectionBytes");
        checkInRange(maxAbandonedBytes, 0, maxConnectionBytes / 2, "maxAbandonedBytes");
        checkPositiveOrZero(transferTimeoutMillis, "transferTimeoutMillis");
        checkPositiveOrZero(serveTimeoutMillis, "serveTimeoutMillis");
        checkPositiveOrZero(minTransferBytesPerSecond, "minTransferBytesPerSecond");
    }

    /**
     * These limits with other memory for all connections.
     *
     * @param newMaxTotalBytes 1 or more
     * @return the changed limits
     */
    public ResourceLimits withMaxTotalBytes(long newMaxTotalBytes) {
        return new ResourceLimits(newMaxTotalBytes, maxConnectionBytes, maxAbandonedBytes, transferTimeoutMillis,
                serveTimeoutMillis, minTransferBytesPerSecond);
    }

    /**
     * These limits with other memory for each connection. The memory of calls that were given up is lowered where it would be
     * more than half of the new value.
     *
     * @param newMaxConnectionBytes 1 or more
     * @return the changed limits
     */
    public ResourceLimits withMaxConnectionBytes(long newMaxConnectionBytes) {
        return new ResourceLimits(maxTotalBytes, newMaxConnectionBytes,
                Math.min(maxAbandonedBytes, Math.max(0, newMaxConnectionBytes / 2)), transferTimeoutMillis, serveTimeoutMillis,
                minTransferBytesPerSecond);
    }

    /**
     * These limits with another amount of memory that may stay open for calls that were given up.
     *
     * @param newMaxAbandonedBytes 0 to half of {@link #maxConnectionBytes()}
     * @return the changed limits
     */
    public ResourceLimits withMaxAbandonedBytes(long newMaxAbandonedBytes) {
        return new ResourceLimits(maxTotalBytes, maxConnectionBytes, newMaxAbandonedBytes, transferTimeoutMillis,
                serveTimeoutMillis, minTransferBytesPerSecond);
    }

    /**
     * These limits with another time without progress.
     *
     * @param newTransferTimeoutMillis milliseconds, 0 for ever
     * @return the changed limits
     */
    public ResourceLimits withTransferTimeoutMillis(long newTransferTimeoutMillis) {
        return new ResourceLimits(maxTotalBytes, maxConnectionBytes, maxAbandonedBytes, newTransferTimeoutMillis,
                serveTimeoutMillis, minTransferBytesPerSecond);
    }

    /**
     * These limits with another time until a call has to be answered.
     *
     * @param newServeTimeoutMillis milliseconds, 0 for ever
     * @return the changed limits
     */
    public ResourceLimits withServeTimeoutMillis(long newServeTimeoutMillis) {
        return new ResourceLimits(maxTotalBytes, maxConnectionBytes, maxAbandonedBytes, transferTimeoutMillis,
                newServeTimeoutMillis, minTransferBytesPerSecond);
    }

    /**
     * These limits with another least progress.
     *
     * @param newMinTransferBytesPerSecond bytes per second, 0 or more
     * @return the changed limits
     */
    public ResourceLimits withMinTransferBytesPerSecond(long newMinTransferBytesPerSecond) {
        return new ResourceLimits(maxTotalBytes, maxConnectionBytes, maxAbandonedBytes, transferTimeoutMillis,
                serveTimeoutMillis, newMinTransferBytesPerSecond);
    }
}
