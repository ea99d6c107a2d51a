package org.nettyrdma.verbs.iwarp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.nettyrdma.verbs.iwarp.IwarpTestPeer.Endpoint;

/** Messages that arrive together are read together, and come out as if each had come by itself. */
class StagingTest {

    private static final String REQUEST_KEY = "4d504120494420526571204672616d65";
    private static final int BUFFER_BYTES = 40_000;
    private static final int[] SIZES = {4096, 1, 16_384, 0, 4095, 8192, 30_001, 20_480, 64, 20_481, 12_345, 4096, 4096};
    private static final int ROUNDS = 6;
    private static final int CONNECTIONS = 20;

    private final List<RawPeer> raws = new ArrayList<>();
    private IwarpTestPeer peer;

    @BeforeEach
    void setUp() throws IOException {
        peer = new IwarpTestPeer();
        peer.memoryBytes = SIZES.length * BUFFER_BYTES;
        peer.listen();
    }

    @AfterEach
    void tearDown() throws IOException {
        peer.close();
        for (RawPeer raw : raws) {
            raw.close();
        }
    }

    private Endpoint connect(boolean checksum) throws IOException {
        RawPeer raw = RawPeer.connect(peer, peer.listener.localAddress())
                .send(REQUEST_KEY + (checksum ? "50" : "10") + "02 0004 0004 0004");
        Endpoint endpoint = peer.accept(checksum ? IwarpTestPeer.CHECKSUM : IwarpTestPeer.ATTRIBUTES);
        endpoint.awaitEstablished();
        raw.receive(24);
        raws.add(raw);
        return endpoint;
    }

    /** A Send in one segment. Its bytes tell its number and their place. */
    private static byte[] message(int number, int bytes, boolean checksum) {
        ByteBuffer fpdu = ByteBuffer.allocate(FpduLayout.fpduLength(UntaggedLayout.HEADER_LENGTH + bytes));
        fpdu.putShort((short) (18 + bytes)).putShort((short) 0x4143).putInt(0).putInt(0).putInt(number).putInt(0);
        for (int i = 0; i < bytes; i++) {
            fpdu.put(content(number, i));
        }
        if (checksum) {
            CRC32C crc = new CRC32C();
            crc.update(fpdu.array(), 0, fpdu.capacity() - Integer.BYTES);
            fpdu.putInt(fpdu.capacity() - Integer.BYTES, Integer.reverseBytes((int) crc.getValue()));
        }
        return fpdu.array();
    }

    private static byte content(int number, int place) {
        return (byte) (31 * number + place + place / 251);
    }

    private static void assertContent(Endpoint endpoint, int offset, int number, int bytes) {
        byte[] received = endpoint.bytes(offset, bytes);
        for (int i = 0; i < bytes; i++) {
            assertEquals(content(number, i), received[i], "byte " + i + " of message " + number);
        }
    }

    /** The sizes are around the limit of what is copied, and the pieces in which TCP brings them around those of staging. */
    @ParameterizedTest
    @CsvSource({"97, false", "1400, false", "8192, true", "65536, false", "65537, true", "1000000, false", "1000000, true"})
    void shouldTakeMessagesOfAllSizesThatArriveTogether(int pieceBytes, boolean checksum) throws IOException {
        Endpoint endpoint = connect(checksum);
        for (int round = 0; round < ROUNDS; round++) {
            ByteArrayOutputStream stream = new ByteArrayOutputStream();
            for (int i = 0; i < SIZES.length; i++) {
                endpoint.receive(i, i * BUFFER_BYTES, BUFFER_BYTES);
                stream.writeBytes(message(1 + round * SIZES.length + i, SIZES[i], checksum));
            }
            byte[] bytes = stream.toByteArray();
            for (int from = 0; from < bytes.length; from += pieceBytes) {
                raws.get(0).send(Arrays.copyOfRange(bytes, from, Math.min(bytes.length, from + pieceBytes)));
                peer.poll();
            }
            for (int i = 0; i < SIZES.length; i++) {
                endpoint.expectCompletion(i, SIZES[i]);
                assertContent(endpoint, i * BUFFER_BYTES, 1 + round * SIZES.length + i, SIZES[i]);
            }
        }
    }

    /** The bytes are few enough for the buffers of TCP, so that all of them are there before the first is read. */
    @Test
    void shouldLetOthersHaveTheirTurnBetweenManyEmptySegments() throws IOException {
        Endpoint busy = connect(false).receive(1, 0, BUFFER_BYTES);
        Endpoint other = connect(false).receive(1, 0, BUFFER_BYTES);
        byte[] emptyWrite = Hex.bytes("000e c140 00000000 0000000000000000 00000000");
        ByteArrayOutputStream stream = new ByteArrayOutputStream();
        for (int i = 0; i < 5000; i++) {
            stream.writeBytes(emptyWrite);
        }
        stream.writeBytes(message(1, 4096, false));
        raws.get(0).send(stream.toByteArray());
        raws.get(1).send(message(1, 4096, false));
        int turns = 0;
        while (busy.completions.isEmpty() && turns < 1_000_000) {
            peer.poll();
            turns++;
        }
        assertTrue(turns > 10, turns + " turns"); // of less than 500 segments each
        assertFalse(other.completions.isEmpty());
        other.expectCompletion(1, 4096);
        busy.expectCompletion(1, 4096);
    }

    /** More connections than there are large buffers wait with as much as a large buffer holds. */
    @Test
    void shouldKeepWhatWasReadUntilReceivesArePosted() throws IOException {
        List<Endpoint> endpoints = new ArrayList<>();
        for (int i = 0; i < CONNECTIONS; i++) {
            endpoints.add(connect(false));
        }
        int bytes = 4096;
        for (int i = 0; i < CONNECTIONS; i++) {
            Endpoint endpoint = endpoints.get(i);
            for (int number = 1; number <= SIZES.length; number++) { // reads get longer meanwhile
                endpoint.receive(number, number % SIZES.length * BUFFER_BYTES, BUFFER_BYTES);
            }
            ByteArrayOutputStream stream = new ByteArrayOutputStream();
            for (int number = 1; number <= 3 * SIZES.length; number++) {
                stream.writeBytes(message(number, bytes, false));
            }
            raws.get(i).send(stream.toByteArray());
            peer.settle();
            for (int number = 1; number <= SIZES.length; number++) {
                endpoint.expectCompletion(number, bytes);
            }
            assertTrue(endpoint.completions.isEmpty());
        }
        for (int number = SIZES.length + 1; number <= 3 * SIZES.length; number++) {
            int offset = number % SIZES.length * BUFFER_BYTES;
            for (Endpoint endpoint : endpoints) {
                endpoint.receive(number, offset, BUFFER_BYTES).expectCompletion(number, bytes);
                assertContent(endpoint, offset, number, bytes);
            }
        }
    }

    @Test
    void shouldBoundLargeBuffers() {
        StagingBuffers buffers = new StagingBuffers();
        List<ByteBuffer> large = new ArrayList<>();
        ByteBuffer taken = buffers.take(StagingBuffers.LARGE_BYTES);
        while (StagingBuffers.isLarge(taken) && large.size() < 1000) {
            large.add(taken);
            taken = buffers.take(StagingBuffers.LARGE_BYTES);
        }
        assertEquals(16, large.size());
        assertEquals(StagingBuffers.SMALL_BYTES, taken.capacity());
        buffers.give(large.get(0).limit(7));
        assertEquals(StagingBuffers.LARGE_BYTES, buffers.take(StagingBuffers.SMALL_BYTES + 1).limit());
    }
}
