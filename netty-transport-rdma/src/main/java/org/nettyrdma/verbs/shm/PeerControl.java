package org.nettyrdma.verbs.shm;

import java.io.IOException;
import java.lang.invoke.VarHandle;
import java.nio.MappedByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * The other side's control file, mapped for reading. Whatever is in there is a claim, which can change at any time: each value is
 * read once and checked before it is used. See {@link ControlLayout}.
 */
final class PeerControl {

    private final MappedByteBuffer memory;
    private final int[] blocks = new int[ControlLayout.MAX_PIECES];
    private final int[] offsets = new int[ControlLayout.MAX_PIECES];
    private final int[] lengths = new int[ControlLayout.MAX_PIECES];

    private long nextEntry;

    // The copy of the next message.
    private Operation operation;
    private int pieceCount;
    private int steeringTag;
    private long taggedOffset;
    private int totalBytes;

    private long consumed;

    /**
     * @throws IOException if it is no control file
     */
    PeerControl(Path file) throws IOException {
        this(MappedFiles.map(file, ControlLayout.FILE_BYTES, ControlLayout.FILE_BYTES));
        try {
            long magic = (long) ControlLayout.LONG.getAcquire(memory, ControlLayout.MAGIC_OFFSET);
            MappedFiles.settle();
            if (magic != ControlLayout.MAGIC) {
                throw new IOException(String.format("magic number 0x%x (expected: 0x%x)", magic, ControlLayout.MAGIC));
            }
        } catch (InternalError e) {
            close();
            throw truncated();
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    PeerControl(MappedByteBuffer memory) {
        this.memory = memory;
    }

    /** What an access to a file ends with that its owner has truncated. */
    static IOException truncated() {
        return new ShmProtocolException(EndReason.FAILED, "the peer has truncated a file that it shares");
    }

    /** The number of the entry that is read next, from 0: as many are done with. */
    long nextEntry() {
        return nextEntry;
    }

    /** Whether there is another message. */
    boolean hasNext() {
        return (long) ControlLayout.LONG.getAcquire(memory, ControlLayout.entryOffset(nextEntry)) == nextEntry + 1;
    }

    /**
     * Copies the next message, and checks what can be checked without knowing what it asks for.
     *
     * @throws ShmProtocolException if it is none
     */
    void readNext() throws ShmProtocolException {
        int at = ControlLayout.entryOffset(nextEntry);
        int operationAndPieces = (int) ControlLayout.INT.get(memory, at + ControlLayout.OPERATION_OFFSET);
        steeringTag = (int) ControlLayout.INT.get(memory, at + ControlLayout.STEERING_TAG_OFFSET);
        taggedOffset = (long) ControlLayout.LONG.get(memory, at + ControlLayout.TAGGED_OFFSET_OFFSET);
        totalBytes = (int) ControlLayout.INT.get(memory, at + ControlLayout.TOTAL_BYTES_OFFSET);
        operation = Operation.of(operationAndPieces & 0xFFFF);
        pieceCount = operationAndPieces >>> 16;
        if (operation == null) {
            throw new ShmProtocolException(EndReason.INVALID_ENTRY, "operation %d (expected: 1 to %d)",
                    operationAndPieces & 0xFFFF, Operation.GRANT.code());
        }
        if (pieceCount > (operation == Operation.READ ? 0 : ControlLayout.MAX_PIECES)) {
            throw new ShmProtocolException(EndReason.INVALID_ENTRY, "number of pieces %d of a %s (expected: at most %d)",
                    pieceCount, operation, operation == Operation.READ ? 0 : ControlLayout.MAX_PIECES);
        }
        if (totalBytes < 0) {
            throw new ShmProtocolException(EndReason.INVALID_ENTRY, "length %d of a %s (expected: 0 to 2^31 - 1)", totalBytes,
                    operation);
        }
        if (operation != Operation.READ) {
            readPieces();
        }
    }

    private void readPieces() throws ShmProtocolException {
        long sum = 0;
        for (int i = 0; i < pieceCount; i++) {
            int at = ControlLayout.pieceOffset(nextEntry, i);
            int block = (int) ControlLayout.INT.get(memory, at);
            int offset = (int) ControlLayout.INT.get(memory, at + ControlLayout.PIECE_OFFSET_OFFSET);
            int length = (int) ControlLayout.INT.get(memory, at + ControlLayout.PIECE_LENGTH_OFFSET);
            if (block <= 0 || offset < 0 || length < 0) {
                throw new ShmProtocolException(EndReason.INVALID_ENTRY, "piece %d: block %d, offset %d, length %d "
                        + "(expected: none below 0, no block 0)", i, block, offset, length);
            }
            blocks[i] = block;
            offsets[i] = offset;
            lengths[i] = length;
            sum += length;
        }
        if (sum != totalBytes) {
            throw new ShmProtocolException(EndReason.INVALID_ENTRY, "length %d of a %s whose pieces have %d bytes", totalBytes,
                    operation, sum);
        }
    }

    Operation operation() {
        return operation;
    }

    int pieceCount() {
        return pieceCount;
    }

    int block(int piece) {
        return blocks[piece];
    }

    int offset(int piece) {
        return offsets[piece];
    }

    int length(int piece) {
        return lengths[piece];
    }

    int steeringTag() {
        return steeringTag;
    }

    long taggedOffset() {
        return taggedOffset;
    }

    int totalBytes() {
        return totalBytes;
    }

    /** The message has been dealt with, or is being. */
    void advance() {
        nextEntry += ControlLayout.entriesFor(pieceCount);
    }

    /** Whether the peer has got on with this side's ring since the last {@link #readConsumed}. */
    boolean hasConsumedMore() {
        return (long) ControlLayout.LONG.getAcquire(memory, ControlLayout.CONSUMED_OFFSET) != consumed;
    }

    /**
     * How many entries of this side's ring the peer is done with.
     *
     * @param published how many there are
     */
    long readConsumed(long published) throws ShmProtocolException {
        long claimed = (long) ControlLayout.LONG.getAcquire(memory, ControlLayout.CONSUMED_OFFSET);
        if (claimed < consumed || claimed > published) {
            MappedFiles.settle(); // a file that was truncated has nothing in it
            throw new ShmProtocolException(EndReason.INVALID_INDEX, "%d entries consumed (expected: %d to %d)", claimed, consumed,
                    published);
        }
        consumed = claimed;
        return claimed;
    }

    /** What {@link #readConsumed} has returned last. */
    long consumed() {
        return consumed;
    }

    /** An odd number if the peer has to be woken; another one each time that it falls asleep. */
    int asleep() {
        return (int) ControlLayout.INT.getAcquire(memory, ControlLayout.ASLEEP_OFFSET);
    }

    /** Whether the peer has ended the connection. If not, all that was copied before is what the peer has meant. */
    boolean hasEnded() {
        VarHandle.loadLoadFence();
        return (int) ControlLayout.INT.getAcquire(memory, ControlLayout.END_CODE_OFFSET) != 0;
    }

    /** Why the peer has ended the connection. */
    EndReason endReason() {
        return EndReason.of((int) ControlLayout.INT.getAcquire(memory, ControlLayout.END_CODE_OFFSET));
    }

    /** This side's entry that the peer has refused, any number if none. */
    long endEntry() {
        return (long) ControlLayout.LONG.get(memory, ControlLayout.END_ENTRY_OFFSET);
    }

    /** What else the peer says about the end; printable. */
    String endText() {
        int claimed = (int) ControlLayout.INT.get(memory, ControlLayout.END_TEXT_LENGTH_OFFSET);
        byte[] text = new byte[Math.max(0, Math.min(claimed, ControlLayout.MAX_END_TEXT_BYTES))];
        memory.get(ControlLayout.END_TEXT_OFFSET, text);
        for (int i = 0; i < text.length; i++) {
            if (text[i] < ' ' || text[i] == 0x7f) {
                text[i] = '?';
            }
        }
        return new String(text, StandardCharsets.US_ASCII);
    }

    void close() {
        MappedFiles.unmap(memory);
    }
}
