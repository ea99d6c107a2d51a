package org.nettyrdma.verbs.iwarp;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;

/**
 * Reads one {@link MpaFrame}, in as many pieces as it arrives, and not a byte more: what follows is the first FPDU.
 */
final class MpaFrameReader {

    private final boolean reply;
    private ByteBuffer bytes = ByteBuffer.allocate(MpaFrame.FIXED_LENGTH);
    private boolean fixedPartChecked;

    /**
     * @param reply whether a reply is expected, else a request
     */
    MpaFrameReader(boolean reply) {
        this.reply = reply;
    }

    /** Whether anything of the frame has arrived. */
    boolean hasBegun() {
        return bytes.position() > 0;
    }

    /**
     * Reads what is there.
     *
     * @return the frame, or {@code null} if more must arrive
     * @throws ProtocolViolationException if it is not a proper frame
     * @throws EOFException if the peer closed the connection within the frame
     */
    MpaFrame read(ReadableByteChannel channel) throws IOException {
        if (!fixedPartChecked) {
            boolean complete = fill(channel);
            MpaFrame.checkKey(bytes, reply);
            if (!complete) {
                return null;
            }
            int privateLength = MpaFrame.privateLength(bytes);
            fixedPartChecked = true;
            bytes = ByteBuffer.allocate(MpaFrame.FIXED_LENGTH + privateLength).put(bytes.flip());
        }
        if (!fill(channel)) {
            return null;
        }
        byte[] privateData = new byte[bytes.capacity() - MpaFrame.FIXED_LENGTH];
        bytes.get(MpaFrame.FIXED_LENGTH, privateData);
        return new MpaFrame(reply, bytes.get(MpaFrame.FLAGS_OFFSET) & 0xFF, bytes.get(MpaFrame.REVISION_OFFSET) & 0xFF,
                privateData);
    }

    private boolean fill(ReadableByteChannel channel) throws IOException {
        while (bytes.hasRemaining()) {
            int n = channel.read(bytes);
            if (n < 0) {
                throw new EOFException("the peer closed the connection after " + bytes.position() + " bytes of its MPA "
                        + (reply ? "reply, perhaps it is on plain TCP" : "request"));
            }
            if (n == 0) {
                return false;
            }
        }
        return true;
    }
}
