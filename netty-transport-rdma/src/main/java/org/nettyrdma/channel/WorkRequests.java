package org.nettyrdma.channel;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import org.nettyrdma.channel.RdmaChannelStatistics.Counter;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.WorkCompletionStatus;

/**
 * What the device has to do for one channel: its receives, its sends and its exposed memory. Takes up the completions.
 * Event loop only.
 */
final class WorkRequests implements PostedWork {

    private final QueuePairChannel channel;
    private final Runnable messageArrived;
    private final RdmaChannelStatistics statistics;
    private final QueuePair queuePair;
    private final Receives receives;
    /** Of the two, the one that the receives are; the other is {@code null}. */
    private final ReceiveQueue ownReceives;
    private final SharedReceives sharedReceives;
    private final SendQueue sends;
    private final PostingTools tools;
    /** {@code null} until memory is exposed: many connections never expose any. */
    private ExposureTable exposures;

    /**
     * Of a queue pair that has nothing to do yet.
     *
     * @param pool           receives that the channel has been counted for, {@code null} for receives of its own
     * @param messageArrived told of each message when it is the last of {@link #receives()}
     */
    WorkRequests(QueuePairChannel channel, RdmaChannelConfig config, PostingTools tools, QueuePair queuePair, ReceivePool pool,
                 Runnable messageArrived) {
        this.channel = channel;
        this.tools = tools;
        this.queuePair = queuePair;
        this.messageArrived = messageArrived;
        statistics = channel.statistics();
        sends = new SendQueue(tools, queuePair, channel.workRequestChannelId(), config, statistics);
        ownReceives = pool != null ? null : new ReceiveQueue(channel, tools, queuePair, config);
        sharedReceives = pool == null ? null : new SharedReceives(pool, queuePair, config); // last: what it promises stays so
        receives = pool == null ? ownReceives : sharedReceives;
    }

    Receives receives() {
        return receives;
    }

    SendQueue sends() {
        return sends;
    }

    /** The memory that the channel exposes; made with the first. */
    ExposureTable exposures() {
        if (exposures == null) {
            exposures = new ExposureTable(channel, tools, queuePair, sends);
        }
        return exposures;
    }

    /** The send queue has room again. */
    void resumeInvalidations() throws IOException {
        if (exposures != null) {
            exposures.resume();
        }
    }

    /** Keeps the receive queue full. */
    void repost() throws IOException {
        receives.repost();
        queuePair.flush();
    }

    /**
     * A receive of the event loop has completed; {@link org.nettyrdma.verbs.CompletionHandler} tells when the values are valid.
     *
     * @param buffer what was received into; this takes over the reference
     */
    void received(ByteBuf buffer, WorkCompletionStatus status, int byteLength, boolean invalidated, int invalidatedTag,
                  int vendorError) {
        if (status == WorkCompletionStatus.SUCCESS) {
            try {
                sharedReceives.arrived(buffer.writerIndex(byteLength),
                        invalidated ? new RemoteInvalidation(invalidatedTag) : null);
            } catch (Throwable t) { // no memory, for instance; the channel fails
                buffer.release();
                throw t;
            }
            messageArrived(byteLength, invalidated, invalidatedTag);
            scheduleIfNeeded();
            return;
        }
        int bufferBytes = buffer.capacity();
        buffer.release();
        receiveFailed(status, bufferBytes, vendorError);
    }

    private void receiveFailed(WorkCompletionStatus status, int bufferBytes, int vendorError) {
        if (isTooLong(status)) {
            channel.fail(RdmaException.messageTooLong(bufferBytes, status, vendorError));
        } else {
            failed(status, "receiving a message", vendorError);
        }
    }

    /** Whether a message was too long for its receive. The kernel's rxe device reports that as an error of the queue pair. */
    static boolean isTooLong(WorkCompletionStatus status) {
        return status == WorkCompletionStatus.LOCAL_LENGTH_ERROR
                || status == WorkCompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR;
    }

    /** A work request has completed; {@link org.nettyrdma.verbs.CompletionHandler} tells when the values are valid. */
    void completed(long workRequestId, WorkCompletionStatus status, int byteLength, boolean invalidated, int invalidatedTag,
                   int vendorError) {
        boolean success = status == WorkCompletionStatus.SUCCESS;
        int slot = WorkRequestId.slot(workRequestId);
        switch (WorkRequestId.kind(workRequestId)) {
            case WorkRequestId.RECEIVE -> {
                if (success) {
                    ownReceives.completed(slot, byteLength, invalidated ? new RemoteInvalidation(invalidatedTag) : null);
                    messageArrived(byteLength, invalidated, invalidatedTag);
                } else {
                    receiveFailed(status, ownReceives.flushed(slot), vendorError);
                }
            }
            case WorkRequestId.SEND -> {
                sends.complete(slot, success);
                if (!success) {
                    failed(status, "a Send, RDMA Write or RDMA Read", vendorError);
                }
            }
            case WorkRequestId.INVALIDATE -> {
                exposures().completed(slot, success);
                if (!success) {
                    failed(status, "invalidating a steering tag", vendorError);
                }
            }
            default -> throw new IllegalStateException("work request id " + Long.toHexString(workRequestId));
        }
        if (success) {
            scheduleIfNeeded();
        }
    }

    private void scheduleIfNeeded() {
        if (isWaitingForRoom() || receives.isReplaced()) {
            channel.schedule(); // once for all completions of a poll
        }
    }

    private void failed(WorkCompletionStatus status, String operation, int vendorError) {
        if (status == WorkCompletionStatus.WORK_REQUEST_FLUSHED) {
            channel.flushed();
        } else {
            channel.fail(new RdmaException(operation, status, vendorError));
        }
    }

    private void messageArrived(int byteLength, boolean invalidated, int invalidatedTag) {
        statistics.increment(Counter.RECEIVES);
        statistics.add(Counter.RECEIVED_BYTES, byteLength);
        messageArrived.run();
        if (invalidated && exposures != null) {
            exposures.invalidatedByPeer(invalidatedTag); // before anybody sees the message
        }
    }

    private boolean isWaitingForRoom() {
        return sends.wasFull() || exposures != null && exposures.isWaiting();
    }

    @Override
    public int outstanding() {
        return buffersWithDevice() + (exposures == null ? 0 : exposures.outstanding());
    }

    @Override
    public int buffersWithDevice() {
        return receives.posted() + sends.outstanding();
    }

    @Override
    public void abandonedByDevice() {
        receives.releasePosted();
        sends.releasePosted();
    }

    @Override
    public void releaseUnposted() {
        receives.releaseMessages();
    }

    @Override
    public void exposureEnded() {
        if (exposures != null) {
            exposures.closed();
        }
    }
}
