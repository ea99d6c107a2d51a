package org.nettyrdma.verbs.iwarp;

import java.io.IOException;
import java.nio.channels.SocketChannel;
import org.nettyrdma.verbs.support.Pool;
import org.nettyrdma.verbs.support.SendRing;
import org.nettyrdma.verbs.support.SendSlot;

/**
 * Turns work requests and answers to the peer's RDMA Reads into FPDUs and hands them to TCP.
 *
 * <p>Segments of two messages are never mixed. Between messages, answers to Reads go before own work, but at most
 * {@value #MAX_ANSWERS_IN_A_ROW} in a row while own work waits. A Read that exceeds the outbound read depth stops the work
 * requests behind it; they would complete after it anyway.
 */
final class OutboundStream {

    /**
     * Payload of a segment that is not the last of its message: the largest multiple of a cache line that the 16-bit length
     * allows with either header. Large segments cost the fewest headers and system calls; TCP cuts them as it likes.
     */
    static final int MAX_PAYLOAD_BYTES = 65472;

    private static final int MAX_ANSWERS_IN_A_ROW = 4;
    /** So many writes in a row at most, lest one connection starve the others. */
    private static final int MAX_WRITES = 16;

    private final SendRing requests;
    private final InboundReadQueue inboundReads;
    private final OutboundReadQueue outboundReads;
    private final boolean checksum;
    private final Pool<FpduBatch> batchPool;

    private FpduBatch batch; // or the last one, see Pool
    private boolean hasBatch;
    private long encodedBytes;
    private long handedToTcp;
    private boolean heldBack = true;
    private int owedAnnouncements;
    private int answersInARow;
    private int longestSendBytes;
    private int nextSendNumber = UntaggedLayout.FIRST_MESSAGE_SEQUENCE_NUMBER;
    private int nextReadNumber = UntaggedLayout.FIRST_MESSAGE_SEQUENCE_NUMBER;

    // The message whose segments are being encoded: a work request, or else an answer.
    private final MemoryCursor source = new MemoryCursor();
    private boolean inMessage;
    private InboundRead answer; // or null
    private SendSlot request; // or the last one, see Pool
    private int messageBytes;
    private int encodedOfMessage;

    /**
     * @param batchPool empty batches, shared by the connections of a context
     */
    OutboundStream(SendRing requests, InboundReadQueue inboundReads, OutboundReadQueue outboundReads, boolean checksum,
                   Pool<FpduBatch> batchPool) {
        this.requests = requests;
        this.inboundReads = inboundReads;
        this.outboundReads = outboundReads;
        this.checksum = checksum;
        this.batchPool = batchPool;
    }

    /** Messages can be sent from now on. A responder must wait for the initiator's first FPDU (RFC 5044, section 7.1.2). */
    void release() {
        heldBack = false;
    }

    /** Sends an empty RDMA Write before anything else. It touches nothing; it tells a responder that it may send. */
    void announce() {
        owedAnnouncements++;
    }

    /**
     * Hands to TCP what it takes, and completes what it has taken.
     *
     * @return {@code false} if there is more to send: go on when the socket is writable
     */
    boolean writeTo(SocketChannel channel) throws IOException {
        for (int i = 0; i < MAX_WRITES; i++) {
            if (!isHeldUp()) {
                encode();
            }
            if (!isHeldUp()) {
                releaseEmptyBatch();
                return true;
            }
            handedToTcp += batch.writeTo(channel);
            complete();
            if (!batch.isEmpty()) {
                return false;
            }
        }
        return false;
    }

    /** Completes work requests that are done, in their order. */
    void complete() {
        inboundReads.complete(handedToTcp);
        requests.complete(handedToTcp);
    }

    /** Tries to hand a Terminate to TCP. It goes behind what the socket has not taken yet, or not at all. */
    void writeTerminate(SocketChannel channel, TerminateReason reason, byte[] header, int headerLength) throws IOException {
        if (isHeldUp()) {
            batch.writeTo(channel);
            if (isHeldUp()) {
                return;
            }
        }
        encodeTerminate(reason, header, headerLength);
        batch.writeTo(channel);
    }

    /** Forgets everything; nothing may be sent any more. */
    void close() {
        if (hasBatch) {
            batch.clear();
            releaseEmptyBatch();
        }
        source.clear();
        batch = null;
        request = null;
        answer = null;
        inMessage = false;
    }

    private FpduBatch batch() {
        if (!hasBatch) {
            FpduBatch taken = batchPool.take();
            if (batch != taken) {
                batch = taken;
            }
            hasBatch = true;
            batch.bind(checksum);
        }
        return batch;
    }

    private void releaseEmptyBatch() {
        if (hasBatch && batch.isEmpty()) {
            hasBatch = false;
            batchPool.give(batch);
        }
    }

    private void encode() {
        while ((!hasBatch || batch.hasRoom()) && (inMessage || beginMessage())) {
            if (inMessage) {
                encodeSegment();
            }
        }
    }

    /** Chooses the next message. One that has a single segment of its own kind is encoded at once. */
    private boolean beginMessage() {
        if (heldBack) {
            return false;
        }
        if (owedAnnouncements > 0) {
            owedAnnouncements--;
            encodeAnnouncement();
            return true;
        }
        SendSlot own = requests.peekWaiting();
        if (own != null && own.isRead() && outboundReads.isFull()) {
            own = null;
        }
        InboundRead asked = inboundReads.peekWaiting();
        if (asked != null && (own == null || answersInARow < MAX_ANSWERS_IN_A_ROW)) {
            beginAnswer(asked);
        } else if (own != null) {
            beginRequest(own);
        } else {
            return false;
        }
        return true;
    }

    private void beginAnswer(InboundRead read) {
        if (answersInARow < MAX_ANSWERS_IN_A_ROW) {
            answersInARow++; // never beyond, where a peer that only reads could make it overflow
        }
        inboundReads.takeWaiting();
        answer = read;
        inMessage = true;
        messageBytes = read.size();
        encodedOfMessage = 0;
        read.start(source);
    }

    boolean isHeldUp() {
        return hasBatch && !batch.isEmpty();
    }

    long handedToTcp() {
        return handedToTcp;
    }

    /** The length of the longest Send that has been begun. */
    int longestSendBytes() {
        return longestSendBytes;
    }

    private void beginRequest(SendSlot slot) {
        answersInARow = 0;
        requests.takeWaiting();
        if (slot.isRead()) {
            encodeReadRequest(slot);
        } else {
            if (request != slot) {
                request = slot;
            }
            inMessage = true;
            messageBytes = slot.totalBytes();
            if (messageBytes > longestSendBytes && RdmapOpcode.of(slot) != RdmapOpcode.WRITE) {
                longestSendBytes = messageBytes;
            }
            encodedOfMessage = 0;
            source.start(slot);
        }
    }

    private void encodeSegment() {
        int length = Math.min(messageBytes - encodedOfMessage, MAX_PAYLOAD_BYTES);
        boolean last = encodedOfMessage + length == messageBytes;
        int headerLength = TaggedLayout.HEADER_LENGTH;
        if (answer != null) {
            batch().beginTagged(RdmapOpcode.READ_RESPONSE, last, answer.sinkTag(), answer.sinkOffset() + encodedOfMessage,
                    length);
        } else if (RdmapOpcode.of(request) == RdmapOpcode.WRITE) {
            batch().beginTagged(RdmapOpcode.WRITE, last, request.steeringTag(), request.remoteOffset() + encodedOfMessage,
                    length);
        } else {
            headerLength = UntaggedLayout.HEADER_LENGTH;
            batch().beginUntagged(RdmapOpcode.of(request), last, request.steeringTag(), UntaggedLayout.SEND_QUEUE,
                    nextSendNumber, encodedOfMessage, length);
        }
        batch.payload(source, length);
        encodedBytes += batch.end(headerLength + length);
        encodedOfMessage += length;
        if (last) {
            endMessage();
        }
    }

    private void endMessage() {
        if (answer != null) {
            answer.setEndPosition(encodedBytes);
        } else {
            request.setEndPosition(encodedBytes);
            if (RdmapOpcode.of(request) != RdmapOpcode.WRITE) {
                nextSendNumber++;
            }
        }
        answer = null;
        inMessage = false;
    }

    private void encodeReadRequest(SendSlot slot) {
        int sinkTag = outboundReads.add(slot);
        batch().beginUntagged(RdmapOpcode.READ_REQUEST, true, 0, UntaggedLayout.READ_REQUEST_QUEUE, nextReadNumber++, 0,
                ReadRequestLayout.BODY_LENGTH);
        batch.body().putInt(sinkTag).putLong(0).putInt(slot.totalBytes())
                .putInt(slot.steeringTag()).putLong(slot.remoteOffset());
        encodedBytes += batch.end(ReadRequestLayout.HEADER_LENGTH);
    }

    private void encodeAnnouncement() {
        batch().beginTagged(RdmapOpcode.WRITE, true, 0, 0, 0);
        encodedBytes += batch.end(TaggedLayout.HEADER_LENGTH);
    }

    private void encodeTerminate(TerminateReason reason, byte[] header, int headerLength) {
        // Errors of MPA are about the stream, not about a segment (RFC 5040, section 4.8).
        boolean aboutSegment = reason.layer() != TerminateReason.Layer.MPA && headerLength > 0;
        boolean aboutRead = aboutSegment && headerLength == ReadRequestLayout.HEADER_LENGTH;
        int flags = (aboutSegment ? TerminateLayout.SEGMENT_LENGTH_VALID | TerminateLayout.DDP_HEADER_INCLUDED : 0)
                | (aboutRead ? TerminateLayout.RDMAP_HEADER_INCLUDED : 0);
        int attachedLength = aboutSegment ? headerLength : 0;
        int length = TerminateLayout.MIN_LENGTH + attachedLength;
        batch().beginUntagged(RdmapOpcode.TERMINATE, true, 0, UntaggedLayout.TERMINATE_QUEUE,
                UntaggedLayout.FIRST_MESSAGE_SEQUENCE_NUMBER, 0, length - UntaggedLayout.HEADER_LENGTH);
        // What is attached begins with the length of its segment, which stands in front of the DDP header in its FPDU too.
        batch.body().put((byte) reason.layerAndType()).put((byte) reason.code()).put((byte) flags).put((byte) 0)
                .put(header, 0, attachedLength);
        batch.end(length);
    }
}
