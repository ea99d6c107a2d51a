package org.nettyrdma.verbs.iwarp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.lifecycle.AfterTry;
import net.jqwik.api.lifecycle.BeforeTry;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.iwarp.IwarpTestPeer.Endpoint;

/**
 * Where TCP cuts the stream does not show: any mix of Sends, RDMA Writes and RDMA Reads has the same effect however it
 * arrives, with CRC and without. The stream is written by RFC 5044, 5041 and 5040; the oracle is an array of bytes.
 */
class StreamCutPropertyTest {

    private static final int WRITE_TAG = 0x1100;
    private static final int READ_TAG = 0x2200;
    private static final int REGION_BYTES = 512;
    private static final int WRITABLE = 0;
    private static final int READABLE = 1024;
    private static final int RECEIVED = 2048;
    private static final int MAX_MESSAGE_BYTES = 120;
    private static final int MAX_MESSAGES = 10;

    /** What the peer does; {@code segments} are the lengths of the pieces in which DDP conveys a Send or a Write. */
    sealed interface Operation {

        record Send(List<Integer> segments) implements Operation {
        }

        record Write(int offset, List<Integer> segments) implements Operation {
        }

        record Read(int offset, int length) implements Operation {
        }
    }

    private IwarpTestPeer peer;
    private Endpoint endpoint;
    private final ByteArrayOutputStream stream = new ByteArrayOutputStream();
    private final ByteArrayOutputStream responses = new ByteArrayOutputStream();
    private boolean checksum;
    private int sends;
    private int reads;
    private byte content;
    private byte[] memory;

    @Provide
    Arbitrary<List<Operation>> operations() {
        Arbitrary<List<Integer>> segments = Arbitraries.integers().between(0, MAX_MESSAGE_BYTES / 3).list().ofMinSize(1)
                .ofMaxSize(3);
        Arbitrary<Integer> offset = Arbitraries.integers().between(0, REGION_BYTES - MAX_MESSAGE_BYTES);
        return Arbitraries.<Operation>oneOf(segments.map(Operation.Send::new),
                Combinators.combine(offset, segments).as(Operation.Write::new),
                Combinators.combine(offset, Arbitraries.integers().between(1, MAX_MESSAGE_BYTES)).as(Operation.Read::new))
                .list().ofMinSize(1).ofMaxSize(MAX_MESSAGES);
    }

    /** Lengths of the pieces that TCP delivers; they are used again from the start when they are used up. */
    @Provide
    Arbitrary<List<Integer>> pieces() {
        return Arbitraries.oneOf(Arbitraries.integers().between(1, 8), Arbitraries.integers().between(1, 400))
                .list().ofMinSize(1).ofMaxSize(20);
    }

    @BeforeTry
    void listen() throws IOException {
        List<Integer> tags = List.of(WRITE_TAG, READ_TAG);
        int[] next = {0};
        peer = new IwarpTestPeer(System::nanoTime, () -> tags.get(next[0]++));
        peer.memoryBytes = RECEIVED + MAX_MESSAGES * MAX_MESSAGE_BYTES;
        peer.listen();
        stream.reset();
        responses.reset();
        sends = 0;
        reads = 0;
        content = 0;
        memory = new byte[peer.memoryBytes];
    }

    @AfterTry
    void close() {
        peer.close();
    }

    @Property
    void shouldTakeEveryMixOfMessagesCutAnywhere(@ForAll("operations") List<Operation> operations,
            @ForAll("pieces") List<Integer> pieces, @ForAll boolean withChecksum) throws IOException {
        checksum = withChecksum;
        try (RawPeer raw = RawPeer.connect(peer, peer.listener.localAddress())) {
            raw.send("4d504120494420526571204672616d65 10 02 0004 0010 0010");
            endpoint = peer.accept(checksum ? IwarpTestPeer.CHECKSUM : IwarpTestPeer.ATTRIBUTES);
            prepare();
            raw.receive(24);
            operations.forEach(this::perform);
            send(raw, pieces);

            for (int i = 1; i <= sends; i++) {
                endpoint.expectCompletion(i, lengthOfSend(operations, i));
            }
            raw.expect(Hex.of(responses.toByteArray()));
            peer.settle();
            assertArrayEquals(memory, endpoint.bytes(0, memory.length), "what was sent and written, and nothing else");
            endpoint.queuePair.close();
        }
    }

    private void prepare() throws IOException {
        for (int i = 0; i < REGION_BYTES; i++) {
            memory[READABLE + i] = (byte) (i * 7 + 1);
        }
        endpoint.fill(0, memory);
        endpoint.queuePair.expose(endpoint.region, WRITABLE, REGION_BYTES, QueuePair.ACCESS_REMOTE_WRITE);
        endpoint.queuePair.expose(endpoint.region, READABLE, REGION_BYTES, QueuePair.ACCESS_REMOTE_READ);
        for (int i = 0; i < MAX_MESSAGES; i++) {
            endpoint.receive(i + 1, RECEIVED + i * MAX_MESSAGE_BYTES, MAX_MESSAGE_BYTES);
        }
    }

    private void send(RawPeer raw, List<Integer> pieces) throws IOException {
        byte[] bytes = stream.toByteArray();
        for (int i = 0, from = 0; from < bytes.length; i++) {
            int to = Math.min(bytes.length, from + pieces.get(i % pieces.size()));
            raw.send(Arrays.copyOfRange(bytes, from, to));
            peer.poll();
            from = to;
        }
    }

    private void perform(Operation operation) {
        if (operation instanceof Operation.Send send) {
            int offset = 0;
            sends++;
            for (int i = 0; i < send.segments().size(); i++) {
                byte[] data = place(RECEIVED + (sends - 1) * MAX_MESSAGE_BYTES + offset, send.segments().get(i));
                fpdu(stream, i == send.segments().size() - 1 ? 0x4143 : 0x0143,
                        words(0, 0, sends, offset), data);
                offset += data.length;
            }
        } else if (operation instanceof Operation.Write write) {
            int offset = write.offset();
            for (int i = 0; i < write.segments().size(); i++) {
                byte[] data = place(WRITABLE + offset, write.segments().get(i));
                fpdu(stream, i == write.segments().size() - 1 ? 0xc140 : 0x8140, words(WRITE_TAG, 0, offset), data);
                offset += data.length;
            }
        } else if (operation instanceof Operation.Read read) {
            reads++;
            fpdu(stream, 0x4141, words(0, 1, reads, 0),
                    words(0x7700 + reads, 0, 0x10 * reads, read.length(), READ_TAG, 0, read.offset()));
            fpdu(responses, 0xc142, words(0x7700 + reads, 0, 0x10 * reads),
                    Arrays.copyOfRange(memory, READABLE + read.offset(), READABLE + read.offset() + read.length()));
        }
    }

    /** New content, which the oracle has at once where the stream is going to bring it. */
    private byte[] place(int at, int length) {
        byte[] data = new byte[length];
        for (int i = 0; i < length; i++) {
            data[i] = ++content;
        }
        System.arraycopy(data, 0, memory, at, length);
        return data;
    }

    /** Length, control, header, payload, padding to whole words, CRC (RFC 5044, section 4). */
    private void fpdu(ByteArrayOutputStream out, int control, byte[] header, byte[] payload) {
        int length = 2 + header.length + payload.length;
        ByteBuffer fpdu = ByteBuffer.allocate(2 + length + 3 & ~3).putShort((short) length).putShort((short) control)
                .put(header).put(payload);
        CRC32C crc = new CRC32C();
        crc.update(fpdu.array());
        out.writeBytes(fpdu.array());
        out.writeBytes(words(checksum ? Integer.reverseBytes((int) crc.getValue()) : 0));
    }

    private static byte[] words(int... words) {
        ByteBuffer bytes = ByteBuffer.allocate(words.length * Integer.BYTES);
        for (int word : words) {
            bytes.putInt(word);
        }
        return bytes.array();
    }

    private static int lengthOfSend(List<Operation> operations, int number) {
        Operation.Send send = (Operation.Send) operations.stream().filter(Operation.Send.class::isInstance).skip(number - 1)
                .findFirst().orElseThrow();
        return send.segments().stream().mapToInt(Integer::intValue).sum();
    }
}
