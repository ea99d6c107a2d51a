package org.nettyrdma.codec.oncrpc;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;

/**
 * Puts a record together from the pieces in which it arrives. A piece that fills a good part of the buffer it came in is kept as
 * a slice of that buffer. A smaller one is copied behind the one before: a peer that sends single bytes could make each of them
 * hold a whole receive buffer otherwise. A short piece is copied also where it fills its buffer, if the record has many pieces
 * already: the objects of a piece take some hundred bytes. So memory stays below a small multiple of the bytes received. A record
 * that came whole is a slice of any size, since most are done with at once; a call that waits
 * {@linkplain RpcCall#letGoOfLargeBuffer lets go} of the buffer.
 */
final class RecordAssembler {

    /** A piece is kept without copying if it is at least this part of its buffer's capacity. */
    static final int MIN_KEPT_SHARE = 4;
    /** Shorter pieces are copied once there are so many pieces. */
    static final int LONG_PIECE_BYTES = 1024;
    static final int FEW_PIECES = 16;
    private static final int MIN_TAIL_BYTES = 512;

    private CompositeByteBuf pieces;
    /** The last of {@link #pieces} if more may be copied behind what it holds; not counted in their length yet. */
    private ByteBuf tail;
    private ByteBuf whole;
    private int length;

    /** Bytes of the record so far. */
    int length() {
        return length;
    }

    /**
     * Moves the next bytes of the record out of {@code in}, whose reference count is the caller's. Where that fails for want of
     * memory, the record is in pieces of which some are missing: {@link #release} is all that can follow.
     */
    void add(ByteBufAllocator alloc, ByteBuf in, int bytes, boolean last) {
        if (bytes == 0) {
            return;
        }
        if (last && length == 0) {
            whole = in.readRetainedSlice(bytes);
        } else if (bytes >= in.capacity() / MIN_KEPT_SHARE && (bytes >= LONG_PIECE_BYTES || hasFewPieces())) {
            append(alloc, in.readRetainedSlice(bytes));
        } else {
            copyToTail(alloc, in, bytes);
        }
        length += bytes;
    }

    private boolean hasFewPieces() {
        return pieces == null || pieces.numComponents() < FEW_PIECES;
    }

    /** The reference of the piece passes to this, also where there is no memory for it. */
    private void append(ByteBufAllocator alloc, ByteBuf piece) {
        try {
            closeTail();
            if (pieces == null) {
                pieces = alloc.compositeBuffer(Integer.MAX_VALUE);
            }
        } catch (RuntimeException | Error e) {
            piece.release();
            throw e;
        }
        pieces.addComponent(true, piece);
    }

    private void copyToTail(ByteBufAllocator alloc, ByteBuf in, int bytes) {
        if (tail == null) {
            tail = alloc.buffer(Math.max(bytes, MIN_TAIL_BYTES));
        }
        tail.writeBytes(in, bytes);
    }

    private void closeTail() {
        if (tail != null) {
            ByteBuf filled = tail;
            tail = null;
            append(filled.alloc(), filled);
        }
    }

    /** Returns the record with its one reference, and starts the next one. */
    ByteBuf take() {
        ByteBuf record;
        if (whole != null) {
            record = whole;
        } else if (pieces == null) {
            record = tail == null ? Unpooled.EMPTY_BUFFER : tail;
        } else {
            closeTail();
            record = pieces;
        }
        forget();
        return record;
    }

    /** Drops an unfinished record. */
    void release() {
        if (pieces != null) {
            pieces.release();
        }
        if (tail != null) {
            tail.release();
        }
        forget();
    }

    private void forget() {
        pieces = null;
        tail = null;
        whole = null;
        length = 0;
    }
}
