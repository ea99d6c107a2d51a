package org.nettyrdma.verbs.shm;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;

/** Reads one frame, and not a byte beyond it. */
final class SetupFrameReader {

    private final ByteBuffer buffer = ByteBuffer.allocate(SetupFrame.MAX_BYTES).limit(SetupFrame.PREFIX_BYTES);

    /**
     * Reads on.
     *
     * @return the frame, {@code null} if it is not complete
     * @throws IOException if it is malformed, or the connection has ended
     */
    SetupFrame read(ReadableByteChannel channel) throws IOException {
        while (true) {
            int count = channel.read(buffer);
            if (count < 0) {
                throw new EOFException("the peer has closed the connection before it stood");
            }
            if (buffer.hasRemaining()) {
                return null;
            }
            if (buffer.position() == SetupFrame.PREFIX_BYTES) {
                buffer.limit(SetupFrame.totalBytes(buffer));
            } else {
                return SetupFrame.decode(buffer.flip());
            }
        }
    }

    boolean hasBegun() {
        return buffer.position() > 0;
    }
}
