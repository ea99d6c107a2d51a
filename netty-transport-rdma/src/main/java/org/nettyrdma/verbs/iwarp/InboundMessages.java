package org.nettyrdma.verbs.iwarp;

import java.nio.ByteBuffer;
import org.nettyrdma.verbs.WorkCompletionStatus;
import org.nettyrdma.verbs.support.SteeringTag;
import org.nettyrdma.verbs.support.SteeringTagTable;

/**
 * What arrives, segment by segment: checks each DDP and RDMAP header, tells where the payload goes, and completes what a
 * segment completes. Knows nothing of bytes in sockets, CRCs and waiting for input; {@link InboundStream} does.
 *
 * <p>Per segment {@link #begin}, then {@link #placed} for its payload, then {@link #end} once the trailer is checked.
 *
 * <p>The peer must send its messages one after the other. A segment of another message inside an unfinished one is refused.
 */
final class InboundMessages {

    private static final RdmapOpcode NONE = null;

    private final ReceiveSource receives;
    private final SteeringTagTable steeringTags;
    private final InboundReadQueue inboundReads;
    private final OutboundReadQueue outboundReads;

    private final MemoryCursor receiveCursor = new MemoryCursor();
    private final MemoryCursor writeCursor = new MemoryCursor();
    private int nextSendNumber = UntaggedLayout.FIRST_MESSAGE_SEQUENCE_NUMBER;
    private int nextReadNumber = UntaggedLayout.FIRST_MESSAGE_SEQUENCE_NUMBER;

    /** The message of which a segment, not the last, has arrived. */
    private RdmapOpcode unfinished = NONE;
    private boolean readyBySend;
    private boolean anySegmentEnded;

    // The current segment.
    private RdmapOpcode opcode;
    private boolean last;
    private int payloadLength;
    private MemoryCursor target;
    private SteeringTag writeTag;
    /** So many bytes of payload at most can follow in other segments of the message, as far as is known. */
    private int bytesBehind;
    private boolean announcement;
    private final InboundRead readRequest = new InboundRead();
    private TerminateMessage terminate;

    // The current message.
    private int messageBytes;
    private int invalidateTag;
    private int writeTagValue;
    private long nextWriteOffset;

    InboundMessages(ReceiveSource receives, SteeringTagTable steeringTags, InboundReadQueue inboundReads,
                    OutboundReadQueue outboundReads) {
        this.receives = receives;
        this.steeringTags = steeringTags;
        this.inboundReads = inboundReads;
        this.outboundReads = outboundReads;
    }

    /** The peer's first segment may be an empty Send that only announces it (RFC 6581, section 9.2) and uses no receive. */
    void expectReadyBySend() {
        readyBySend = true;
    }

    /**
     * The length of the header of a segment, of which the control bytes are there. The bodies of a Read Request and of a
     * Terminate count as header.
     *
     * @param segmentLength the FPDU without pad and CRC
     */
    static int headerLength(ByteBuffer in, int at, int segmentLength) {
        if (DdpControl.isTagged(in.get(at + DdpControl.DDP_OFFSET))) {
            return TaggedLayout.HEADER_LENGTH;
        }
        int code = DdpControl.opcode(in.get(at + DdpControl.RDMAP_OFFSET));
        if (code == RdmapOpcode.READ_REQUEST.code()) {
            return ReadRequestLayout.HEADER_LENGTH;
        }
        return code == RdmapOpcode.TERMINATE.code() ? Math.max(segmentLength, TerminateLayout.MIN_LENGTH)
                : UntaggedLayout.HEADER_LENGTH;
    }

    /**
     * The part of a header that a Terminate about its segment repeats: not the body of another Terminate.
     *
     * @param headerLength from {@link #headerLength}
     */
    static int repeatedLength(ByteBuffer in, int at, int headerLength) {
        boolean terminate = DdpControl.opcode(in.get(at + DdpControl.RDMAP_OFFSET)) == RdmapOpcode.TERMINATE.code();
        return terminate ? Math.min(headerLength, UntaggedLayout.HEADER_LENGTH) : headerLength;
    }

    /**
     * Checks a header.
     *
     * @param in            holds it
     * @param at            the first byte of the FPDU
     * @param headerLength  from {@link #headerLength}
     * @param segmentLength the FPDU without pad and CRC, at least {@code headerLength}
     * @param available     so many bytes from {@code at} on have arrived
     * @return {@code TAKEN} if all is well. If not, it begins a Send for which there is no receive yet: then nothing has
     *         happened, and it is to be called again when there may be one
     * @throws ProtocolViolationException if the segment is not allowed
     */
    ReceiveSource.Outcome begin(ByteBuffer in, int at, int headerLength, int segmentLength, int available)
            throws ProtocolViolationException {
        checkControl(in, at);
        payloadLength = segmentLength - headerLength;
        bytesBehind = Integer.MAX_VALUE;
        switch (opcode) {
            case WRITE -> beginWrite(in, at);
            case READ_RESPONSE -> beginReadResponse(in, at);
            case READ_REQUEST -> beginReadRequest(in, at);
            case TERMINATE -> beginTerminate(in, at, segmentLength);
            case SEND, SEND_WITH_INVALIDATE, SEND_WITH_SOLICITED_EVENT, SEND_WITH_SOLICITED_EVENT_AND_INVALIDATE -> {
                return beginSend(in, at, segmentLength, available);
            }
        }
        return ReceiveSource.Outcome.TAKEN;
    }

    private void checkControl(ByteBuffer in, int at) throws ProtocolViolationException {
        byte ddp = in.get(at + DdpControl.DDP_OFFSET);
        byte rdmap = in.get(at + DdpControl.RDMAP_OFFSET);
        boolean tagged = DdpControl.isTagged(ddp);
        if (!DdpControl.isDdpVersionKnown(ddp)) {
            throw new ProtocolViolationException(
                    tagged ? TerminateReason.TAGGED_DDP_VERSION : TerminateReason.UNTAGGED_DDP_VERSION,
                    "DDP version %d, understood is 1", DdpControl.ddpVersion(ddp));
        }
        if (!DdpControl.isRdmapVersionKnown(rdmap)) {
            throw new ProtocolViolationException(TerminateReason.RDMAP_VERSION, "RDMAP version %d, understood is 1",
                    DdpControl.rdmapVersion(rdmap));
        }
        RdmapOpcode arrived = RdmapOpcode.of(DdpControl.opcode(rdmap));
        if (opcode != arrived) { // see Pool
            opcode = arrived;
        }
        if (opcode == null || opcode.isTagged() != tagged) {
            throw new ProtocolViolationException(TerminateReason.UNEXPECTED_OPCODE, "opcode %d in %s segment",
                    DdpControl.opcode(rdmap), tagged ? "a tagged" : "an untagged");
        }
        if (unfinished != NONE && unfinished != opcode && opcode != RdmapOpcode.TERMINATE) {
            throw new ProtocolViolationException(TerminateReason.UNEXPECTED_OPCODE, "%s inside an unfinished %s", opcode,
                    unfinished);
        }
        last = DdpControl.isLast(ddp);
    }

    private ReceiveSource.Outcome beginSend(ByteBuffer in, int at, int segmentLength, int available)
            throws ProtocolViolationException {
        checkUntagged(in, at, UntaggedLayout.SEND_QUEUE, nextSendNumber, messageBytes);
        announcement = readyBySend && !anySegmentEnded && last && payloadLength == 0;
        if (announcement) {
            return ReceiveSource.Outcome.TAKEN;
        }
        if (unfinished == NONE) {
            int fpduLength = FpduLayout.fpduLength(segmentLength);
            ReceiveSource.Outcome outcome = receives.take(receiveCursor, last && fpduLength <= available,
                    last && fpduLength <= StagingBuffers.SMALL_BYTES);
            if (outcome != ReceiveSource.Outcome.TAKEN) {
                return outcome;
            }
            invalidateTag = in.getInt(at + UntaggedLayout.INVALIDATE_TAG_OFFSET);
        }
        int bufferLength = receives.takenLength();
        if (payloadLength > bufferLength - messageBytes) {
            int leastBytes = (int) Math.min((long) messageBytes + payloadLength, Integer.MAX_VALUE);
            receives.failTaken(WorkCompletionStatus.LOCAL_LENGTH_ERROR, leastBytes);
            throw new ProtocolViolationException(TerminateReason.MESSAGE_TOO_LONG,
                    "a Send of at least %d bytes for a receive buffer of %d", leastBytes, bufferLength);
        }
        target = receiveCursor;
        return ReceiveSource.Outcome.TAKEN;
    }

    private void beginWrite(ByteBuffer in, int at) throws ProtocolViolationException {
        int tagValue = in.getInt(at + TaggedLayout.STEERING_TAG_OFFSET);
        long offset = in.getLong(at + TaggedLayout.TAGGED_OFFSET_OFFSET);
        if (unfinished != NONE) {
            if (tagValue != writeTagValue) {
                throw new ProtocolViolationException(TerminateReason.TAGGED_INVALID_STEERING_TAG,
                        "steering tag 0x%08x in an RDMA Write that began with 0x%08x", tagValue, writeTagValue);
            }
            if (offset != nextWriteOffset) {
                throw new ProtocolViolationException(TerminateReason.TAGGED_OUT_OF_BOUNDS,
                        "tagged offset 0x%x in an RDMA Write that continues at 0x%x", offset, nextWriteOffset);
            }
        }
        writeTagValue = tagValue;
        nextWriteOffset = offset + payloadLength;
        // An empty RDMA Write touches nothing, so its steering tag is not looked at (RFC 5040, section 5.1).
        if (payloadLength > 0) {
            writeTag = checkWriteAccess(tagValue, offset);
            writeCursor.start(writeTag.region(), writeTag.regionOffset(offset), payloadLength);
            target = writeCursor;
            bytesBehind = writeTag.bytesFrom(nextWriteOffset);
        }
    }

    private SteeringTag checkWriteAccess(int tagValue, long offset) throws ProtocolViolationException {
        SteeringTag tag = find(tagValue, TerminateReason.TAGGED_INVALID_STEERING_TAG);
        checkAccess(tag, tag.allowsWrite(), offset, payloadLength, TerminateReason.TAGGED_OFFSET_WRAP,
                TerminateReason.TAGGED_OUT_OF_BOUNDS);
        return tag;
    }

    private void beginReadResponse(ByteBuffer in, int at) throws ProtocolViolationException {
        int tagValue = in.getInt(at + TaggedLayout.STEERING_TAG_OFFSET);
        long offset = in.getLong(at + TaggedLayout.TAGGED_OFFSET_OFFSET);
        if (outboundReads.isEmpty() || tagValue != outboundReads.oldestSinkTag()) {
            throw new ProtocolViolationException(TerminateReason.TAGGED_INVALID_STEERING_TAG,
                    "RDMA Read Response with steering tag 0x%08x, expected %s", tagValue,
                    outboundReads.isEmpty() ? "is none" : String.format("0x%08x", outboundReads.oldestSinkTag()));
        }
        int received = outboundReads.oldestReceived();
        if (offset != received) {
            throw new ProtocolViolationException(TerminateReason.TAGGED_OUT_OF_BOUNDS,
                    "RDMA Read Response at tagged offset 0x%x, expected 0x%x", offset, received);
        }
        int missing = outboundReads.oldestMissing();
        if (last ? payloadLength != missing : payloadLength > missing) {
            throw new ProtocolViolationException(TerminateReason.TAGGED_OUT_OF_BOUNDS,
                    "RDMA Read Response %s %d bytes where %d are missing", last ? "ends with" : "continues with",
                    payloadLength, missing);
        }
        target = outboundReads.oldestCursor();
        bytesBehind = missing - payloadLength;
    }

    private void beginReadRequest(ByteBuffer in, int at) throws ProtocolViolationException {
        checkUntagged(in, at, UntaggedLayout.READ_REQUEST_QUEUE, nextReadNumber, 0);
        if (payloadLength != 0 || !last) {
            throw new ProtocolViolationException(TerminateReason.MESSAGE_TOO_LONG,
                    "RDMA Read Request of more than %d bytes", ReadRequestLayout.BODY_LENGTH);
        }
        long size = Integer.toUnsignedLong(in.getInt(at + ReadRequestLayout.SIZE_OFFSET));
        int tagValue = in.getInt(at + ReadRequestLayout.SOURCE_TAG_OFFSET);
        long offset = in.getLong(at + ReadRequestLayout.SOURCE_OFFSET_OFFSET);
        if (inboundReads.isFull()) {
            throw new ProtocolViolationException(TerminateReason.CATASTROPHIC_FOR_STREAM,
                    "more than %d RDMA Read Requests outstanding", inboundReads.depth());
        }
        SteeringTag source = size == 0 ? null : checkReadAccess(tagValue, offset, size);
        readRequest.set(source, offset, (int) size, in.getInt(at + ReadRequestLayout.SINK_TAG_OFFSET),
                in.getLong(at + ReadRequestLayout.SINK_OFFSET_OFFSET));
    }

    private SteeringTag checkReadAccess(int tagValue, long offset, long size) throws ProtocolViolationException {
        SteeringTag tag = find(tagValue, TerminateReason.READ_INVALID_STEERING_TAG);
        checkAccess(tag, tag.allowsRead(), offset, size, TerminateReason.READ_OFFSET_WRAP, TerminateReason.READ_OUT_OF_BOUNDS);
        return tag;
    }

    /** The memory that the current message names. */
    private SteeringTag find(int tagValue, TerminateReason ifNone) throws ProtocolViolationException {
        SteeringTag tag = steeringTags.find(tagValue);
        if (tag == null) {
            throw new ProtocolViolationException(ifNone, "%s names steering tag 0x%08x, which is not valid", opcode, tagValue);
        }
        return tag;
    }

    private void checkAccess(SteeringTag tag, boolean allowed, long offset, long size, TerminateReason ifWrap,
                             TerminateReason ifOutside) throws ProtocolViolationException {
        if (!allowed) {
            throw new ProtocolViolationException(TerminateReason.ACCESS_RIGHTS_VIOLATION, "%s to %s", opcode, tag);
        }
        if (SteeringTag.wraps(offset, size)) {
            throw new ProtocolViolationException(ifWrap, "%s of %d bytes at tagged offset 0x%x", opcode, size, offset);
        }
        if (!tag.contains(offset, size)) {
            throw new ProtocolViolationException(ifOutside, "%s of %d bytes at tagged offset 0x%x of %s", opcode, size, offset,
                    tag);
        }
    }

    private void beginTerminate(ByteBuffer in, int at, int segmentLength) throws ProtocolViolationException {
        checkUntagged(in, at, UntaggedLayout.TERMINATE_QUEUE, UntaggedLayout.FIRST_MESSAGE_SEQUENCE_NUMBER, 0);
        terminate = TerminateMessage.decode(in, at, segmentLength);
    }

    private void checkUntagged(ByteBuffer in, int at, int queue, int sequenceNumber, int messageOffset)
            throws ProtocolViolationException {
        int actualQueue = in.getInt(at + UntaggedLayout.QUEUE_NUMBER_OFFSET);
        if (actualQueue != queue) {
            throw new ProtocolViolationException(TerminateReason.INVALID_QUEUE_NUMBER, "%s on queue %s, expected %d", opcode,
                    Integer.toUnsignedString(actualQueue), queue);
        }
        int actualNumber = in.getInt(at + UntaggedLayout.MESSAGE_SEQUENCE_NUMBER_OFFSET);
        if (actualNumber != sequenceNumber) {
            throw new ProtocolViolationException(TerminateReason.INVALID_MESSAGE_SEQUENCE_NUMBER,
                    "%s has message sequence number %s, expected %s", opcode, Integer.toUnsignedString(actualNumber),
                    Integer.toUnsignedString(sequenceNumber));
        }
        int actualOffset = in.getInt(at + UntaggedLayout.MESSAGE_OFFSET_OFFSET);
        if (actualOffset != messageOffset) {
            throw new ProtocolViolationException(TerminateReason.INVALID_MESSAGE_OFFSET, "%s at message offset %s, expected %d",
                    opcode, Integer.toUnsignedString(actualOffset), messageOffset);
        }
    }

    /** Whether a message has begun of which segments are missing. */
    boolean isInsideMessage() {
        return unfinished != NONE;
    }

    int payloadLength() {
        return payloadLength;
    }

    /** Whether another segment of the same message follows, which may have more than so many bytes of payload. */
    boolean isFollowedByMoreThan(int bytes) {
        return !last && bytesBehind > bytes;
    }

    /** Whether it is known how far the current message can go on; not of a Send. */
    boolean isEndKnown() {
        return bytesBehind != Integer.MAX_VALUE;
    }

    /**
     * Where the payload of the current segment goes next; only while some is missing.
     *
     * @throws ProtocolViolationException if this side has withdrawn the memory since the segment began
     */
    MemoryCursor target() throws ProtocolViolationException {
        if (opcode == RdmapOpcode.WRITE && !writeTag.isValid()) {
            throw new ProtocolViolationException(TerminateReason.TAGGED_INVALID_STEERING_TAG,
                    "RDMA Write to %s, which was withdrawn while it went on", writeTag);
        }
        return target;
    }

    /**
     * Payload is in place at {@link #target()}.
     */
    void placed(int bytes) {
        target.advance(bytes);
        if (opcode == RdmapOpcode.READ_RESPONSE) {
            outboundReads.received(bytes);
        }
    }

    /**
     * The current segment has arrived, and its CRC was right if there is one. Only now has it any effect but its payload.
     *
     * @throws ProtocolViolationException if it completes a Send that withdraws what it must not, or a Read Request for what
     *         this side has withdrawn since it began
     * @throws PeerTerminatedException if it is a Terminate
     */
    void end() throws ProtocolViolationException, PeerTerminatedException {
        anySegmentEnded = true;
        switch (opcode) {
            case WRITE -> writeTag = null;
            case READ_RESPONSE -> endReadResponse();
            case READ_REQUEST -> endReadRequest();
            case SEND, SEND_WITH_INVALIDATE, SEND_WITH_SOLICITED_EVENT, SEND_WITH_SOLICITED_EVENT_AND_INVALIDATE -> endSend();
            case TERMINATE -> throw new PeerTerminatedException(terminate);
        }
        unfinished = last ? NONE : opcode;
    }

    private void endReadRequest() throws ProtocolViolationException {
        SteeringTag source = readRequest.source();
        if (source != null && !source.isValid()) {
            throw new ProtocolViolationException(TerminateReason.READ_INVALID_STEERING_TAG,
                    "RDMA Read from %s, which was withdrawn while the request arrived", source);
        }
        inboundReads.add(readRequest);
        readRequest.clear();
        nextReadNumber++;
    }

    private void endReadResponse() {
        if (last) {
            outboundReads.removeOldest().setEndPosition(0); // done, whatever TCP has taken
        }
    }

    private void endSend() throws ProtocolViolationException {
        messageBytes += payloadLength;
        if (!last) {
            return;
        }
        nextSendNumber++;
        if (!announcement) {
            boolean invalidates = opcode.invalidates();
            if (invalidates) {
                withdraw(invalidateTag);
            }
            receives.completeTaken(messageBytes, invalidates, invalidates ? invalidateTag : 0);
        }
        messageBytes = 0;
    }

    private void withdraw(int tagValue) throws ProtocolViolationException {
        SteeringTag tag = find(tagValue, TerminateReason.STEERING_TAG_NOT_INVALIDATED);
        // The user takes the message as the sign that its memory is its own again, so nothing may be reading it.
        if (tag.isBeingRead()) {
            throw new ProtocolViolationException(TerminateReason.STEERING_TAG_NOT_INVALIDATED,
                    "Send withdraws %s while an RDMA Read of it is outstanding", tag);
        }
        steeringTags.remove(tagValue);
    }
}
