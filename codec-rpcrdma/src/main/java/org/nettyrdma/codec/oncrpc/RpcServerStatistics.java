package org.nettyrdma.codec.oncrpc;

/**
 * What one {@link RpcServerHandler}, hence one connection, has seen so far. If a thread other than the event loop has asked, the
 * values may be of a moment ago.
 *
 * @param calls           calls that were given to a program
 * @param refusedCalls    calls whose answer was not results
 * @param droppedMessages messages that cannot be answered, as they have no XID or are neither call nor reply, and calls that came
 *                        during a {@link GracefulShutdown}
 * @param programFailures calls whose program threw something other than {@link XdrException}, or answered SYSTEM_ERR
 * @param lostReplies     replies that could not be written, or for which the transport sent an error instead
 * @param overdueCalls    calls that were answered with SYSTEM_ERR because their program took too long; refused calls too
 */
public record RpcServerStatistics(long calls, long refusedCalls, long droppedMessages, long programFailures,
        long lostReplies, long overdueCalls) {
}
