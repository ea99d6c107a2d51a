package org.nettyrdma.verbs.iwarp;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.QueuePairAttributes;
import org.nettyrdma.verbs.iwarp.IwarpTestPeer.Endpoint;

/** TCP may cut the stream anywhere: the same messages must come out, with and without CRC. */
class FragmentationTest {

    private static final int TAG = 0x1100;

    private final ArrayDeque<Integer> steeringTags = new ArrayDeque<>();
    private IwarpTestPeer peer;

    @BeforeEach
    void setUp() throws IOException {
        peer = new IwarpTestPeer(System::nanoTime, steeringTags::remove);
        peer.memoryBytes = 2048;
        peer.listen();
    }

    @AfterEach
    void tearDown() {
        peer.close();
    }

    /** A stream of every kind of message, some with pad, some in segments. */
    private static byte[] stream(boolean checksum) {
        String[] fpdus = {
            "000e c140 00000000 0000000000000000",
            "0015 4143 00000000 00000000 00000001 00000000 010203",
            "0013 8140 00001100 0000000000000010 1011121314",
            "000e 8140 00001100 0000000000000015",
            "0011 c140 00001100 0000000000000015 151617",
            "0013 0143 00000000 00000000 00000002 00000000 20",
            "0016 4143 00000000 00000000 00000002 00000001 21222324",
            "002e 4141 00000000 00000001 00000001 00000000 00000077 0000000000000000 00000004 00002200 0000000000000000",
            "0012 4145 00000000 00000000 00000003 00000000",
            "0014 4144 00001100 00000000 00000004 00000000 4041",
        };
        StringBuilder digits = new StringBuilder();
        for (String fpdu : fpdus) {
            byte[] bytes = Hex.bytes(fpdu);
            bytes = Arrays.copyOf(bytes, bytes.length + 3 & ~3);
            CRC32C crc = new CRC32C();
            crc.update(bytes);
            int value = checksum ? Integer.reverseBytes((int) crc.getValue()) : 0;
            digits.append(Hex.of(bytes)).append(String.format("%08x", value));
        }
        return Hex.bytes(digits.toString());
    }

    /** Sends the stream, cut into the given pieces, on a new connection, and checks what comes out. */
    private void check(boolean checksum, int[] cuts, IntFunction<String> name) throws IOException {
        byte[] stream = stream(checksum);
        steeringTags.add(TAG);
        steeringTags.add(0x2200);
        QueuePairAttributes attributes = checksum ? IwarpTestPeer.CHECKSUM : IwarpTestPeer.ATTRIBUTES;
        try (RawPeer raw = RawPeer.connect(peer, peer.listener.localAddress())) {
            raw.send("4d504120494420526571204672616d65 10 02 0004 0010 0010");
            Endpoint endpoint = peer.accept(attributes);
            endpoint.queuePair.expose(endpoint.region, 1000, 64, QueuePair.ACCESS_REMOTE_WRITE);
            endpoint.queuePair.expose(endpoint.region, 1016, 4, QueuePair.ACCESS_REMOTE_READ);
            for (int i = 1; i <= 4; i++) {
                endpoint.receive(i, i * 100, 100);
            }
            raw.receive(24);
            int from = 0;
            for (int cut : cuts) {
                raw.send(Arrays.copyOfRange(stream, from, cut));
                peer.poll();
                from = cut;
            }
            raw.send(Arrays.copyOfRange(stream, from, stream.length));
            endpoint.expectCompletion(1, 3);
            endpoint.expectCompletion(2, 5);
            endpoint.expectCompletion(3, 0);
            assertEquals(TAG, endpoint.awaitCompletion().invalidatedTag(), () -> name.apply(cuts[0]));
            assertEquals("010203", Hex.of(endpoint.bytes(100, 3)));
            assertEquals("2021222324", Hex.of(endpoint.bytes(200, 5)));
            assertEquals("4041", Hex.of(endpoint.bytes(400, 2)));
            assertEquals("001011121314151617", Hex.of(endpoint.bytes(1015, 9)));
            raw.expect("0012 c142 00000077 0000000000000000 10111213");
            endpoint.queuePair.close();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldTakeAStreamCutAtAnyPlace(boolean checksum) throws IOException {
        int length = stream(checksum).length;
        for (int cut = 0; cut <= length; cut++) {
            check(checksum, new int[] {cut}, at -> "cut at " + at);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldTakeAStreamByteByByte(boolean checksum) throws IOException {
        check(checksum, IntStream.range(1, stream(checksum).length).toArray(), at -> "byte by byte");
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37})
    void shouldTakeAStreamInPiecesOfOneSize(int size) throws IOException {
        int length = stream(true).length;
        check(true, IntStream.iterate(size, at -> at < length, at -> at + size).toArray(), at -> "pieces of " + at);
    }

    @Test
    void shouldTakeTheRequestByteByByte() throws IOException {
        try (RawPeer raw = RawPeer.connect(peer, peer.listener.localAddress())) {
            raw.sendBytewise(Hex.bytes("4d504120494420526571204672616d65 10 02 0007 0010 0010 010203"));
            assertEquals("010203", Hex.of(peer.awaitRequest().privateData()));
        }
    }
}
