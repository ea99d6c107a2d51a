package org.nettyrdma.channel;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelOutboundBuffer;
import java.util.ArrayList;

/**
 * What was flushed before this side has ended its output and found no room yet. TCP has it in the send buffer of the socket, and
 * sends it all the same. It is a copy: whoever has written it may use the memory again as soon as the promise has succeeded.
 * Event loop only.
 */
final class StreamRest implements ChannelOutboundBuffer.MessageProcessor {

    private static final int MIN_COPY_BYTES = 4096;

    private final PostingTools tools;
    private final ArrayList<ByteBuf> buffers = new ArrayList<>(2); // the first holds the oldest bytes
    private int room;
    private int bytes;

    StreamRest(PostingTools tools) {
        this.tools = tools;
    }

    /**
     * Takes over the flushed bytes, whose promises succeed then. Where one fails, or there is no memory, none is taken.
     *
     * @param most so many at most; of a file none
     */
    void take(ChannelOutboundBuffer in, int most) throws Exception {
        room = most;
        try {
            in.forEachFlushedMessage(this);
        } catch (Throwable t) {
            release();
            throw t;
        }
        in.removeBytes(bytes);
    }

    @Override
    public boolean processMessage(Object message) throws RdmaException {
        if (!(message instanceof ByteBuf buffer)) {
            return false;
        }
        int at = buffer.readerIndex();
        for (int left = Math.min(room, buffer.readableBytes()); left > 0;) {
            ByteBuf copy = copyWithRoom(left);
            int size = Math.min(left, copy.writableBytes());
            copy.writeBytes(buffer, at, size);
            at += size;
            left -= size;
            room -= size;
            bytes += size;
        }
        return room > 0;
    }

    /** In registered memory, so that it can be sent whatever memory is left later; and no larger than a message. */
    private ByteBuf copyWithRoom(int left) throws RdmaException {
        ByteBuf last = buffers.isEmpty() ? null : buffers.get(buffers.size() - 1);
        if (last == null || !last.isWritable()) {
            buffers.ensureCapacity(buffers.size() + 1); // first: what cannot be added would not be released
            int size = Math.min(room, Math.min(StreamOutput.MAX_MESSAGE_BYTES, Math.max(left, MIN_COPY_BYTES)));
            last = tools.newCopyOfSome(size);
            buffers.add(last);
        }
        return last;
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
            ByteBuf first = buffers.get(0);
            int size = Math.min(left, first.readableBytes());
            first.skipBytes(size);
            left -= size;
            if (!first.isReadable()) {
                buffers.remove(0).release();
            }
        }
    }

    /** Nothing more can be sent. */
    void release() {
        bytes = 0;
        while (!buffers.isEmpty()) {
            buffers.remove(buffers.size() - 1).release();
        }
    }
}
