package org.nettyrdma.verbs.iwarp;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.zip.CRC32C;

/**
 * Takes the TCP stream apart into FPDUs, wherever TCP cut it.
 *
 * <p>Payload goes from the socket straight to where it belongs: one scattering read takes the rest of the current payload
 * into the target and what follows it, the trailer and the next header, into a staging buffer. Only payload that arrived
 * in the staging buffer behind its own header is copied. Staging reads are short while bulk arrives and grow while many
 * smaller messages do, see {@link #adaptStagingRead}.
 *
 * <p>With a CRC, payload is in place before its CRC is known. That touches no memory but what the connection's peer may
 * write, and a wrong CRC ends the connection without a completion for the message.
 */
final class InboundStream {

    private static final int MIN_STAGING_READ_BYTES = 512;
    /** Payload of up to 16 KiB with what frames it: to copy it costs less than a system call for each message. */
    private static final int MAX_COPIED_BYTES = 20 * 1024;
    /** Room for the trailer of one segment and the header of the next of the same message, and little more. */
    private static final int CONTINUATION_READ_BYTES = 64;
    /**
     * Payload up to this size is staged with its header and with what follows it. As 64 KiB exceed a segment by 64 bytes, this
     * takes one of two system calls from each such transfer. A Send does not say how long it is: there as much is read behind
     * each segment as lets the end of one with 64 KiB and a header come along.
     */
    private static final int MAX_STAGED_TAIL_BYTES = 256;
    /** So many reads in a row at most, lest one connection starve the others. */
    private static final int MAX_READS = 16;
    /**
     * No further read after so many segments, and shorter ones. Those with data do not come in such numbers, but a read finds
     * thousands that are empty. Each takes more time here than at a peer that sends the same bytes again and again, and hundreds
     * of such peers hold the others up.
     */
    private static final int MANY_SEGMENTS = 128;

    private static final int NOT_STAGED = -1;

    private enum State { HEADER, PAYLOAD, TRAILER }

    private final InboundMessages messages;
    private final StagingBuffers stagingBuffers;
    private final CRC32C crc;

    private final RegionView payloadView = new RegionView();
    private final ByteBuffer[] scatter = new ByteBuffer[2];
    private int scatterCount;
    private int directPosition;
    private int directLength;
    private final byte[] header = new byte[ReadRequestLayout.HEADER_LENGTH];
    private int headerLength;
    /** Where the header lies in the staging buffer, unless it has been copied. */
    private int headerStart = NOT_STAGED;

    /** Bytes from {@code stagingStart} to {@code stagingEnd} have arrived and are not used. */
    private ByteBuffer staging; // or the last one, see Pool
    private boolean hasStaging;
    private int stagingStart;
    private int stagingEnd;
    private int stagingReadBytes = MIN_STAGING_READ_BYTES * 2;

    private boolean inSegment; // behind its header
    private int segmentLength;
    private int payloadRemaining;
    private boolean waitingForReceive;
    private long fpdus;
    private long receivedBytes;

    /**
     * @param checksum    whether FPDUs carry a CRC
     */
    InboundStream(InboundMessages messages, boolean checksum, StagingBuffers stagingBuffers) {
        this.messages = messages;
        this.stagingBuffers = stagingBuffers;
        crc = checksum ? new CRC32C() : null;
    }

    /**
     * Whether a Send is at hand for which no receive is posted. Nothing is read until {@link #resume()}: the bytes stay in
     * TCP's buffers, and when these are full TCP holds the peer.
     */
    boolean isWaitingForReceive() {
        return waitingForReceive;
    }

    /** How many FPDUs have arrived. */
    long fpdus() {
        return fpdus;
    }

    /** How much has arrived, whole FPDUs or not. */
    long receivedBytes() {
        return receivedBytes;
    }

    /**
     * Reads and takes in what the socket has, up to a limit.
     *
     * @return {@code false} at the end of the stream, between two messages
     * @throws EOFException if the stream ends within a message
     * @throws ProtocolViolationException if the peer broke a rule
     * @throws PeerTerminatedException if the peer sent a Terminate
     */
    boolean readFrom(SocketChannel channel) throws IOException {
        boolean more = true;
        long manyFpdus = fpdus + MANY_SEGMENTS;
        for (int i = 0; more && i < MAX_READS; i++) {
            boolean payload = state() == State.PAYLOAD;
            long fpdusBefore = fpdus;
            long wanted = payload ? prepareScatter() : prepareStaging();
            long n = payload ? channel.read(scatter, 0, scatterCount) : channel.read(staging);
            clearStaging();
            if (n < 0) {
                releaseStaging();
                checkEnd();
                return false;
            }
            receivedBytes += n;
            if (payload) {
                takeScattered((int) n);
            } else {
                stagingEnd += (int) n;
            }
            parse();
            adaptStagingRead(n == wanted, fpdus - fpdusBefore > MANY_SEGMENTS);
            more = n == wanted && !waitingForReceive && fpdus < manyFpdus;
        }
        releaseStaging();
        return true;
    }

    /** A receive has been posted: takes in what was left in the staging buffer. */
    void resume() throws IOException {
        waitingForReceive = false;
        parse();
        releaseStaging();
    }

    /** Gives its buffer back; nothing may be read any more. */
    void close() {
        stagingStart = stagingEnd;
        releaseStaging();
    }

    /**
     * The header of the current segment, which a Terminate repeats; its first {@link #headerLength()} bytes.
     */
    byte[] header() {
        keepHeader();
        return header;
    }

    /**
     * The size of {@link #header()} in bytes, 0 if what is wrong is not about a segment.
     */
    int headerLength() {
        keepHeader();
        return headerLength;
    }

    private long prepareStaging() {
        // What is left is shorter than a header or a trailer, unless a message is staged until it is whole.
        if (!hasStaging || staging.capacity() < stagingReadBytes) {
            moveStaging(stagingBuffers.take(stagingReadBytes));
        } else if (stagingStart > 0) {
            staging.put(0, staging, stagingStart, stagingEnd - stagingStart);
            stagingEnd -= stagingStart;
            stagingStart = 0;
        }
        int wanted = Math.min(stagingReadBytes, staging.capacity() - stagingEnd);
        staging.position(stagingEnd).limit(stagingEnd + wanted);
        return wanted;
    }

    private long prepareScatter() throws IOException {
        assert stagingStart == stagingEnd : "staged bytes belong before those in the socket";
        stagingStart = 0;
        stagingEnd = 0;
        MemoryCursor target = messages.target();
        directPosition = target.position();
        directLength = Math.min(payloadRemaining, target.pieceRemaining());
        scatter[0] = payloadView.select(target.region(), directPosition, directLength);
        if (directLength < payloadRemaining) {
            scatterCount = 1; // more payload follows, for another piece of memory
            return directLength;
        }
        int behind = !messages.isFollowedByMoreThan(MAX_STAGED_TAIL_BYTES) ? stagingReadBytes
                : messages.isEndKnown() ? CONTINUATION_READ_BYTES : MIN_STAGING_READ_BYTES;
        if (!hasStaging || staging.capacity() < behind) {
            moveStaging(stagingBuffers.take(behind));
            behind = Math.min(behind, staging.capacity());
        }
        scatter[1] = staging.position(0).limit(behind);
        scatterCount = 2;
        return (long) directLength + behind;
    }

    private void takeScattered(int n) {
        int placed = Math.min(n, directLength);
        stagingEnd = n - placed;
        if (crc != null) {
            updateCrc(scatter[0], directPosition, placed);
        }
        placed(placed);
    }

    private void placed(int bytes) {
        messages.placed(bytes);
        payloadRemaining -= bytes;
    }

    /** What comes next of the stream. */
    private State state() {
        return !inSegment ? State.HEADER : payloadRemaining > 0 ? State.PAYLOAD : State.TRAILER;
    }

    private void parse() throws IOException {
        boolean progress = true;
        while (progress) {
            progress = switch (state()) {
                case HEADER -> parseHeader();
                case PAYLOAD -> copyPayload();
                case TRAILER -> parseTrailer();
            };
        }
        if (inSegment) {
            keepHeader();
        }
    }

    private boolean parseHeader() throws IOException {
        int available = stagingEnd - stagingStart;
        if (available < DdpControl.END) {
            return false;
        }
        int ulpduLength = staging.getShort(stagingStart + FpduLayout.ULPDU_LENGTH_OFFSET) & 0xFFFF;
        segmentLength = FpduLayout.ULPDU_OFFSET + ulpduLength;
        int length = InboundMessages.headerLength(staging, stagingStart, segmentLength);
        headerLength = 0;
        headerStart = NOT_STAGED;
        if (length > segmentLength || length > TerminateLayout.MAX_LENGTH) {
            throw new ProtocolViolationException(TerminateReason.INVALID_FPDU_LENGTH,
                    "ULPDU length %d with control 0x%04x", ulpduLength, staging.getShort(stagingStart + DdpControl.DDP_OFFSET));
        }
        if (available < length) {
            return false;
        }
        headerLength = length;
        headerStart = stagingStart;
        ReceiveSource.Outcome outcome = messages.begin(staging, stagingStart, length, segmentLength, available);
        if (outcome != ReceiveSource.Outcome.TAKEN) {
            waitingForReceive = outcome == ReceiveSource.Outcome.NONE;
            return false;
        }
        if (crc != null) {
            crc.reset();
            updateCrc(staging, stagingStart, length);
        }
        stagingStart += length;
        payloadRemaining = messages.payloadLength();
        inSegment = true;
        return true;
    }

    private boolean copyPayload() throws IOException {
        int available = Math.min(stagingEnd - stagingStart, payloadRemaining);
        if (available == 0) {
            return false;
        }
        MemoryCursor target = messages.target();
        int length = Math.min(available, target.pieceRemaining());
        target.region().memory().put(target.position(), staging, stagingStart, length);
        if (crc != null) {
            updateCrc(staging, stagingStart, length);
        }
        stagingStart += length;
        placed(length);
        return true;
    }

    private boolean parseTrailer() throws IOException {
        int padLength = FpduLayout.padLength(segmentLength - FpduLayout.ULPDU_OFFSET);
        if (stagingEnd - stagingStart < padLength + FpduLayout.CRC_LENGTH) {
            return false;
        }
        if (crc != null) {
            updateCrc(staging, stagingStart, padLength);
            int received = Integer.reverseBytes(staging.getInt(stagingStart + padLength));
            if (received != (int) crc.getValue()) {
                headerLength = 0;
                headerStart = NOT_STAGED;
                throw new ProtocolViolationException(TerminateReason.CRC_ERROR, "CRC 0x%08x, computed 0x%08x", received,
                        crc.getValue());
            }
        }
        stagingStart += padLength + FpduLayout.CRC_LENGTH;
        messages.end();
        fpdus++;
        inSegment = false;
        return true;
    }

    private void updateCrc(ByteBuffer buffer, int position, int length) {
        crc.update(buffer.limit(position + length).position(position));
        buffer.clear();
    }

    /** A Terminate may have to repeat the header of a segment of which more is to be read. */
    private void keepHeader() {
        if (headerStart != NOT_STAGED) {
            headerLength = InboundMessages.repeatedLength(staging, headerStart, headerLength);
            staging.get(headerStart, header, 0, headerLength);
            headerStart = NOT_STAGED;
        }
    }

    /** Bulk payload should not pass through the staging buffer, many smaller messages should come with one read. */
    private void adaptStagingRead(boolean filled, boolean manySegments) {
        if (inSegment && payloadRemaining > MAX_COPIED_BYTES) {
            stagingReadBytes = MIN_STAGING_READ_BYTES;
        } else if (manySegments) {
            stagingReadBytes = Math.max(stagingReadBytes / 2, MIN_STAGING_READ_BYTES);
        } else if (filled) {
            stagingReadBytes = Math.min(stagingReadBytes * 2, StagingBuffers.LARGE_BYTES);
        }
    }

    /** Bytes are found by index, which counts only below the limit. */
    private void clearStaging() {
        if (hasStaging) {
            staging.clear();
        }
    }

    /** Moves what is staged to the start of another buffer. */
    private void moveStaging(ByteBuffer other) {
        if (hasStaging) {
            other.put(0, staging, stagingStart, stagingEnd - stagingStart);
            stagingBuffers.give(staging);
        }
        if (staging != other) {
            staging = other;
        }
        hasStaging = true;
        stagingEnd -= stagingStart;
        stagingStart = 0;
    }

    /** A connection that is not being read has a buffer as small as it can be, or none. */
    private void releaseStaging() {
        if (!hasStaging) {
            return;
        }
        if (stagingStart == stagingEnd) {
            stagingBuffers.give(staging);
            hasStaging = false;
            stagingStart = 0;
            stagingEnd = 0;
        } else if (StagingBuffers.isLarge(staging) && stagingEnd - stagingStart <= StagingBuffers.SMALL_BYTES) {
            moveStaging(stagingBuffers.take(StagingBuffers.SMALL_BYTES));
        }
    }

    private void checkEnd() throws EOFException {
        if (inSegment || stagingEnd > stagingStart) {
            throw new EOFException("the peer closed the connection within an FPDU: " + state() + ", " + payloadRemaining
                    + " payload bytes missing");
        }
        if (messages.isInsideMessage()) {
            throw new EOFException("the peer closed the connection within a message, between two of its segments");
        }
    }
}
