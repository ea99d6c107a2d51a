package org.nettyrdma.channel;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import java.io.IOException;
import org.nettyrdma.channel.RdmaChannelStatistics.Counter;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.QueuePairAttributes;
import org.nettyrdma.verbs.WorkCompletionStatus;

/**
 * What the device has to do for one channel: its receives, its sends and its exposed memory. Takes up the completions.
 * Event loop only.
 */
final class WorkRequests implements PostedWork {

    /** Whose work requests these are. */
    interface Owner extends ChannelTurns {

        /** A message has arrived, and is the last of {@link #receives()}. */
        void messageArrived();

        /** The device returns what it had: the connection is over. Why will be told with the disconnect. */
        void flushed();
    }

    /** Creates the queue pair for a connection that it knows. */
    interface QueuePairOpener {

        QueuePair open(QueuePairAttributes attributes) throws IOException;
    }

    private final Channel channel;
    private final Owner owner;
    private final RdmaChannelStatistics statistics;
    private final QueuePair queuePair;
    private final Receives receives;
    /** Of the two, the one that the receives are; the other is {@code null}. */
    private final ReceiveQueue ownReceives;
    private final SharedReceives sharedReceives;
    private final SendQueue sends;
    private final PostingTools tools;
    private final int channelId;
    /** {@code null} until memory is exposed: many connections never expose any. */
    private ExposureTable exposures;

    private WorkRequests(RdmaChannelConfig config, RdmaChannelStatistics statistics, Owner owner, PostingTools tools,
                         QueuePair queuePair, int channelId, ReceivePool pool) {
        channel = config.channel();
        this.owner = owner;
        this.tools = tools;
        this.channelId = channelId;
        this.statistics = statistics;
        this.queuePair = queuePair;
        sharedReceives = pool == null ? null : new SharedReceives(pool, queuePair, config);
        ownReceives = pool != null ? null : new ReceiveQueue(tools, queuePair, channelId, config);
        receives = pool == null ? ownReceives : sharedReceives;
        sends = new SendQueue(tools, queuePair, channelId, config, statistics);
    }

    /**
     * Creates the queue pair of a channel, and all that goes with it.
     *
     * @param channelId tells its completions from those of other channels of the loop
     * @param pool      receives that the channel has been counted for, {@code null} for receives of its own
     */
    static WorkRequests open(RdmaChannelConfig config, RdmaChannelStatistics statistics, Owner owner, PostingTools tools,
                             int channelId, ReceivePool pool, QueuePairOpener opener) throws IOException {
        QueuePair opened = null;
        try {
            opened = opener.open(config.queuePairAttributes(tools.provider(), pool == null ? null : pool.queue(), channelId));
            return new WorkRequests(config, statistics, owner, tools, opened, channelId, pool);
        } catch (Throwable t) {
            if (opened != null) {
                opened.close();
            }
            if (pool != null) {
                pool.leave();
            }
            throw t;
        }
    }

    QueuePair queuePair() {
        return queuePair;
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
            exposures = new ExposureTable(channel, owner, tools, queuePair, channelId, sends, statistics);
        }
        return exposures;
    }

    /** The send queue has room again. */
    void resumeInvalidations() throws IOException {
        if (exposures != null) {
            exposures.resume();
        }
    }

    /** The peer has withdrawn memory, if there is any that it could. */
    private void invalidatedByPeer(int tag) {
        if (exposures != null) {
            exposures.invalidatedByPeer(tag);
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
            sharedReceives.arrived(buffer.writerIndex(byteLength), invalidated ? new RemoteInvalidation(invalidatedTag) : null);
            messageArrived(byteLength);
            if (invalidated) {
                invalidatedByPeer(invalidatedTag); // before anybody sees the message
            }
            scheduleIfNeeded();
            return;
        }
        int bufferBytes = buffer.capacity();
        buffer.release();
        if (isTooLong(status)) {
            owner.fail(RdmaException.messageTooLong(bufferBytes, status, vendorError));
        } else {
            failed(status, "receiving a message", vendorError);
        }
    }

    /** The kernel's rxe device reports a message that is too long as an error of the queue pair. */
    private static boolean isTooLong(WorkCompletionStatus status) {
        return status == WorkCompletionStatus.LOCAL_LENGTH_ERROR
                || status == WorkCompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR;
    }

    /** A work request has completed; {@link org.nettyrdma.verbs.CompletionHandler} tells when the values are valid. */
    void completed(long workRequestId, WorkCompletionStatus status, int byteLength, boolean invalidated, int invalidatedTag,
                   int vendorError) {
        boolean success = status == WorkCompletionStatus.SUCCESS;
        int slot = WorkRequestId.slot(workRequestId);
        if (isTooLong(status) && WorkRequestId.kind(workRequestId) == WorkRequestId.RECEIVE) {
            int bufferBytes = ownReceives.bufferBytes(slot);
            ownReceives.flushed(slot);
            owner.fail(RdmaException.messageTooLong(bufferBytes, status, vendorError));
            return;
        }
        String operation = switch (WorkRequestId.kind(workRequestId)) {
            case WorkRequestId.RECEIVE -> {
                receiveCompleted(slot, success, byteLength, invalidated ? new RemoteInvalidation(invalidatedTag) : null);
                if (invalidated) {
                    invalidatedByPeer(invalidatedTag); // before anybody sees the message
                }
                yield "receiving a message";
            }
            case WorkRequestId.SEND -> {
                Object message = sends.complete(slot, success);
                if (success && !sends.isHeld()) {
                    SendQueue.confirm(message, channel.unsafe().outboundBuffer());
                }
                yield "a Send, RDMA Write or RDMA Read";
            }
            case WorkRequestId.INVALIDATE -> {
                exposures().completed(slot, success);
                yield "invalidating a steering tag";
            }
            default -> throw new IllegalStateException("work request id " + Long.toHexString(workRequestId));
        };
        if (success) {
            scheduleIfNeeded();
        } else {
            failed(status, operation, vendorError);
        }
    }

    private void scheduleIfNeeded() {
        if (isWaitingForRoom() || receives.isReplaced()) {
            owner.schedule(); // once for all completions of a poll
        }
    }

    private void failed(WorkCompletionStatus status, String operation, int vendorError) {
        if (status == WorkCompletionStatus.WORK_REQUEST_FLUSHED) {
            statistics.increment(Counter.FLUSHED_WORK_REQUESTS);
            owner.flushed();
        } else {
            owner.fail(new RdmaException(operation, status, vendorError));
        }
    }

    private void receiveCompleted(int slot, boolean success, int byteLength, RemoteInvalidation invalidation) {
        if (!success) {
            ownReceives.flushed(slot);
            return;
        }
        ownReceives.completed(slot, byteLength, invalidation);
        messageArrived(byteLength);
    }

    private void messageArrived(int byteLength) {
        statistics.increment(Counter.RECEIVES);
        statistics.add(Counter.RECEIVED_BYTES, byteLength);
        owner.messageArrived();
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
