package org.nettyrdma.channel;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelOutboundBuffer;

/**
 * Collects what goes out with one message: either pieces of registered memory, which are sent from where they are, or a copy of
 * what is not registered. Reused, so that posting allocates little. Event loop only.
 */
final class StreamBatch implements ChannelOutboundBuffer.MessageProcessor {

    /** Registered bytes that are rather copied along than sent with a message of their own. */
    private static final int COPIED_ALONG_BYTES = 1024;

    private final PostingTools tools;
    private final int maxPieces;
    private final ByteBuf[] buffers;
    private int count;
    private ByteBuf copy;
    private long skip;
    private int room;
    private int bytes;
    private long pendingBytes;
    private boolean isCut;

    StreamBatch(PostingTools tools) {
        this.tools = tools;
        // A message may go in front.
        maxPieces = Math.max(1, Math.min(tools.provider().capabilities().maxGatherElements() - 1, 30));
        buffers = new ByteBuf[maxPieces];
    }

    /**
     * Collects flushed bytes behind those that are posted.
     *
     * @param posted so many bytes at the start are left out
     * @param most   so many bytes at most
     * @return how many there are
     */
    int collect(ChannelOutboundBuffer in, long posted, int most) throws Exception {
        start(posted, most, in.totalPendingWriteBytes());
        try {
            in.forEachFlushedMessage(this);
            return end();
        } catch (Throwable t) {
            clear();
            throw t;
        }
    }

    /** Collects bytes of what is left after the end of the output. */
    int collect(StreamRest rest, int most) throws Exception {
        start(0, most, rest.bytes());
        try {
            rest.forEach(this);
            return end();
        } catch (Throwable t) {
            clear();
            throw t;
        }
    }

    private void start(long posted, int most, long pending) {
        skip = posted;
        room = most;
        bytes = 0;
        isCut = false;
        pendingBytes = pending;
        tools.pieces().find(null, 0, 0);
    }

    private int end() {
        if (copy != null) {
            tools.pieces().find(copy, 0, bytes);
        }
        return bytes;
    }

    /** Whether there are more flushed bytes than were collected. */
    boolean isCut() {
        return isCut;
    }

    /** How many of the bytes were copied. */
    int copiedBytes() {
        return copy == null ? 0 : bytes;
    }

    /** The references on what was collected, which pass to the caller. */
    Object takePayload() {
        Object payload;
        if (copy != null) {
            payload = copy;
            copy = null;
        } else if (count == 1) {
            payload = buffers[0].retain();
        } else {
            ByteBuf[] all = new ByteBuf[count];
            for (int i = 0; i < count; i++) {
                all[i] = buffers[i].retain();
            }
            payload = all;
        }
        clear();
        return payload;
    }

    /** Drops what was collected and not taken. */
    void clear() {
        for (int i = 0; i < count; i++) {
            buffers[i] = null;
        }
        count = 0;
        if (copy != null) {
            copy.release();
            copy = null;
        }
    }

    @Override
    public boolean processMessage(Object message) throws Exception {
        if (!(message instanceof ByteBuf buffer)) {
            isCut = true;
            return false;
        }
        int readable = buffer.readableBytes();
        if (readable <= skip) {
            skip -= readable;
            return true;
        }
        if (bytes == room) {
            isCut = true;
            return false;
        }
        int index = buffer.readerIndex() + (int) skip;
        int rest = readable - (int) skip;
        skip = 0;
        int size = Math.min(rest, room - bytes);
        if (!add(buffer, index, size)) {
            isCut = true;
            return false;
        }
        bytes += size;
        isCut = size < rest;
        return !isCut;
    }

    private boolean add(ByteBuf buffer, int index, int size) throws RdmaException {
        if (copy == null && count < maxPieces && tools.pieces().append(buffer, index, size, maxPieces)) {
            buffers[count++] = buffer;
            return true;
        }
        if (copy == null) {
            if (bytes > 0) {
                return false;
            }
            copy = StreamOutput.newCopy(tools, (int) Math.min(room, Math.max(size, pendingBytes)));
        } else if (size > copy.writableBytes()
                || size > COPIED_ALONG_BYTES && tools.registeredAllocator().isRegistered(buffer, index, size)) {
            return false;
        }
        copy.writeBytes(buffer, index, size);
        return true;
    }
}
