package org.nettyrdma.codec.oncrpc;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.util.List;

/**
 * The answer to a call, kept for calls with the same XID.
 *
 * @param message the whole message; {@code null} for a refusal
 * @param items   where its bulk data lies; {@code null} if the program has left that to the binding
 * @param refusal the answer without results; {@code null} if there are some
 */
record KeptReply(byte[] message, List<DataItem> items, RpcReplyHeader refusal) {

    static KeptReply of(RpcReplyHeader refusal) {
        return new KeptReply(null, null, refusal);
    }

    /**
     * Copies a reply. One that is too long, or for which there is no memory, becomes a SYSTEM_ERR: its call was executed, and
     * must not be executed again.
     *
     * @param message a {@link ByteBuf} or {@link RpcMessage}, which stays the caller's
     */
    static KeptReply of(Object message, int xid, long maxBytes) {
        RpcMessage withItems = message instanceof RpcMessage known ? known : null;
        ByteBuf content = withItems == null ? (ByteBuf) message : withItems.content();
        if (content.readableBytes() <= maxBytes) {
            try {
                return new KeptReply(ByteBufUtil.getBytes(content), withItems == null ? null : withItems.dataItems(), null);
            } catch (OutOfMemoryError e) {
                // The first caller gets its reply all the same.
            }
        }
        return of(new RpcReplyHeader.Accepted(xid, AcceptStatus.SYSTEM_ERR));
    }

    int bytes() {
        return message == null ? 0 : message.length;
    }

    /** Answers a call unless it is answered. */
    void answer(RpcCall call) {
        if (refusal != null) {
            call.tryRefuse(refusal);
            return;
        }
        ByteBuf content = Unpooled.wrappedBuffer(message);
        call.tryAnswer(items == null ? content : new RpcMessage(content, items, null));
    }
}
