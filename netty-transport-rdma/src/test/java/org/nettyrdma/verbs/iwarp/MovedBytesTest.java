package org.nettyrdma.verbs.iwarp;

import java.io.IOException;
import org.junit.jupiter.api.Test;

/** What a connection tells of transfers that are not complete. */
class MovedBytesTest extends RawConnectionFixture {

    private static final int MESSAGES = 64;
    /** More than a segment of the loopback interface, and less than what a full socket lets go before it is writable. */
    private static final int LITTLE_BYTES = 160 << 10;

    /** A socket that was full is not writable yet. */
    @Test
    void shouldTellOfALittleThatThePeerTakes() throws IOException {
        connect();
        raw.send(EMPTY_WRITE);
        peer.settle();
        for (int i = 0; i < MESSAGES; i++) {
            endpoint.send(i, 0, peer.memoryBytes);
        }
        raw.receive(MESSAGES / 2 * peer.memoryBytes);
        raw.setReceiveBufferBytes(64 << 10);
        raw.receive(MESSAGES / 8 * peer.memoryBytes); // from here on it buffers no more than that
        for (int i = 0; i < 16; i++) {
            peer.settle();
            long moved = endpoint.queuePair.movedBytes();
            raw.receive(LITTLE_BYTES);
            peer.pump("a little", () -> endpoint.queuePair.movedBytes() > moved);
        }
    }
}
