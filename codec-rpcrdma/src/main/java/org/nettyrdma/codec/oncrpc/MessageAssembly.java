package org.nettyrdma.codec.oncrpc;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;

/** Puts a header in front of arguments or results. */
final class MessageAssembly {

    /** Up to here a copy behind the header is cheaper than a second piece for everyone who handles the message later. */
    static final int MAX_COPIED_BYTES = 1024;

    private MessageAssembly() {
    }

    /** A buffer for a header, with room behind it if {@link #join} is going to copy {@code body} there. */
    static ByteBuf newHeader(ByteBufAllocator alloc, int headerBytes, ByteBuf body) {
        int bodyBytes = body.readableBytes();
        return alloc.buffer(bodyBytes <= MAX_COPIED_BYTES ? headerBytes + bodyBytes : headerBytes);
    }

    /** Returns both as one buffer; the references of both pass to it. */
    static ByteBuf join(ByteBufAllocator alloc, ByteBuf header, ByteBuf body) {
        if (body.readableBytes() <= MAX_COPIED_BYTES) {
            try {
                return header.writeBytes(body);
            } catch (RuntimeException e) {
                header.release();
                throw e;
            } finally {
                body.release();
            }
        }
        if (body instanceof CompositeByteBuf pieces && canGrow(pieces)) {
            return pieces.addComponent(true, 0, header);
        }
        // No limit on the number of pieces: beyond it they would be copied into one.
        CompositeByteBuf message = alloc.compositeBuffer(Integer.MAX_VALUE);
        return message.addComponent(true, header).addFlattenedComponents(true, body);
    }

    /** Whether a header can be put in front of the pieces that nobody else refers to, without copying any. */
    private static boolean canGrow(CompositeByteBuf pieces) {
        return pieces.refCnt() == 1 && pieces.readerIndex() == 0 && pieces.writerIndex() == pieces.capacity()
                && pieces.numComponents() < pieces.maxNumComponents() && !pieces.isReadOnly();
    }
}
