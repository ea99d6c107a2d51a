package org.nettyrdma.verbs.iwarp;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.zip.CRC32C;
import org.nettyrdma.verbs.MemoryRegion;
import org.nettyrdma.verbs.support.DirectMemory;

/**
 * FPDUs on their way into TCP: many, of many messages, go with one gathering write. Headers, trailers and short payload lie
 * one behind the other in a buffer of the batch; longer payload stays where it is and is referred to.
 * <pre>{@code
 * own bytes  | header 1 | trailer 1, header 2, short payload 2, trailer 2, header 3 | trailer 3 |
 * payload              | payload 1 |                                         | payload 3 |
 * }</pre>
 *
 * <p>A segment is built by {@link #beginTagged} or {@link #beginUntagged}, {@link #payload}, {@link #end}. Before it,
 * {@link #hasRoom()} must be true. Reusable, and not bound to a connection while it is {@linkplain #isEmpty() empty}.
 */
final class FpduBatch {

    /** More pieces than this a message cannot have: with its header it must fit into one gathering write. */
    static final int MAX_PIECES = 32;

    /**
     * Payload up to this size is copied behind its header. For a few hundred bytes that is cheaper than another element of a
     * gathering write, of which Java and the system each check every one.
     */
    private static final int MAX_COPIED_BYTES = 512;
    /** So many payload bytes that eight messages of 64 KiB leave with one write, which wakes the peer once. */
    private static final int TARGET_BYTES = 640 * 1024;
    /** With a CRC, so few that the system's copy finds in the cache what the CRC was computed over. */
    private static final int TARGET_BYTES_WITH_CRC = 256 * 1024;
    private static final int OWN_BYTES = 8192;
    /** A header of any kind, a copied payload and a trailer. */
    private static final int MAX_OWN_BYTES_PER_FPDU =
            ReadRequestLayout.HEADER_LENGTH + MAX_COPIED_BYTES + FpduLayout.MAX_TRAILER_LENGTH;
    /** Less than the 1024 that Linux takes in one call, and enough for two messages of the most pieces. */
    private static final int MAX_VECTOR = 128;

    private final ByteBuffer own = DirectMemory.allocate(OWN_BYTES);
    private final ByteBuffer[] vector = new ByteBuffer[MAX_VECTOR];
    private final ByteBuffer[] ownViews = new ByteBuffer[MAX_VECTOR];
    private final RegionView[] payloadViews = new RegionView[MAX_VECTOR];
    private final CRC32C crc = new CRC32C();

    private int vectorStart;
    private int vectorEnd;
    /** Own bytes from here on are in no element of the vector yet. */
    private int ownStart;
    private int payloadBytes;
    private boolean checksum;

    // The segment being built.
    private int segmentStart;
    private int crcStart;

    /**
     * Binds the batch, which is empty, to a connection.
     *
     * @param withChecksum whether the FPDUs of the connection get a CRC
     */
    void bind(boolean withChecksum) {
        checksum = withChecksum;
    }

    boolean isEmpty() {
        return vectorStart == vectorEnd && ownStart == own.position();
    }

    /** Whether another segment fits, whatever it is. */
    boolean hasRoom() {
        return own.remaining() >= MAX_OWN_BYTES_PER_FPDU && MAX_VECTOR - vectorEnd >= 2 * MAX_PIECES
                && payloadBytes < (checksum ? TARGET_BYTES_WITH_CRC : TARGET_BYTES);
    }

    /** Begins a tagged segment. */
    void beginTagged(RdmapOpcode opcode, boolean last, int steeringTag, long taggedOffset, int payloadLength) {
        begin(opcode, last, TaggedLayout.HEADER_LENGTH + payloadLength);
        own.putInt(steeringTag).putLong(taggedOffset);
    }

    /** Begins an untagged segment. */
    void beginUntagged(RdmapOpcode opcode, boolean last, int invalidateTag, int queue, int sequenceNumber, int messageOffset,
                       int payloadLength) {
        begin(opcode, last, UntaggedLayout.HEADER_LENGTH + payloadLength);
        own.putInt(invalidateTag).putInt(queue).putInt(sequenceNumber).putInt(messageOffset);
    }

    private void begin(RdmapOpcode opcode, boolean last, int segmentLength) {
        segmentStart = own.position();
        crcStart = segmentStart;
        crc.reset();
        own.putShort((short) (segmentLength - FpduLayout.ULPDU_OFFSET)).putShort(DdpControl.encode(opcode, last));
    }

    /** Adds the body of a Read Request or of a Terminate. */
    ByteBuffer body() {
        return own;
    }

    /** Adds payload, and moves the cursor behind it. */
    void payload(MemoryCursor source, int length) {
        int missing = length;
        boolean copy = length <= MAX_COPIED_BYTES;
        while (missing > 0) {
            int piece = Math.min(missing, source.pieceRemaining());
            if (copy) {
                own.put(own.position(), source.region().memory(), source.position(), piece)
                        .position(own.position() + piece);
            } else {
                refer(source.region(), source.position(), piece);
            }
            source.advance(piece);
            missing -= piece;
        }
        payloadBytes += length;
    }

    private void refer(MemoryRegion region, int offset, int length) {
        if (checksum) {
            updateCrcWithOwn();
        }
        closeOwn();
        if (payloadViews[vectorEnd] == null) {
            payloadViews[vectorEnd] = new RegionView();
        }
        ByteBuffer view = payloadViews[vectorEnd].select(region, offset, length);
        if (checksum) {
            crc.update(view);
            view.position(offset);
        }
        vector[vectorEnd++] = view;
    }

    /** Ends the segment with pad and CRC. Returns the size of the FPDU in bytes. */
    int end(int segmentLength) {
        int padLength = FpduLayout.padLength(segmentLength - FpduLayout.ULPDU_OFFSET);
        for (int i = 0; i < padLength; i++) {
            own.put((byte) 0);
        }
        if (checksum) {
            updateCrcWithOwn();
        }
        own.putInt(checksum ? Integer.reverseBytes((int) crc.getValue()) : 0);
        return segmentLength + padLength + FpduLayout.CRC_LENGTH;
    }

    private void updateCrcWithOwn() {
        int end = own.position();
        crc.update(own.limit(end).position(crcStart));
        own.limit(own.capacity());
        crcStart = end;
    }

    private void closeOwn() {
        int end = own.position();
        if (end > ownStart) {
            if (ownViews[vectorEnd] == null) {
                ownViews[vectorEnd] = own.duplicate();
            }
            vector[vectorEnd] = ownViews[vectorEnd].limit(end).position(ownStart);
            vectorEnd++;
            ownStart = end;
        }
    }

    /** Writes as much as the socket takes; when that was all, the batch is empty again. Returns the bytes written. */
    long writeTo(SocketChannel channel) throws IOException {
        closeOwn();
        long n = vectorEnd - vectorStart == 1 ? channel.write(vector[vectorStart])
                : channel.write(vector, vectorStart, vectorEnd - vectorStart);
        while (vectorStart < vectorEnd && !vector[vectorStart].hasRemaining()) {
            vectorStart++;
        }
        if (vectorStart == vectorEnd) {
            clear();
        }
        return n;
    }

    void clear() {
        own.clear();
        vectorStart = 0;
        vectorEnd = 0;
        ownStart = 0;
        payloadBytes = 0;
    }

    /** Frees the memory of the batch, which nobody may use any more. */
    void free() {
        DirectMemory.free(own);
    }
}
