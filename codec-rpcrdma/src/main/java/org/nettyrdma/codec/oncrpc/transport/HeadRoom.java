package org.nettyrdma.codec.oncrpc.transport;

import static io.netty.util.internal.ObjectUtil.checkInRange;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.DefaultByteBufHolder;
import io.netty.util.concurrent.FastThreadLocal;

/**
 * Room in front of an RPC message, where RPC and transport write their headers: one buffer for a message instead of one for
 * each header.
 *
 * <p>What stands in front of a message belongs to whoever made its buffer, and views of the buffer share it. So headers are
 * written only into buffers that {@link #newBuffer} has made, which are told by their identity, and only while nobody else has a
 * reference. The RPC layer {@linkplain #offer offers} such a message to the transport for as long as its write takes, and the
 * transport {@linkplain #take takes} the room of that very object. Any other message, also a view or a copy of that one, or one
 * that a handler has kept for later, goes the ordinary way.
 *
 * <p>There is one such object per thread, so that handlers on different threads never agree on a message.
 */
public final class HeadRoom {

    /** Enough for the headers of RPC with short credentials and for those of a transport. */
    public static final int MESSAGE_BYTES = 128;
    /** Enough for all headers of a transport but those with several segments. */
    public static final int TRANSPORT_BYTES = 64;

    private static final FastThreadLocal<HeadRoom> OF_THREAD = new FastThreadLocal<>() {
        @Override
        protected HeadRoom initialValue() {
            return new HeadRoom();
        }
    };

    private ByteBuf offered;

    private HeadRoom() {
    }

    /**
     * The object of the thread that this is called on.
     *
     * @return always the same on one thread
     */
    public static HeadRoom ofThread() {
        return OF_THREAD.get();
    }

    /**
     * Makes an empty buffer with room in front.
     *
     * @param alloc where from
     * @param roomBytes the room
     * @param bytes how much can be written to it before it grows
     * @return a buffer whose indices, also those that are marked, stand behind the room
     */
    public static ByteBuf newBuffer(ByteBufAllocator alloc, int roomBytes, int bytes) {
        return alloc.buffer(Math.addExact(roomBytes, bytes)).setIndex(roomBytes, roomBytes).markReaderIndex().markWriterIndex();
    }

    /**
     * Makes an empty buffer with room in front for all headers of a message.
     *
     * @param alloc where from
     * @param bytes how much can be written to it before it grows
     * @param name what the caller calls {@code bytes}
     * @return a buffer as {@link #newBuffer} makes
     * @throws IllegalArgumentException if there cannot be such a buffer
     */
    public static ByteBuf newMessage(ByteBufAllocator alloc, int bytes, String name) {
        checkInRange(bytes, 0, Integer.MAX_VALUE - MESSAGE_BYTES, name);
        return newBuffer(alloc, MESSAGE_BYTES, bytes);
    }

    /**
     * Moves both indices of a buffer to where a header is to be written in front of what it holds. The caller writes the header
     * there, and sets the writer index back.
     *
     * @param message     a buffer that {@link #newBuffer} has made
     * @param headerBytes length of the header
     * @return whether there is room, and nobody else has a reference; otherwise nothing has changed
     */
    public static boolean begin(ByteBuf message, int headerBytes) {
        int start = message.readerIndex() - headerBytes;
        if (start < 0 || message.refCnt() != 1) {
            return false;
        }
        message.setIndex(start, start);
        return true;
    }

    /**
     * A message is about to be written; {@link #withdraw} has to follow.
     *
     * @param message a buffer that {@link #newBuffer} has made, or in which nothing stands in front; or a holder of one
     */
    public void offer(Object message) {
        offered = message instanceof ByteBuf buffer ? buffer : ((DefaultByteBufHolder) message).content();
    }

    /** The message has been written. */
    public void withdraw() {
        offered = null;
    }

    /**
     * Takes the room in front of a message for a header, as {@link #begin} does.
     *
     * @param message     what is written
     * @param headerBytes length of the header
     * @return whether it is the message on offer, with enough room; otherwise nothing has changed
     */
    public boolean take(ByteBuf message, int headerBytes) {
        if (message != offered || !begin(message, headerBytes)) {
            return false;
        }
        offered = null;
        return true;
    }
}
