package org.nettyrdma.codec.oncrpc.client;

import static io.netty.util.internal.ObjectUtil.checkInRange;
import static io.netty.util.internal.ObjectUtil.checkPositive;
import static io.netty.util.internal.ObjectUtil.checkPositiveOrZero;

import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcRequest;

/**
 * How a {@link ReconnectingRpcClient} connects again, and how much it keeps meanwhile. Immutable; start with {@link #DEFAULT}
 * and change single values.
 *
 * @param minDelayMillis        the time until the first new attempt to connect, in milliseconds; 1 or more, default 20. Each
 *                              further attempt waits twice as long, where there are several addresses after all have been
 *                              tried. It begins anew with a connection on which a call has been answered. Too small a value
 *                              shows as load on a server that has just begun
 * @param maxDelayMillis        the longest time between two attempts, in milliseconds; at least {@code minDelayMillis}, default
 *                              10,000. Too large a value shows as calls that wait although the server is back
 * @param jitter                the part of each delay that is random; 0 to 1, default 0.5: an attempt comes after half of its
 *                              delay at the earliest. Without it all clients of a server connect at the same time
 * @param maxWaitingCalls       calls that wait for a connection before further ones fail with {@link TooManyCallsException}; 0 or
 *                              more, default 4096. With 0 a call is sent at once or fails. Calls that are made again may exceed
 *                              it
 * @param maxWaitingBytes       the same for the bytes of their arguments; 0 or more, default 64 MiB
 * @param maxCallsPerConnection calls under way on one connection before further ones wait; 1 to 1024, default 1024, the most that
 *                              wait for credits over RDMA. The arguments of calls under way are kept, too
 * @param maxLostCalls          calls of one connection that time out one after the other, nothing else being answered, before the
 *                              connection is ended and calls go on with a new one; 0 for never, default 16. Cancelled calls
 *                              count, too; but then the server has {@code callTimeoutMillis} more to answer anything. Over RDMA
 *                              each of them has a credit that only the end of the connection gives back. Too small a value
 *                              shows as lost connections to a server that is merely slow
 * @param callTimeoutMillis     how long a call waits for its reply in all, over all connections, unless
 *                              {@linkplain RpcRequest#setTimeoutMillis it says otherwise}, in milliseconds; 1 or more, default
 *                              {@link RpcClient#DEFAULT_CALL_TIMEOUT_MILLIS}
 */
public record ReconnectPolicy(long minDelayMillis, long maxDelayMillis, double jitter, int maxWaitingCalls, long maxWaitingBytes,
                              int maxCallsPerConnection, int maxLostCalls, long callTimeoutMillis) {

    /** The default of each value. */
    public static final ReconnectPolicy DEFAULT = new ReconnectPolicy(20, 10_000, 0.5, 4096, 64L << 20, 1024, 16,
            RpcClient.DEFAULT_CALL_TIMEOUT_MILLIS);

    /**
     * Checks each value.
     *
     * @param minDelayMillis        until the first new attempt
     * @param maxDelayMillis        between two attempts
     * @param jitter                the random part
     * @param maxWaitingCalls       calls that wait
     * @param maxWaitingBytes       bytes that wait
     * @param maxCallsPerConnection calls under way on a connection
     * @param maxLostCalls          calls that time out in a row
     * @param callTimeoutMillis     until the reply
     * @throws IllegalArgumentException if one is out of its range; the message names it
     */
    public ReconnectPolicy {
        checkPositive(minDelayMillis, "minDelayMillis");
        checkInRange(maxDelayMillis, minDelayMillis, Long.MAX_VALUE, "maxDelayMillis");
        if (!(jitter >= 0 && jitter <= 1)) {
            throw new IllegalArgumentException("jitter: " + jitter + " (expected: 0..1)");
        }
        checkPositiveOrZero(maxWaitingCalls, "maxWaitingCalls");
        checkPositiveOrZero(maxWaitingBytes, "maxWaitingBytes");
        checkInRange(maxCallsPerConnection, 1, 1024, "maxCallsPerConnection");
        checkPositiveOrZero(maxLostCalls, "maxLostCalls");
        checkPositive(callTimeoutMillis, "callTimeoutMillis");
    }

    /**
     * This policy with other delays.
     *
     * @param newMinDelayMillis until the first new attempt
     * @param newMaxDelayMillis between two attempts
     * @return the changed policy
     */
    public ReconnectPolicy withDelayMillis(long newMinDelayMillis, long newMaxDelayMillis) {
        return new ReconnectPolicy(newMinDelayMillis, newMaxDelayMillis, jitter, maxWaitingCalls, maxWaitingBytes,
                maxCallsPerConnection, maxLostCalls, callTimeoutMillis);
    }

    /**
     * This policy with another random part of the delays.
     *
     * @param newJitter 0 to 1
     * @return the changed policy
     */
    public ReconnectPolicy withJitter(double newJitter) {
        return new ReconnectPolicy(minDelayMillis, maxDelayMillis, newJitter, maxWaitingCalls, maxWaitingBytes,
                maxCallsPerConnection, maxLostCalls, callTimeoutMillis);
    }

    /**
     * This policy with other bounds on what waits for a connection.
     *
     * @param newMaxWaitingCalls calls, 0 or more
     * @param newMaxWaitingBytes bytes of their arguments, 0 or more
     * @return the changed policy
     */
    public ReconnectPolicy withMaxWaiting(int newMaxWaitingCalls, long newMaxWaitingBytes) {
        return new ReconnectPolicy(minDelayMillis, maxDelayMillis, jitter, newMaxWaitingCalls, newMaxWaitingBytes,
                maxCallsPerConnection, maxLostCalls, callTimeoutMillis);
    }

    /**
     * This policy with another number of calls on one connection.
     *
     * @param newMaxCallsPerConnection 1 to 1024
     * @return the changed policy
     */
    public ReconnectPolicy withMaxCallsPerConnection(int newMaxCallsPerConnection) {
        return new ReconnectPolicy(minDelayMillis, maxDelayMillis, jitter, maxWaitingCalls, maxWaitingBytes,
                newMaxCallsPerConnection, maxLostCalls, callTimeoutMillis);
    }

    /**
     * This policy with another number of calls that may time out in a row.
     *
     * @param newMaxLostCalls 0 for any number
     * @return the changed policy
     */
    public ReconnectPolicy withMaxLostCalls(int newMaxLostCalls) {
        return new ReconnectPolicy(minDelayMillis, maxDelayMillis, jitter, maxWaitingCalls, maxWaitingBytes,
                maxCallsPerConnection, newMaxLostCalls, callTimeoutMillis);
    }

    /**
     * This policy with another time-out of calls.
     *
     * @param newCallTimeoutMillis 1 or more
     * @return the changed policy
     */
    public ReconnectPolicy withCallTimeoutMillis(long newCallTimeoutMillis) {
        return new ReconnectPolicy(minDelayMillis, maxDelayMillis, jitter, maxWaitingCalls, maxWaitingBytes,
                maxCallsPerConnection, maxLostCalls, newCallTimeoutMillis);
    }
}
