package org.nettyrdma.verbs.iwarp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Arrays;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.WorkCompletionStatus;
import org.nettyrdma.verbs.iwarp.IwarpTestPeer.Completion;
import org.nettyrdma.verbs.iwarp.IwarpTestPeer.Endpoint;

/**
 * Any bytes from the peer of an established connection: FPDUs, DDP segments and RDMAP messages, through a real socket and in the
 * pieces that the first byte of the input says. The connection ends cleanly, every receive completes once, and no memory changes
 * but what the peer may write and what receives are for.
 */
class StreamFuzzTest {

    private static final int MEMORY_BYTES = 4096;
    private static final int WRITABLE = 1024;
    private static final int READABLE = 2048;
    private static final int REMOTE_BYTES = 256;
    private static final int RECEIVES = 4;
    private static final int RECEIVE_BYTES = 64;

    @FuzzTest(maxDuration = "3s")
    void shouldEndCleanlyAndTouchNothingElse(byte[] input) throws IOException {
        if (input.length < 2) {
            return;
        }
        boolean checksum = (input[0] & 0x80) != 0;
        int pieceBytes = (input[0] & 0x7f) + 1;
        ArrayDeque<Integer> steeringTags = new ArrayDeque<>();
        try (IwarpTestPeer peer = new IwarpTestPeer(System::nanoTime, steeringTags::remove)) {
            peer.memoryBytes = MEMORY_BYTES;
            peer.listen();
            try (RawPeer raw = RawPeer.connect(peer, peer.listener.localAddress())) {
                raw.send(RawConnectionFixture.REQUEST_KEY + (checksum ? "50" : "10") + "02 0004 0004 0004");
                Endpoint endpoint = peer.accept(checksum ? IwarpTestPeer.CHECKSUM : IwarpTestPeer.ATTRIBUTES);
                endpoint.awaitEstablished();
                steeringTags.add(0x1100);
                endpoint.queuePair.expose(endpoint.region, WRITABLE, REMOTE_BYTES, QueuePair.ACCESS_REMOTE_WRITE);
                steeringTags.add(0x2200);
                endpoint.queuePair.expose(endpoint.region, READABLE, REMOTE_BYTES, QueuePair.ACCESS_REMOTE_READ);
                for (int i = 0; i < RECEIVES; i++) {
                    endpoint.receive(i, i * RECEIVE_BYTES, RECEIVE_BYTES);
                }
                send(peer, raw, input, pieceBytes);
                peer.settle();
                endpoint.queuePair.moveToError();
                peer.settle();
                requireEveryReceiveOnce(endpoint);
                requireUntouched(endpoint, RECEIVES * RECEIVE_BYTES, WRITABLE);
                requireUntouched(endpoint, WRITABLE + REMOTE_BYTES, MEMORY_BYTES);
            }
        }
    }

    /** The connection may end in between. */
    private static void send(IwarpTestPeer peer, RawPeer raw, byte[] input, int pieceBytes) throws IOException {
        try {
            for (int start = 1; start < input.length; start += pieceBytes) {
                raw.send(Arrays.copyOfRange(input, start, Math.min(input.length, start + pieceBytes)));
                peer.poll();
            }
            raw.shutdownOutput();
        } catch (IOException e) {
            peer.settle();
        }
    }

    private static void requireEveryReceiveOnce(Endpoint endpoint) {
        assertEquals(RECEIVES, endpoint.completions.size());
        int id = 0;
        for (Completion completion : endpoint.completions) {
            assertEquals(id++, (int) completion.id());
            assertTrue(completion.status() != WorkCompletionStatus.SUCCESS || completion.byteLength() <= RECEIVE_BYTES);
        }
    }

    private static void requireUntouched(Endpoint endpoint, int start, int end) {
        assertArrayEquals(new byte[end - start], endpoint.bytes(start, end - start));
    }
}
