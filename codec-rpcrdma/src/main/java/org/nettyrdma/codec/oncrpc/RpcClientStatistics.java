package org.nettyrdma.codec.oncrpc;

/**
 * What one {@link RpcClient} has seen so far. If a thread other than the event loop has asked, the values may be of a moment ago.
 *
 * @param pendingCalls     calls that wait for a reply now
 * @param calls            calls made
 * @param timedOutCalls    calls whose reply did not come in time
 * @param unmatchedReplies replies that were released because no call waited for them: late replies, replies to cancelled calls,
 *                         and second replies
 * @param droppedMessages  messages that were released because they are neither call nor reply
 */
public record RpcClientStatistics(int pendingCalls, long calls, long timedOutCalls, long unmatchedReplies,
        long droppedMessages) {
}
