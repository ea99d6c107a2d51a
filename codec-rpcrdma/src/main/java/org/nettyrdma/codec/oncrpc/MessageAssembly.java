package org.nettyrdma.codec.oncrpc;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;
import org.nettyrdma.codec.oncrpc.transport.HeadRoom;

/** Puts a header in front of arguments or results. */
final class MessageAssembly {

    /** Up to here a copy behind the header is cheaper than a second piece for everyone who handles the message later. */
    static final int MAX_COPIED_BYTES = 1024;

    private MessageAssembly() {
    }

    /**
     * A buffer for a header. If {@link #join} is going to copy {@code body} behind it, there is room for that, and for a header
     * of the transport in front. The reference of {@code body} stays with the caller, unless something is thrown: then it is
     * released.
     */
    static ByteBuf newHeader(ByteBufAllocator alloc, int headerBytes, ByteBuf body) {
        int bodyBytes = body.readableBytes();
        try {
            return bodyBytes <= MAX_COPIED_BYTES
                    ? HeadRoom.newBuffer(alloc, HeadRoom.TRANSPORT_BYTES, headerBytes + bodyBytes)
                    : alloc.buffer(headerBytes);
        } catch (RuntimeException | Error e) { // no memory, for instance
            body.release();
            throw e;
        }
    }

    /** Returns both as one buffer. The references of both pass to it, or are released where something is thrown. */
    static ByteBuf join(ByteBufAllocator alloc, ByteBuf header, ByteBuf body) {
        if (body.readableBytes() <= MAX_COPIED_BYTES) {
            try {
                return header.writeBytes(body);
            } catch (RuntimeException | Error e) {
                header.release();
                throw e;
            } finally {
                body.release();
            }
        }
        if (body instanceof CompositeByteBuf pieces && canGrow(pieces)) {
            try {
                return pieces.addComponent(true, 0, header);
            } catch (RuntimeException | Error e) { // the header was released already
                body.release();
                throw e;
            }
        }
        CompositeByteBuf message;
        try {
            message = withHeader(alloc, header);
        } catch (RuntimeException | Error e) {
            body.release();
            throw e;
        }
        try {
            return message.addFlattenedComponents(true, body);
        } catch (RuntimeException | Error e) { // the body was released already
            message.release();
            throw e;
        }
    }

    private static CompositeByteBuf withHeader(ByteBufAllocator alloc, ByteBuf header) {
        CompositeByteBuf message;
        try {
            // No limit on the number of pieces: beyond it they would be copied into one.
            message = alloc.compositeBuffer(Integer.MAX_VALUE);
        } catch (RuntimeException | Error e) {
            header.release();
            throw e;
        }
        try {
            return message.addComponent(true, header);
        } catch (RuntimeException | Error e) { // the header was released already
            message.release();
            throw e;
        }
    }

    /** Whether a header can be put in front of the pieces that nobody else refers to, without copying any. */
    private static boolean canGrow(CompositeByteBuf pieces) {
        return pieces.refCnt() == 1 && pieces.readerIndex() == 0 && pieces.writerIndex() == pieces.capacity()
                && pieces.numComponents() < pieces.maxNumComponents() && !pieces.isReadOnly();
    }
}
