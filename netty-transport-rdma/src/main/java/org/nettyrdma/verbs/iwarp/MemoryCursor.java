package org.nettyrdma.verbs.iwarp;

import org.nettyrdma.verbs.MemoryRegion;
import org.nettyrdma.verbs.support.Pool;
import org.nettyrdma.verbs.support.SendSlot;

/**
 * A place in local memory that consists of one or more pieces, and how far a message has got in it. Reusable. Most messages of
 * an event loop lie in the same region and have the same slot, which is not stored again: see {@link Pool}.
 */
final class MemoryCursor {

    private MemoryRegion region;
    private int position;
    private int pieceRemaining;

    private SendSlot pieces;
    private int nextPiece;

    /** Starts at the first byte of a single piece. */
    void start(MemoryRegion newRegion, int offset, int length) {
        pieces = null;
        lieIn(newRegion);
        position = offset;
        pieceRemaining = length;
    }

    /** Starts at the first byte of the pieces of a work request. */
    void start(SendSlot request) {
        if (pieces != request) {
            pieces = request;
        }
        nextPiece = 0;
        pieceRemaining = 0;
        skipToNextByte();
    }

    /** Forgets the memory, so that it can be collected. */
    void clear() {
        start(null, 0, 0);
    }

    MemoryRegion region() {
        return region;
    }

    /**
     * The next byte, as an offset within {@link #region()}.
     */
    int position() {
        return position;
    }

    /**
     * How many bytes lie in one piece from {@link #position()} on; 0 only at the end of the last piece.
     */
    int pieceRemaining() {
        return pieceRemaining;
    }

    /**
     * Moves on.
     *
     * @param bytes at most {@link #pieceRemaining()}
     */
    void advance(int bytes) {
        assert bytes <= pieceRemaining : bytes;
        position += bytes;
        pieceRemaining -= bytes;
        skipToNextByte();
    }

    private void skipToNextByte() {
        while (pieceRemaining == 0 && pieces != null && nextPiece < pieces.pieceCount()) {
            lieIn(pieces.region(nextPiece));
            position = pieces.offset(nextPiece);
            pieceRemaining = pieces.length(nextPiece);
            nextPiece++;
        }
    }

    private void lieIn(MemoryRegion newRegion) {
        if (region != newRegion) {
            region = newRegion;
        }
    }
}
