package org.nettyrdma.channel;

import java.io.IOException;
import org.nettyrdma.channel.RdmaChannelStatistics.Counter;
import org.nettyrdma.stream.StreamHello;
import org.nettyrdma.stream.StreamMessage;
import org.nettyrdma.stream.StreamProtocolException;
import org.nettyrdma.stream.TargetList;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.WorkCompletionStatus;

/** What the device has to do for a stream: its memory, its receives, its sends. Takes up the completions. Event loop only. */
final class StreamWork implements PostedWork {

    private final QueuePairChannel channel;
    private final QueuePair queuePair;
    private final StreamMemory memory;
    private final StreamRing ring;
    private final StreamInput input;
    private final StreamSends sends;
    private final MessageCarrier carrier;
    private StreamOutput output; // from the agreement on
    // Of the end of this side's output, a shutdown or a disconnect; null before that:
    private StreamMessage.Control unsent;
    private StreamMessage.Control sent;
    private boolean ending;

    StreamWork(QueuePairChannel channel, QueuePair queuePair, int ringBytes) throws IOException {
        this.channel = channel;
        this.queuePair = queuePair;
        PostingTools tools = channel.io.postingTools();
        memory = new StreamMemory(tools, queuePair);
        StreamRing opened = null;
        try {
            sends = new StreamSends(channel.workRequestChannelId());
            carrier = tools.provider().capabilities().writeWithImmediate()
                    ? new ImmediateCarrier(tools, queuePair, memory, sends) : new SendCarrier(tools, queuePair, memory, sends);
            opened = new StreamRing(channel, queuePair, ringBytes);
            input = new StreamInput(channel, memory, opened);
        } catch (Throwable t) {
            try {
                queuePair.close(); // before that a device does not let go of the memory
            } finally {
                if (opened != null) {
                    opened.close();
                }
                memory.release(true);
            }
            throw t;
        }
        ring = opened;
    }

    StreamInput input() {
        return input;
    }

    /** There from the agreement on. */
    StreamOutput output() {
        return output;
    }

    /** What the peer is told with the connection request or its answer. */
    byte[] privateData() {
        return input.hello().toBytes();
    }

    /** Whether {@link #agreed} was called, before which nothing can be sent. */
    boolean isAgreed() {
        return output != null;
    }

    /** The peer has told the same. */
    void agreed(StreamHello peer, int sendBufferBytes) {
        input.agreed(peer, carrier, sends);
        TargetList target = new TargetList(memory.bytes(), peer.first(), peer.order());
        output = new StreamOutput(channel, sends, carrier, target, peer, sendBufferBytes);
    }

    /** A work request has completed. Returns the message that has arrived, {@code null} without. */
    StreamMessage completed(long workRequestId, WorkCompletionStatus status, int byteLength) throws IOException {
        boolean success = status == WorkCompletionStatus.SUCCESS;
        int slot = WorkRequestId.slot(workRequestId);
        switch (WorkRequestId.kind(workRequestId)) {
            case WorkRequestId.RECEIVE -> {
                if (success) {
                    return take(input.arrived(slot, byteLength));
                }
                input.flushed(slot);
                if (WorkRequests.isTooLong(status)) {
                    throw new StreamProtocolException("a message is longer than its receive (limit: "
                            + StreamMemory.RECEIVE_BYTES + " bytes)");
                }
            }
            case WorkRequestId.SEND -> {
                int flushed = sends.complete(slot);
                if (success) {
                    output.completed(flushed, channel.unsafe().outboundBuffer());
                }
            }
            case WorkRequestId.INVALIDATE -> ring.withdrawn(slot, success);
            default -> throw new IllegalStateException("work request id " + Long.toHexString(workRequestId));
        }
        return null;
    }

    /** A message has arrived as immediate data, which is the same number for both sides. */
    StreamMessage completedWithImmediate(long workRequestId, int immediateData) throws IOException {
        return take(input.arrived(WorkRequestId.slot(workRequestId), immediateData, StreamMessage.BYTES));
    }

    private StreamMessage take(StreamMessage message) throws IOException {
        if (message instanceof StreamMessage.Credits update) {
            output.update(update.limit());
        } else if (message == StreamMessage.Control.RECALL) {
            output.recalled();
        }
        return message;
    }

    /** Tells the peer, behind everything else, that this side sends no more, and with a disconnect that it reads no more. */
    void end(StreamMessage.Control message) throws Exception {
        if (isDisconnectSent() || message == sent) {
            return;
        }
        if (unsent != StreamMessage.Control.DISCONNECT) {
            unsent = message;
        }
        if (!ending) { // a promise that is told of the end may make its listener end or close the channel once more
            ending = true;
            try {
                releaseRestOfDisconnected();
                output.end();
            } finally {
                ending = false;
            }
            sendRest();
        }
    }

    /** Posts what there is besides new data: what is left after the end, and credits; returns whether anything was posted. */
    boolean proceed() throws Exception {
        return sendRest() | (!isDisconnectSent() && input.returnCredits());
    }

    /** Posts what is left after the end, and that it is the end, as far as there is room; returns whether anything was posted. */
    private boolean sendRest() throws Exception {
        if (ending) {
            return false; // what is left is still being counted
        }
        releaseRestOfDisconnected();
        boolean posted = output.writeRest();
        if (!isDisconnectSent()) {
            posted |= output.returnRing();
        }
        if (!output.hasRest() && unsent != null && sends.hasRoomForControl(1)) {
            carrier.send(unsent);
            sent = unsent;
            unsent = null;
            posted = true;
        }
        return posted;
    }

    /** A peer that has disconnected reads nothing more, and gives no room back. One that has shut its output down does both. */
    private void releaseRestOfDisconnected() {
        if (input.receiver().isDisconnected()) {
            output.releaseRest();
        }
    }

    /** Whether the peer was told that this side sends no more. */
    boolean isShutdownSent() {
        return sent != null;
    }

    boolean isDisconnectSent() {
        return sent == StreamMessage.Control.DISCONNECT;
    }

    /** Whether everything that was to be sent is sent. */
    boolean isAllSent() {
        return unsent == null && sends.outstanding() == 0;
    }

    /** Work requests with data of this side that have completed so far. */
    long completedData() {
        return sends.completedData();
    }

    void flush() {
        queuePair.flush();
    }

    @Override
    public void releaseUnposted() {
        if (output != null) { // what has arrived is in memory that is released when the queue pair is closed
            output.releaseRest();
        }
    }

    @Override
    public int outstanding() {
        return buffersWithDevice() + ring.withdrawals();
    }

    @Override
    public int buffersWithDevice() {
        return input.posted() + sends.outstanding();
    }

    @Override
    public void abandonedByDevice() {
        input.releasePosted();
        sends.releasePosted();
    }

    @Override
    public void exposureEnded() {
        input.ended();
        ring.close();
        if (!memory.release(buffersWithDevice() == 0)) {
            channel.statistics().increment(Counter.BUFFERS_LEAKED_ON_PURPOSE);
        }
    }
}
