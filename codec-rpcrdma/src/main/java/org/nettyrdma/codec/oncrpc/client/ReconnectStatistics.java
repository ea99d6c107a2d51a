package org.nettyrdma.codec.oncrpc.client;

/**
 * What a {@link ReconnectingRpcClient} has and has seen. The values may be of a moment ago, and of different moments.
 *
 * @param connections     connections that stand now
 * @param calls           calls that have not ended now, those that wait included
 * @param waitingCalls    calls that wait for a connection now
 * @param waitingBytes    bytes of their arguments
 * @param connects        connections made so far
 * @param lostConnections connections lost so far
 * @param failedConnects  attempts to connect that have failed so far
 * @param retransmissions how often calls were given to another connection so far
 * @param refusedCalls    calls that failed at once so far because too many waited
 * @param waits           how often calls have waited for a connection, and wait no more
 * @param waitedNanos     how long these waited in all, in nanoseconds
 */
public record ReconnectStatistics(int connections, int calls, int waitingCalls, long waitingBytes, long connects,
                                  long lostConnections, long failedConnects, long retransmissions, long refusedCalls, long waits,
                                  long waitedNanos) {
}
