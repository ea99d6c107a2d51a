package org.nettyrdma.verbs.shm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * The file by which one side of a connection talks to the other, in the byte order of the machine. Only the side that has made it
 * writes it. What is written at different times, or read at different times, has cache lines of its own.
 * <pre>{@code
 *    0  magic number (8)
 *   64  consumed: how many entries of the other side's ring are done with (8)
 *  128  asleep (4, odd while nobody polls), end code (4), end entry (8), length of the end text (4), end text (up to 236)
 * 4096  ring of entries of 64 bytes
 *
 * An entry:
 *    0  stamp (8): 1 for the first entry of the connection, 2 for the second...; written last
 *    8  operation (2), number of pieces (2), steering tag (4)
 *   16  tagged offset (8)
 *   24  length of the message (4), 4 unused
 *   32  two pieces: block (4), offset (4), length (4)
 * Messages of more pieces go on in the next entries:
 *    0  not used: what was there before is the stamp of no entry to come (8)
 *    8  four pieces
 * }</pre>
 */
final class ControlLayout {

    static final long MAGIC = 0x6e65747479736d31L;
    static final int MAGIC_OFFSET = 0;
    static final int CONSUMED_OFFSET = 64;
    static final int ASLEEP_OFFSET = 128;
    static final int END_CODE_OFFSET = 132;
    static final int END_ENTRY_OFFSET = 136;
    static final int END_TEXT_LENGTH_OFFSET = 144;
    static final int END_TEXT_OFFSET = 148;
    static final int MAX_END_TEXT_BYTES = 236;
    static final int RING_OFFSET = 4096;

    static final int ENTRY_BYTES = 64;
    /** With one page before it, an idle connection costs each side 12 KiB. */
    static final int RING_ENTRIES = 128;
    static final int FILE_BYTES = RING_OFFSET + RING_ENTRIES * ENTRY_BYTES;

    static final int OPERATION_OFFSET = 8;
    static final int PIECE_COUNT_OFFSET = 10;
    static final int STEERING_TAG_OFFSET = 12;
    static final int TAGGED_OFFSET_OFFSET = 16;
    static final int TOTAL_BYTES_OFFSET = 24;
    static final int PIECES_OFFSET = 32;
    static final int PIECE_BYTES = 12;
    /** Within a piece, behind the number of its block: where its bytes begin there, and how many they are. */
    static final int PIECE_OFFSET_OFFSET = 4;
    static final int PIECE_LENGTH_OFFSET = 8;
    static final int FIRST_PIECES = 2;
    static final int FURTHER_PIECES_OFFSET = 8;
    static final int PIECES_PER_ENTRY = 4;
    static final int MAX_PIECES = 32;

    static final VarHandle LONG = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());
    static final VarHandle INT = MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.nativeOrder());

    private ControlLayout() {
    }

    /** Where an entry is; {@code number} counts from 0. */
    static int entryOffset(long number) {
        return RING_OFFSET + ((int) number & RING_ENTRIES - 1) * ENTRY_BYTES;
    }

    /** How many entries a message of so many pieces takes. */
    static int entriesFor(int pieces) {
        return 1 + Math.max(0, pieces - FIRST_PIECES + PIECES_PER_ENTRY - 1) / PIECES_PER_ENTRY;
    }

    /** Where a piece of the message that begins with an entry is. */
    static int pieceOffset(long firstEntry, int piece) {
        if (piece < FIRST_PIECES) {
            return entryOffset(firstEntry) + PIECES_OFFSET + piece * PIECE_BYTES;
        }
        int further = piece - FIRST_PIECES;
        return entryOffset(firstEntry + 1 + further / PIECES_PER_ENTRY) + FURTHER_PIECES_OFFSET
                + further % PIECES_PER_ENTRY * PIECE_BYTES;
    }
}
