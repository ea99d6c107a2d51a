package org.nettyrdma.codec.oncrpc;

import io.netty.buffer.ByteBuf;

/**
 * The header that nearly all replies have, written and recognized without an object: {@link RpcReplyHeader.Accepted} with an
 * empty verifier and SUCCESS.
 * <pre>{@code
 * 0     4       8          12      16       20        24
 * | xid | REPLY | ACCEPTED | AUTH_NONE, 0   | SUCCESS | results
 *         1       0          0       0        0 }</pre>
 */
final class SuccessHeader {

    private static final long REPLY_ACCEPTED = 1L << Integer.SIZE;

    private SuccessHeader() {
    }

    static void write(int xid, ByteBuf out) {
        out.writeInt(xid).writeLong(REPLY_ACCEPTED).writeLong(0).writeInt(0);
    }

    /** Moves the reader index behind the header if this is it; otherwise the index stays. */
    static boolean skip(ByteBuf reply) {
        int start = reply.readerIndex();
        boolean success = reply.readableBytes() >= RpcReplyHeader.SUCCESS_BYTES && reply.getLong(start + 4) == REPLY_ACCEPTED
                && reply.getLong(start + 12) == 0 && reply.getInt(start + 20) == 0;
        if (success) {
            reply.skipBytes(RpcReplyHeader.SUCCESS_BYTES);
        }
        return success;
    }
}
