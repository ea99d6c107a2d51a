package org.nettyrdma.codec.oncrpc;

import io.netty.buffer.ByteBuf;

/** Direction of an RPC message ({@code msg_type}, RFC 5531, section 9). */
public enum RpcMessageType {
    /** A call. */
    CALL(0),
    /** A reply. */
    REPLY(1),
    /** Any other code, or a message too short to have one. */
    UNKNOWN(-1);

    private static final int OFFSET = Integer.BYTES;

    private final int code;

    RpcMessageType(int code) {
        this.code = code;
    }

    /**
     * The number on the wire.
     *
     * @return the code, -1 for {@link #UNKNOWN}
     */
    public int code() {
        return code;
    }

    /**
     * The type with a given code.
     *
     * @param code number from the wire
     * @return the type, {@link #UNKNOWN} if there is none
     */
    public static RpcMessageType of(int code) {
        return switch (code) {
            case 0 -> CALL;
            case 1 -> REPLY;
            default -> UNKNOWN;
        };
    }

    /**
     * Tells the type of a message without moving its reader index.
     *
     * @param message an RPC message, reader index at its XID
     * @return its type, {@link #UNKNOWN} also where the message ends before it
     */
    public static RpcMessageType peek(ByteBuf message) {
        return message.readableBytes() < OFFSET + Integer.BYTES ? UNKNOWN : of(message.getInt(message.readerIndex() + OFFSET));
    }
}
