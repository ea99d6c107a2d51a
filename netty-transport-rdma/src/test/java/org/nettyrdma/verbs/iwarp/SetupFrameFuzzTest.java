package org.nettyrdma.verbs.iwarp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import org.nettyrdma.verbs.QueuePairAttributes;

/**
 * Any bytes in place of an MPA request or reply, in pieces of the size that the first byte of the input says. A frame is read to
 * its last byte and no further, written again it is the same, and what the two sides then agree on is within what this side has.
 */
class SetupFrameFuzzTest {

    private static final QueuePairAttributes ATTRIBUTES = IwarpTestPeer.ATTRIBUTES;

    @FuzzTest(maxDuration = "3s")
    void shouldReadOrRefuse(byte[] input) throws IOException {
        if (input.length == 0) {
            return;
        }
        boolean reply = (input[0] & 0x80) != 0;
        Pieces pieces = new Pieces(ByteBuffer.wrap(input, 1, input.length - 1), (input[0] & 0x7f) + 1);
        MpaFrame frame = read(new MpaFrameReader(reply), pieces);
        if (frame == null) {
            return;
        }
        ByteBuffer written = frame.encode();
        assertEquals(pieces.in.position() - 1, written.remaining());
        assertEquals(ByteBuffer.wrap(input, 1, written.remaining()), written);
        assertTrue(frame.userData().remaining() <= MpaFrame.MAX_PRIVATE_LENGTH);
        if (reply) {
            takeReply(frame);
        } else {
            answer(frame);
        }
    }

    /** Returns {@code null} if it is refused, or does not end. */
    private static MpaFrame read(MpaFrameReader reader, Pieces pieces) throws IOException {
        try {
            while (pieces.in.hasRemaining()) {
                MpaFrame frame = reader.read(pieces);
                if (frame != null) {
                    return frame;
                }
            }
            assertNull(reader.read(pieces));
            return null;
        } catch (ProtocolViolationException e) {
            return null;
        }
    }

    private static void takeReply(MpaFrame reply) {
        MpaNegotiation agreed;
        try {
            agreed = MpaNegotiation.afterReply(ATTRIBUTES, reply);
        } catch (IOException e) {
            return; // rejected, or wants what there is not
        }
        assertTrue(!reply.isRejection() && !reply.wantsMarkers());
        requireWithin(agreed, reply);
    }

    private static void answer(MpaFrame request) {
        MpaNegotiation agreed = MpaNegotiation.afterRequest(ATTRIBUTES, request);
        requireWithin(agreed, request);
        MpaFrame answer = agreed.reply(request, new byte[3]);
        assertEquals(request.revision(), answer.revision());
        assertEquals(request.isEnhanced(), answer.isEnhanced());
        assertEquals(3, answer.userData().remaining());
        assertTrue(MpaNegotiation.rejection(request).isRejection());
    }

    private static void requireWithin(MpaNegotiation agreed, MpaFrame peer) {
        assertTrue(agreed.inboundReadDepth() <= Math.max(1, ATTRIBUTES.inboundReadDepth()), agreed.toString());
        assertTrue(agreed.outboundReadDepth() <= ATTRIBUTES.outboundReadDepth(), agreed.toString());
        assertEquals(ATTRIBUTES.checksum() || peer.wantsCrc(), agreed.checksum());
    }

    /** Gives out the input, no more than so many bytes at once and then nothing. */
    private static final class Pieces implements ReadableByteChannel {

        private final ByteBuffer in;
        private final int maxBytes;

        private Pieces(ByteBuffer in, int maxBytes) {
            this.in = in;
            this.maxBytes = maxBytes;
        }

        @Override
        public int read(ByteBuffer target) {
            int length = Math.min(maxBytes, Math.min(in.remaining(), target.remaining()));
            target.put(in.slice(in.position(), length));
            in.position(in.position() + length);
            return length;
        }

        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public void close() {
        }
    }
}
