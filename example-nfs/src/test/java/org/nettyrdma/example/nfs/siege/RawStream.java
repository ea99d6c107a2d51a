package org.nettyrdma.example.nfs.siege;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** A TCP connection that an attacker writes to and reads from as it likes, without ever waiting. */
class RawStream implements AutoCloseable {

    private static final int BATCH_BYTES = 65_536;

    private final SocketChannel channel;
    /** What is to be written, empty or in the middle of a message; without room until there is something. */
    private ByteBuffer out = ByteBuffer.allocate(0);
    private long messages;

    RawStream(SocketChannel channel) throws IOException {
        this.channel = channel;
        channel.configureBlocking(false);
    }

    SocketChannel channel() {
        return channel;
    }

    /** Puts a message behind what is to be written, if there is room; {@code false} if not. */
    boolean offer(byte[] message) {
        if (out.capacity() == 0) {
            out = ByteBuffer.allocate(2 * BATCH_BYTES).flip();
        }
        out.compact();
        boolean room = out.remaining() >= message.length + 64;
        if (room) {
            encode(message, out);
            messages++;
        }
        out.flip();
        return room;
    }

    /** Record marking: one fragment, which is the last. */
    void encode(byte[] message, ByteBuffer to) {
        to.putInt(0x80000000 | message.length).put(message);
    }

    /** Repeats a message as fast as the peer takes it; returns whether anything could be written. */
    boolean flood(byte[] message) throws IOException {
        while (out.remaining() < BATCH_BYTES && offer(message)) {
            // until there is enough for one write
        }
        return flush();
    }

    /** Writes what the socket takes; returns whether that was anything. */
    boolean flush() throws IOException {
        return out.hasRemaining() && channel.write(out) > 0;
    }

    boolean isFlushed() {
        return !out.hasRemaining();
    }

    long messages() {
        return messages;
    }

    /** Takes what there is, up to what the buffer has room for, and forgets it. */
    void discard(ByteBuffer buffer) throws IOException {
        if (channel.read(buffer.clear()) < 0) {
            throw new IOException("ended by the server");
        }
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            // It is gone in any case.
        }
    }
}
