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
    private final HeaderFormat versionOne;
    private HeadRoom headRoom;

    RpcRdmaEncoder(FormatTable formats) {
        this.formats = formats;
        this.versionOne = formats.versionOne();
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
        HeaderFormat format = message.version() == HeaderLayout.VERSION ? versionOne : formats.ofSent(message);
        int headerBytes = format.lengthOf(message);
        int end = body.writerIndex();
        if (headRoom.take(body, headerBytes)) {
            format.write(message, body);
            return body.writerIndex(end);
        }
        int bodyBytes = body.readableBytes();
        boolean copy = bodyBytes <= COPIED_BODY_BYTES;
        ByteBuf send = alloc.directBuffer(headerBytes + (copy ? bodyBytes : 0));
        try {
            format.write(message, send);
            if (copy) {
                send.writeBytes(body, body.readerIndex(), bodyBytes);
            }
        } catch (RuntimeException | Error e) {
            send.release();
            throw e;
        }
        if (copy) {
            message.release();
            return send;
        }
        CompositeByteBuf gathered = alloc.compositeDirectBuffer(Integer.MAX_VALUE);
        return gathered.addComponent(true, send).addFlattenedComponents(true, body);
    }
}
