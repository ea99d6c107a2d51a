package org.nettyrdma.codec.oncrpc;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import java.util.LinkedList;

/** What a connection has received and not decoded yet, in its order; each buffer with its reference. Event loop only. */
final class KeptBuffers {

    /** What a kept buffer takes besides its capacity, about. */
    private static final int BUFFER_BYTES = 512;

    private final ChannelHandlerContext ctx;
    /** Not an array: one that cannot grow for want of memory loses what is in it. */
    private final LinkedList<ByteBuf> buffers = new LinkedList<>();

    KeptBuffers(ChannelHandlerContext ctx) {
        this.ctx = ctx;
    }

    boolean isEmpty() {
        return buffers.isEmpty();
    }

    /** How much memory they take. */
    int bytes() {
        int bytes = 0;
        for (ByteBuf each : buffers) {
            bytes += each.capacity() + BUFFER_BYTES;
        }
        return bytes;
    }

    void addFirst(ByteBuf in) {
        add(0, in);
    }

    void addLast(ByteBuf in) {
        add(buffers.size(), in);
    }

    private void add(int index, ByteBuf in) {
        ByteBuf compact = compact(in);
        try {
            buffers.add(index, compact);
        } catch (RuntimeException | Error e) { // no memory, for instance: what comes behind the gap is not to be decoded
            compact.release();
            ctx.close();
            throw e;
        }
    }

    /** Lets go of a buffer that is mostly empty. */
    private ByteBuf compact(ByteBuf in) {
        int bytes = in.readableBytes();
        if (bytes > in.capacity() / 2) {
            return in;
        }
        ByteBuf copy;
        try {
            copy = ctx.alloc().buffer(bytes, bytes);
        } catch (RuntimeException | Error e) { // no memory: it can be kept as it is
            return in;
        }
        copy.writeBytes(in);
        in.release();
        return copy;
    }

    /** With its reference; there must be one. */
    ByteBuf removeFirst() {
        return buffers.removeFirst();
    }

    void release() {
        for (ByteBuf in = buffers.poll(); in != null; in = buffers.poll()) {
            in.release();
        }
    }
}
