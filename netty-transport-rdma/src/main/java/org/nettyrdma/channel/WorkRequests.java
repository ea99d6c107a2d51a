package org.nettyrdma.channel;

import io.netty.channel.Channel;
import java.io.IOException;
import org.nettyrdma.channel.RdmaChannelStatistics.Counter;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.WorkCompletionStatus;

/**
 * What the device has to do for one channel: its receives, its sends and its exposed memory. Takes up the completions.
 * Event loop only.
 */
final class WorkRequests {

    /** Whose work requests these are. */
    interface Owner extends ChannelTurns {

        /** A message has arrived, and is the last of {@link #receives()}. */
        void messageArrived();

        /** The device returns what it had: the connection is over. Why will be told with the disconnect. */
        void flushed();
    }

    private final Channel channel;
    private final Owner owner;
    private final RdmaChannelStatistics statistics;
    private final QueuePair queuePair;
    private final ReceiveQueue receives;
    private final SendQueue sends;
    private final ExposureTable exposures;

    WorkRequests(RdmaChannelConfig config, RdmaChannelStatistics statistics, Owner owner, PostingTools tools, QueuePair queuePair,
                 int channelId) {
        channel = config.channel();
        this.owner = owner;
        this.statistics = statistics;
        this.queuePair = queuePair;
        receives = new ReceiveQueue(tools, queuePair, channelId, config);
        sends = new SendQueue(tools, queuePair, channelId, config, statistics);
        exposures = new ExposureTable(channel, owner, tools, queuePair, channelId, sends, statistics);
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
        // The kernel's rxe device reports a message that is too long as an error of the queue pair.
        boolean isTooLong = status == WorkCompletionStatus.LOCAL_LENGTH_ERROR
                || status == WorkCompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR;
        if (isTooLong && WorkRequestId.kind(workRequestId) == WorkRequestId.RECEIVE) {
            int bufferBytes = receives.bufferBytes(slot);
            receives.flushed(slot);
            owner.fail(RdmaException.messageTooLong(bufferBytes, status, vendorError));
            return;
        }
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
                owner.schedule(); // once for all completions of a poll
            }
        } else if (status == WorkCompletionStatus.WORK_REQUEST_FLUSHED) {
            statistics.increment(Counter.FLUSHED_WORK_REQUESTS);
            owner.flushed();
        } else {
            owner.fail(new RdmaException(operation, status, vendorError));
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
        owner.messageArrived();
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
