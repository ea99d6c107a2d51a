package org.nettyrdma.channel;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelOutboundBuffer;

/**
 * Collects what goes out with one message: pieces of registered memory, which are sent from where they are, and between them runs
 * of what is copied. That is what is not registered, and small buffers of which many are flushed at once: to copy a few hundred
 * bytes costs less than another element of a gathering write. Reused, so that posting allocates little. Event loop only.
 */
final class StreamBatch implements ChannelOutboundBuffer.MessageProcessor {

    /** Registered bytes that are rather copied along than sent by themselves, once something is copied. */
    private static final int COPIED_ALONG_BYTES = 1024;
    /** Registered bytes that are copied where there are many like them. */
    private static final int SMALL_BYTES = 512;
    /** From so many buffers on small ones are copied together. */
    private static final int MANY_BUFFERS = 4;

    private final PostingTools tools;
    private final int maxPieces;
    private final ByteBuf[] buffers;
    private int count;
    private ByteBuf copy;
    private int runStart; // what was copied from here on is no piece yet
    private long skip;
    private int room;
    private int bytes;
    private long pendingBytes;
    private boolean isMany;
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
        start(posted, most, in.totalPendingWriteBytes() - posted, in.size());
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
        start(0, most, rest.bytes(), rest.buffers());
        try {
            rest.forEach(this);
            return end();
        } catch (Throwable t) {
            clear();
            throw t;
        }
    }

    private void start(long posted, int most, long pending, int pendingBuffers) {
        skip = posted;
        room = most;
        bytes = 0;
        isCut = false;
        pendingBytes = pending;
        isMany = pendingBuffers >= MANY_BUFFERS;
        tools.pieces().find(null, 0, 0);
    }

    private int end() {
        endRun();
        return bytes;
    }

    /** Whether there are more flushed bytes than were collected. */
    boolean isCut() {
        return isCut;
    }

    /** How many of the bytes were copied. */
    int copiedBytes() {
        return copy == null ? 0 : copy.writerIndex();
    }

    /** The references on what was collected, which pass to the caller. */
    Object takePayload() {
        Object payload;
        if (count == 0) {
            payload = copy;
        } else if (count == 1 && copy == null) {
            payload = buffers[0].retain();
        } else {
            ByteBuf[] all = new ByteBuf[copy == null ? count : count + 1];
            for (int i = 0; i < count; i++) {
                all[i] = buffers[i].retain();
            }
            if (copy != null) {
                all[count] = copy;
            }
            payload = all;
        }
        copy = null;
        clear();
        return payload;
    }

    /** Drops what was collected and not taken. */
    void clear() {
        for (int i = 0; i < count; i++) {
            buffers[i] = null;
        }
        count = 0;
        runStart = 0;
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
        int rest = readable - (int) skip;
        int size = bytes == room ? 0 : add(buffer, buffer.readerIndex() + (int) skip, Math.min(rest, room - bytes));
        skip = 0;
        bytes += size;
        isCut = size < rest;
        return !isCut;
    }

    /** Returns how many bytes were added. */
    private int add(ByteBuf buffer, int index, int size) throws RdmaException {
        if (copy == null && isMany && size <= SMALL_BYTES && tools.pieces().count() < maxPieces) {
            copy = newCopyOrNull(size);
        }
        if (copy == null || size > COPIED_ALONG_BYTES && tools.registeredAllocator().isRegistered(buffer, index, size)) {
            endRun();
            if (count < maxPieces && tools.pieces().append(buffer, index, size, maxPieces)) {
                buffers[count++] = buffer;
                return size;
            }
            if (bytes > 0) {
                return 0; // goes with the next message
            }
            copy = tools.newCopyOfSome(copySize(size));
        }
        return copy(buffer, index, size);
    }

    /** Where there is no memory for a copy, what is registered is sent from where it is. */
    private ByteBuf newCopyOrNull(int size) {
        try {
            return tools.newCopy(copySize(size));
        } catch (RdmaException e) {
            return null;
        }
    }

    private int copySize(int size) {
        return (int) Math.min(room - bytes, Math.max(size, pendingBytes));
    }

    /** Adds as much to the run as there is room for; a run is one piece. */
    private int copy(ByteBuf buffer, int index, int size) {
        if (tools.pieces().count() == maxPieces) {
            return 0;
        }
        int most = Math.min(size, copy.writableBytes());
        copy.writeBytes(buffer, index, most);
        return most;
    }

    private void endRun() {
        if (copy != null && copy.writerIndex() > runStart) {
            tools.pieces().append(copy, runStart, copy.writerIndex() - runStart, maxPieces);
            runStart = copy.writerIndex();
        }
    }
}
