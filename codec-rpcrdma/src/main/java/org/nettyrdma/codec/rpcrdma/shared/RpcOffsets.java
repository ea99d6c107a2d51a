package org.nettyrdma.codec.rpcrdma.shared;

import io.netty.buffer.ByteBuf;
import org.nettyrdma.codec.oncrpc.RpcMessage;

/**
 * Finds fields of an RPC message (RFC 5531, section 9) without making objects of it. All offsets count from the reader index,
 * which is not changed.
 * <pre>{@code
 *   0     4      8          12        16        20          24
 *   | XID | CALL | RPC vers | program | version | procedure | credential | verifier | arguments
 *   | XID | REPLY | ACCEPTED | verifier | SUCCESS | results }</pre>
 */
public final class RpcOffsets {

    public static final int PROGRAM = 12;
    public static final int VERSION = 16;
    public static final int PROCEDURE = 20;
    /** Where the arguments of a call with the shortest header are. */
    public static final int FIRST_ARGUMENTS = 40;

    /** Where the results of a successful reply with the shortest header are. */
    public static final int FIRST_RESULTS = 24;

    private static final int CREDENTIAL = 24;
    private static final int REPLY_STATUS = 8;
    private static final int REPLY_VERIFIER = 12;

    private RpcOffsets() {
    }

    /** The whole message that a handler writes as {@link RpcMessage} or plain, {@code null} if it writes something else. */
    public static ByteBuf message(Object msg) {
        return msg instanceof RpcMessage message ? message.content() : msg instanceof ByteBuf plain ? plain : null;
    }

    /** Whether the message is long enough for the header of a call. */
    public static boolean hasCallHeader(ByteBuf message) {
        return message.readableBytes() >= FIRST_ARGUMENTS;
    }

    public static int word(ByteBuf message, int offset) {
        return message.getInt(message.readerIndex() + offset);
    }

    /** Where the arguments of a call begin, or -1 if it ends before. */
    static int arguments(ByteBuf call) {
        return skipAuth(call, skipAuth(call, CREDENTIAL));
    }

    /** Where the results of a reply begin, or -1 if there are none because it is not a successful one. */
    static int results(ByteBuf reply) {
        if (reply.readableBytes() < REPLY_VERIFIER || word(reply, Integer.BYTES) != 1 || word(reply, REPLY_STATUS) != 0) {
            return -1;
        }
        int status = skipAuth(reply, REPLY_VERIFIER);
        if (status < 0 || reply.readableBytes() < status + Integer.BYTES || word(reply, status) != 0) {
            return -1;
        }
        return status + Integer.BYTES;
    }

    /** Skips flavor and opaque body. */
    private static int skipAuth(ByteBuf message, int offset) {
        if (offset < 0 || message.readableBytes() < offset + 2 * Integer.BYTES) {
            return -1;
        }
        long end = offset + 2 * Integer.BYTES + padded(word(message, offset + Integer.BYTES) & 0xFFFF_FFFFL);
        return end <= message.readableBytes() ? (int) end : -1;
    }

    /** The length with XDR padding. */
    public static long padded(long length) {
        return length + 3 & ~3L;
    }
}
