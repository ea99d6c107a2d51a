package org.nettyrdma.channel;

import java.io.IOException;
import org.nettyrdma.channel.RdmaChannelStatistics.Counter;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.WorkCompletionStatus;

/**
 * What the device has to do for one channel: its receives, its sends and its exposed memory. Takes up the completions.
 * Event loop only.
 */
final class WorkRequests {

    private final RdmaChannel channel;
    private final RdmaChannelStatistics statistics;
    private final QueuePair queuePair;
    private final ReceiveQueue receives;
    private final SendQueue sends;
    private final ExposureTable exposures;

    WorkRequests(RdmaChannel channel, RdmaEventLoop loop, QueuePair queuePair, int channelId) {
        this.channel = channel;
        this.queuePair = queuePair;
        statistics = channel.statistics();
        receives = new ReceiveQueue(loop, queuePair, channelId, channel.config());
        sends = new SendQueue(loop, queuePair, channelId, channel.config(), statistics);
        exposures = new ExposureTable(channel, loop, queuePair, channelId, sends);
    }

    ReceiveQueue receives() {
        return receives;
    }

    SendQueue sends() {
        return sends;
    }

    ExposureTable exposures() {
        return exposures;
    }

    /** Keeps the receive queue full. */
    void repost() throws IOException {
        receives.repost();
        queuePair.flush();
    }

    /** A work request has completed; {@link org.nettyrdma.verbs.CompletionHandler} tells when the values are valid. */
    void completed(long workRequestId, WorkCompletionStatus status, int byteLength, boolean invalidated, int invalidatedTag,
                   int vendorError) {
        boolean success = status == WorkCompletionStatus.SUCCESS;
        int slot = WorkRequestId.slot(workRequestId);
        String operation = switch (WorkRequestId.kind(workRequestId)) {
            case WorkRequestId.RECEIVE -> {
                receiveCompleted(slot, success, byteLength, invalidated ? new RemoteInvalidation(invalidatedTag) : null);
                if (invalidated) {
                    exposures.invalidatedByPeer(invalidatedTag); // before anybody sees the message
                }
                yield "receiving a message";
            }
            case WorkRequestId.SEND -> {
                Object message = sends.complete(slot, success);
                if (success) {
                    SendQueue.confirm(message, channel.unsafe().outboundBuffer());
                }
                yield "a Send, RDMA Write or RDMA Read";
            }
            case WorkRequestId.INVALIDATE -> {
                exposures.completed(slot, success);
                yield "invalidating a steering tag";
            }
            default -> throw new IllegalStateException("work request id " + Long.toHexString(workRequestId));
        };
        if (success) {
            if (isWaitingForRoom() || receives.isReplaced()) {
                channel.schedule(); // once for all completions of a poll
            }
        } else if (status == WorkCompletionStatus.WORK_REQUEST_FLUSHED) {
            statistics.increment(Counter.FLUSHED_WORK_REQUESTS);
            channel.flushed();
        } else {
            channel.fail(new RdmaException(operation, status, vendorError));
        }
    }

    private void receiveCompleted(int slot, boolean success, int byteLength, RemoteInvalidation invalidation) {
        if (!success) {
            receives.flushed(slot);
            return;
        }
        receives.completed(slot, byteLength, invalidation);
        statistics.increment(Counter.RECEIVES);
        statistics.add(Counter.RECEIVED_BYTES, byteLength);
        channel.messageArrived();
    }

    private boolean isWaitingForRoom() {
        return sends.wasFull() || exposures.isWaiting();
    }

    /** What the device has; each has a reference on its buffer. */
    int outstanding() {
        return buffersWithDevice() + exposures.outstanding();
    }

    int buffersWithDevice() {
        return receives.posted() + sends.outstanding();
    }

    /** The device has lost all access without saying so; nothing will complete any more. */
    void abandonedByDevice() {
        receives.releasePosted();
        sends.releasePosted();
    }
}
