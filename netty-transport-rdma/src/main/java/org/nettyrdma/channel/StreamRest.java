package org.nettyrdma.channel;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelOutboundBuffer;
import java.util.ArrayDeque;

/**
 * What was flushed before this side has ended its output and found no room yet. TCP has it in the send buffer of the socket, and
 * sends it all the same. Event loop only.
 */
final class StreamRest implements ChannelOutboundBuffer.MessageProcessor {

    private final ArrayDeque<ByteBuf> buffers = new ArrayDeque<>(2);
    private int room;
    private int bytes;

    /**
     * Takes over the flushed bytes, whose promises succeed then.
     *
     * @param most so many at most; of a file none
     */
    void take(ChannelOutboundBuffer in, int most) throws Exception {
        room = most;
        in.forEachFlushedMessage(this);
        in.removeBytes(bytes);
    }

    @Override
    public boolean processMessage(Object message) {
        if (!(message instanceof ByteBuf buffer) || room == 0) {
            return false;
        }
        int size = Math.min(room, buffer.readableBytes());
        if (size > 0) {
            buffers.add(buffer.retainedSlice(buffer.readerIndex(), size));
            room -= size;
            bytes += size;
        }
        return true;
    }

    boolean isEmpty() {
        return bytes == 0;
    }

    int bytes() {
        return bytes;
    }

    int buffers() {
        return buffers.size();
    }

    void forEach(ChannelOutboundBuffer.MessageProcessor processor) throws Exception {
        for (ByteBuf buffer : buffers) {
            if (!processor.processMessage(buffer)) {
                return;
            }
        }
    }

    /** The oldest bytes are posted, and whoever has posted them holds references. */
    void remove(int count) {
        bytes -= count;
        int left = count;
        while (left > 0) {
            ByteBuf first = buffers.getFirst();
            int size = Math.min(left, first.readableBytes());
            first.skipBytes(size);
            left -= size;
            if (!first.isReadable()) {
                buffers.remove().release();
            }
        }
    }

    /** Nothing more can be sent. */
    void release() {
        bytes = 0;
        for (ByteBuf buffer = buffers.poll(); buffer != null; buffer = buffers.poll()) {
            buffer.release();
        }
    }
}
