package org.nettyrdma.benchmarks;

import io.netty.util.internal.PlatformDependent;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.openucx.jucx.UcxUtils;

/**
 * What the peers on UCX send to each other: messages as long as ONC RPC's would be, whose tags say what is asked for. A reply's
 * tag is the number of the slot that waits for it.
 */
final class UcxMessages {

    /** Bytes of an ONC RPC call without credentials, up to its arguments' data. */
    static final int REQUEST_HEADER_BYTES = 44;
    /** Bytes of an accepted ONC RPC reply, up to its results' data. */
    static final int REPLY_HEADER_BYTES = 28;
    /** Calls that a client may have under way. */
    static final int MAX_SLOTS = 128;
    /** All bits of a tag count. */
    static final long WHOLE_TAG = -1;

    private UcxMessages() {
    }

    static long requestTag(Operation operation, int slot, int payloadBytes) {
        return (long) operation.ordinal() << 48 | (long) slot << 32 | payloadBytes;
    }

    static Operation operation(long tag) {
        return Operation.values()[(int) (tag >>> 48)];
    }

    static int slot(long tag) {
        return (int) (tag >>> 32) & 0xFFFF;
    }

    static int payloadBytes(long tag) {
        return (int) tag;
    }

    static long requestBytes(Operation operation, int payloadBytes) {
        return REQUEST_HEADER_BYTES + (operation == Operation.READ ? 0 : payloadBytes);
    }

    static long replyBytes(Operation operation, int payloadBytes) {
        return REPLY_HEADER_BYTES + (operation == Operation.ECHO || operation == Operation.READ ? payloadBytes : 0);
    }

    /** Memory with a header and the payload behind it. */
    static ByteBuffer newMessage(int headerBytes, int payloadBytes) {
        ByteBuffer message = ByteBuffer.allocateDirect(headerBytes + payloadBytes).order(ByteOrder.BIG_ENDIAN);
        message.position(headerBytes);
        Payload.fill(message);
        return message.clear();
    }

    /** Gives memory back that nothing uses any more; {@code null} stands for none. */
    static void free(ByteBuffer... messages) {
        for (ByteBuffer message : messages) {
            if (message != null) {
                PlatformDependent.freeDirectBuffer(message);
            }
        }
    }

    static long address(ByteBuffer message) {
        return UcxUtils.getAddress(message);
    }
}
