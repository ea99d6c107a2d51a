package org.nettyrdma.codec.oncrpc;

/**
 * What one {@link RpcClient} has seen so far. Taken from another thread than the event loop it may lag behind.
 *
 * @param pendingCalls     calls that wait for a reply now
 * @param calls            calls made
 * @param timedOutCalls    calls whose reply did not come in time
 * @param unmatchedReplies replies that were released because no call waits for them: late, of a cancelled call, or twice
 * @param droppedMessages  messages that were released because they are neither call nor reply
 */
public record RpcClientStatistics(int pendingCalls, long calls, long timedOutCalls, long unmatchedReplies,
        long droppedMessages) {
}
