package org.nettyrdma.codec.rpcrdma.format;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;
import org.nettyrdma.codec.oncrpc.transport.HeadRoom;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Extension;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaMessage;

/** Writes messages for the {@link RpcRdmaCodec} of one channel, on its event loop. */
final class RpcRdmaEncoder {

    /** Bodies up to this length are copied behind their header. */
    private static final int COPIED_BODY_BYTES = 1024;

    private final FormatTable formats;
    private HeadRoom headRoom;

    RpcRdmaEncoder(FormatTable formats) {
        this.formats = formats;
    }

    /** Before the first message. */
    void begin(HeadRoom newHeadRoom) {
        headRoom = newHeadRoom;
    }

    private static boolean mayHaveBody(RpcRdmaMessage message) {
        return message.chunks() != null ? !message.isNoMsg()
                : message.header() instanceof Extension<?> extension && extension.type().conveysMessage();
    }

    /**
     * Turns a message into one whole Send.
     *
     * @param message its reference passes to the result, unless this throws
     * @throws IllegalArgumentException if its version is not spoken or cannot say it
     */
    ByteBuf encode(ByteBufAllocator alloc, RpcRdmaMessage message) {
        ByteBuf body = message.content();
        if (body.isReadable() && !mayHaveBody(message)) {
            throw new IllegalArgumentException(message.header() + " with " + body.readableBytes() + " bytes of body");
        }
        HeaderFormat format = formats.ofSent(message);
        int headerBytes = format.lengthOf(message);
        int end = body.writerIndex();
        if (headRoom.take(body, headerBytes)) {
            format.write(message, body);
            return body.writerIndex(end);
        }
        ByteBuf send = alloc.directBuffer(headerBytes + copiedBytes(body));
        try {
            format.write(message, send);
            return followedBy(alloc, send, body);
        } catch (RuntimeException | Error e) {
            send.release();
            throw e;
        }
    }

    /**
     * Puts the header of a call or reply without chunks in front of it.
     *
     * @param body its reference passes to the result, unless this throws
     */
    ByteBuf encodeInline(ByteBufAllocator alloc, HeaderFormat format, int xid, int credits, boolean response, ByteBuf body) {
        int headerBytes = format.version().chunkFreeLength();
        int end = body.writerIndex();
        if (headRoom.take(body, headerBytes)) {
            format.writeInline(xid, credits, response, body);
            return body.writerIndex(end);
        }
        ByteBuf send = alloc.directBuffer(headerBytes + copiedBytes(body));
        try {
            format.writeInline(xid, credits, response, send);
            return followedBy(alloc, send, body);
        } catch (RuntimeException | Error e) {
            send.release();
            throw e;
        }
    }

    private static int copiedBytes(ByteBuf body) {
        int bytes = body.readableBytes();
        return bytes <= COPIED_BODY_BYTES ? bytes : 0;
    }

    /** A header and its body in one message; the references of both pass to it, unless this throws. */
    private static ByteBuf followedBy(ByteBufAllocator alloc, ByteBuf header, ByteBuf body) {
        int bytes = body.readableBytes();
        if (bytes <= COPIED_BODY_BYTES) {
            header.writeBytes(body, body.readerIndex(), bytes);
            body.release();
            return header;
        }
        CompositeByteBuf gathered = alloc.compositeDirectBuffer(Integer.MAX_VALUE);
        try {
            // With references of its own: what cannot be added, Netty releases.
            gathered.addComponent(true, header.retain()).addFlattenedComponents(true, body.retain());
        } catch (RuntimeException | Error e) { // no memory, for instance
            gathered.release();
            throw e;
        }
        header.release();
        body.release();
        return gathered;
    }
}
