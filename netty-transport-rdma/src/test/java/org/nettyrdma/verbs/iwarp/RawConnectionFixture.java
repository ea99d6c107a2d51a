package org.nettyrdma.verbs.iwarp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import java.io.IOException;
import java.util.ArrayDeque;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.iwarp.IwarpTestPeer.Endpoint;

/**
 * A connection of the provider whose peer is played byte by byte. Every connection exposes 256 bytes from 1024 on for writing
 * under tag 0x1100, and 256 from 2048 on for reading under 0x2200; the read depth is 4 in both directions.
 */
abstract class RawConnectionFixture {

    static final String REQUEST_KEY = "4d504120494420526571204672616d65";
    static final String REPLY_KEY = "4d504120494420526570204672616d65";
    static final String CRC_OFF = "00000000";
    static final String EMPTY_WRITE = "000e c140 00000000 0000000000000000" + CRC_OFF;

    static final int WRITABLE = 1024;
    static final int READABLE = 2048;

    final ArrayDeque<Integer> steeringTags = new ArrayDeque<>();
    IwarpTestPeer peer;
    RawPeer raw;
    Endpoint endpoint;

    @BeforeEach
    void setUp() throws IOException {
        peer = new IwarpTestPeer(System::nanoTime, steeringTags::remove);
        peer.listen();
    }

    @AfterEach
    void tearDown() throws IOException {
        peer.close();
        if (raw != null) {
            raw.close();
        }
    }

    /** A connection without CRC. */
    void connect() throws IOException {
        connect("10", "0004");
    }

    /** A connection with CRC. */
    void connectWithChecksum() throws IOException {
        connect("50", "0004");
    }

    /**
     * Replaces the connection; the one before is left as it is.
     *
     * @param flags     the flags byte of the request, and of the answer
     * @param readDepth what the peer asks to have outstanding, and gets
     */
    void connect(String flags, String readDepth) throws IOException {
        raw = RawPeer.connect(peer, peer.listener.localAddress())
                .send(REQUEST_KEY + flags + "02 0004 0004" + readDepth);
        endpoint = peer.accept(IwarpTestPeer.ATTRIBUTES);
        endpoint.awaitEstablished();
        raw.expect(REPLY_KEY + flags + "02 0004" + readDepth + "0004");
        steeringTags.add(0x1100);
        endpoint.queuePair.expose(endpoint.region, WRITABLE, 256, QueuePair.ACCESS_REMOTE_WRITE);
        steeringTags.add(0x2200);
        endpoint.queuePair.expose(endpoint.region, READABLE, 256, QueuePair.ACCESS_REMOTE_READ);
    }

    static String readRequest(int number, int size, String sourceTag) {
        return readRequest(number, size, sourceTag, 0);
    }

    /** An RDMA Read Request without its CRC, with sink tag 0x77 and sink offset 0x12345678. */
    static String readRequest(int number, int size, String sourceTag, long sourceOffset) {
        return Hex.digits(String.format("002e 4141 00000000 00000001 %08x 00000000 00000077 0000000012345678 %08x %s %016x",
                number, size, sourceTag, sourceOffset));
    }

    /** The connection is terminated for a reason: its layer and type, and its code. What was sent until then is returned. */
    String awaitTerminate(String layerTypeAndCode) throws IOException {
        String received = Hex.of(raw.receiveAll());
        int start = received.indexOf(Hex.digits("4147 00000000 00000002 00000001 00000000" + layerTypeAndCode));
        assertEquals(true, start >= 4, () -> "expected a Terminate " + layerTypeAndCode + ", got " + received);
        ProtocolViolationException cause = assertInstanceOf(ProtocolViolationException.class, endpoint.awaitDisconnect());
        assertEquals(Integer.parseInt(layerTypeAndCode.substring(0, 2), 16), cause.reason().layerAndType());
        assertEquals(Integer.parseInt(layerTypeAndCode.substring(3), 16), cause.reason().code());
        return received.substring(0, start - 4);
    }
}
