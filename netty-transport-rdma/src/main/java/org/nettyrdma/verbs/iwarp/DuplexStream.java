package org.nettyrdma.verbs.iwarp;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import org.nettyrdma.verbs.SendWorkRequest;
import org.nettyrdma.verbs.WorkCompletionStatus;
import org.nettyrdma.verbs.support.PowerOfTwo;
import org.nettyrdma.verbs.support.SendRing;
import org.nettyrdma.verbs.support.SendSlot;

/** Both directions of a connection whose setup is done, and what they ask of the selector. */
final class DuplexStream {

    private final SocketChannel channel;
    private final SelectionKey key;
    private final IwarpStatistics statistics;
    private final SendRing sends;
    private final ReceiveSource receives;
    private final InboundReadQueue inboundReads;
    private final OutboundReadQueue outboundReads;
    private final InboundStream inbound;
    private final OutboundStream outbound;

    private int interest = SelectionKey.OP_READ;
    private long sentBeforeFirst = -1; // bytes that TCP had taken when the first FPDU arrived; -1 until then
    private IOException writeFailure;

    DuplexStream(IwarpLoopParts parts, SocketChannel channel, SelectionKey key, WorkQueues queues,
                 MpaNegotiation negotiation) {
        this.channel = channel;
        this.key = key;
        statistics = parts.statistics();
        sends = queues.sends();
        receives = queues.receives();
        // siw rounds up the depth that it was told, so the next power of two is what it may use.
        int inboundDepth = negotiation.inboundReadDepth() == 0 ? 0 : PowerOfTwo.atLeast(negotiation.inboundReadDepth());
        inboundReads = new InboundReadQueue(inboundDepth, parts.deliveries());
        outboundReads = new OutboundReadQueue(negotiation.outboundReadDepth(), parts.core().steeringTagGenerator());
        InboundMessages messages = new InboundMessages(receives, queues.steeringTags(), inboundReads, outboundReads);
        if (negotiation.readyBySend()) {
            messages.expectReadyBySend();
        }
        inbound = new InboundStream(messages, negotiation.checksum(), parts.stagingBuffers());
        outbound = new OutboundStream(sends, inboundReads, outboundReads, negotiation.checksum(), parts.batchPool());
        key.interestOps(interest);
    }

    int outboundReadDepth() {
        return outboundReads.depth();
    }

    /** Whether an FPDU has arrived. */
    boolean hasReceived() {
        return inbound.fpdus() > 0;
    }

    /** How much has arrived. */
    long receivedBytes() {
        return inbound.receivedBytes();
    }

    /**
     * Whether something was sent since the first FPDU arrived. A peer that has sent one is ready to read, so it has noticed that,
     * and with it everything before.
     */
    boolean hasAnswered() {
        return hasReceived() && outbound.handedToTcp() > sentBeforeFirst;
    }

    /**
     * Whether a Send is at hand for which no receive is posted. After a receive is posted, {@link #resume()} goes on.
     */
    boolean isWaitingForReceive() {
        return inbound.isWaitingForReceive();
    }

    /** Lets messages go out, behind an empty RDMA Write. That touches nothing; it tells a responder that it may send. */
    void announce() {
        outbound.release();
        outbound.announce();
        flush();
    }

    /** The socket is ready. Returns {@code false} if the peer has closed the connection in order. */
    boolean ready(int readyOperations) throws IOException {
        if (writeFailure != null && (inbound.isWaitingForReceive() || (readyOperations & SelectionKey.OP_READ) == 0)) {
            throw writeFailure; // what else has arrived cannot be read, and perhaps never can; or the peer has sent no more
        }
        if ((readyOperations & SelectionKey.OP_READ) != 0) {
            boolean open = inbound.readFrom(channel);
            afterInput();
            if (!open) {
                if (writeFailure != null) {
                    throw writeFailure;
                }
                return false;
            }
        }
        if ((readyOperations & SelectionKey.OP_WRITE) != 0 && writeFailure == null) {
            write();
        }
        return true;
    }

    /** Takes in what waited for a receive. */
    void resume() throws IOException {
        inbound.resume();
        afterInput();
    }

    private void afterInput() {
        receives.turnEnded();
        boolean isWaiting = inbound.isWaitingForReceive();
        if (isWaiting) {
            statistics.receiveWaits.increment();
        }
        setInterest(SelectionKey.OP_READ, !isWaiting || writeFailure != null);
        if (sentBeforeFirst < 0 && hasReceived()) {
            sentBeforeFirst = outbound.handedToTcp();
            outbound.release();
        }
        outbound.complete(); // Reads that have been answered
        flush();             // answers to the peer's Reads, and what waited for the answer to ours
    }

    /** Hands to TCP what it takes, unless it is known to take nothing. */
    void flush() {
        if ((interest & SelectionKey.OP_WRITE) == 0) {
            write();
        }
    }

    /**
     * Hands to TCP what it takes, though it may be nothing. Linux tells that a full socket is writable when a third of what it
     * holds has gone, which takes a slow peer seconds.
     */
    void flushIfFull() {
        if (writeFailure == null) {
            write();
        }
    }

    /**
     * A failure does not end the connection yet: what the peer sent before it went, perhaps a Terminate that says why, is
     * still to be read, and behind it the end of the stream. So reading is of interest from then on, also while a receive is
     * waited for: without any interest the selector would not tell that the connection is lost. Writing is of interest, too:
     * a socket that can be written and not be read stands, so that no end of the stream will come, and it was the memory that
     * could not be sent.
     */
    private void write() {
        boolean idle = false;
        try {
            idle = outbound.writeTo(channel);
        } catch (IOException e) {
            writeFailure = e;
            setInterest(SelectionKey.OP_READ, true);
        }
        setInterest(SelectionKey.OP_WRITE, !idle);
    }

    private void setInterest(int operation, boolean wanted) {
        int newInterest = wanted ? interest | operation : interest & ~operation;
        if (newInterest != interest) {
            interest = newInterest;
            key.interestOps(newInterest);
        }
    }

    /** Tells the peer, if the socket takes it at once, why the connection ends. */
    void terminate(TerminateReason reason) throws IOException {
        outbound.writeTerminate(channel, reason, inbound.header(), inbound.headerLength());
    }

    /** The peer has said why the connection ends: fails the work request that it names, if it is known. */
    void terminatedByPeer(TerminateMessage message) {
        SendSlot culprit = null;
        if (message.terminatedOpcode() == RdmapOpcode.READ_REQUEST) {
            culprit = outboundReads.find(message.terminatedTag());
        } else if (message.terminatedOpcode() == RdmapOpcode.WRITE) {
            culprit = sends.find(slot -> slot.opcode() == SendWorkRequest.Opcode.WRITE
                    && slot.steeringTag() == message.terminatedTag());
        }
        if (culprit != null) {
            sends.fail(culprit, message.isAccessError() ? WorkCompletionStatus.REMOTE_ACCESS_ERROR
                    : WorkCompletionStatus.REMOTE_OPERATION_ERROR, message.vendorError());
        }
    }

    /** Whether TCP has refused a part of what it was given last, as the peer takes too little. */
    boolean isHeldUp() {
        return outbound.isHeldUp();
    }

    /** The bytes that TCP has taken. */
    long sentBytes() {
        return outbound.handedToTcp();
    }

    /** The length of the longest Send that the peer was sent. */
    int longestSendBytes() {
        return outbound.longestSendBytes();
    }

    /** Forgets what was on its way in either direction. From here on none of the memory of this connection is touched. */
    void close() {
        inbound.close();
        outbound.close();
        inboundReads.flush();
    }
}
