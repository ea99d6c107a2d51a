package org.nettyrdma.codec.oncrpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** Neither how a sender cuts records into fragments nor how TCP cuts the stream shows in the messages. */
class RecordMarkingPropertyTest {

    private static final int MAX_MESSAGE_BYTES = 400;

    /** Records as the lengths of their fragments, some of them empty. */
    @Provide
    Arbitrary<List<List<Integer>>> records() {
        Arbitrary<List<Integer>> fragments = Arbitraries.integers().between(0, MAX_MESSAGE_BYTES / 8).list().ofMinSize(1)
                .ofMaxSize(8);
        return fragments.list().ofMaxSize(12);
    }

    /** Lengths of the pieces in which the stream arrives; they are used again from the start when they are used up. */
    @Provide
    Arbitrary<List<Integer>> pieces() {
        return Arbitraries.integers().between(1, 300).list().ofMinSize(1).ofMaxSize(40);
    }

    @Property
    void shouldPassUpTheSameMessagesForEverySplit(@ForAll("records") List<List<Integer>> records,
                                                  @ForAll("pieces") List<Integer> pieces) {
        List<String> messages = new ArrayList<>();
        byte[] stream = stream(records, messages);
        EmbeddedChannel channel = new EmbeddedChannel(new RecordMarkingCodec(MAX_MESSAGE_BYTES));
        List<ByteBuf> arrived = arrive(channel, stream, pieces);

        for (String message : messages) {
            ByteBuf passedUp = channel.readInbound();
            assertNotNull(passedUp, "a message is missing");
            assertEquals(message, ByteBufUtil.hexDump(passedUp));
            passedUp.release();
        }
        assertNull(channel.readInbound(), "no message more");
        assertFalse(channel.finishAndReleaseAll());
        arrived.forEach(piece -> assertEquals(0, piece.refCnt(), "each piece is released once"));
    }

    /** Wherever the connection ends, whole messages were passed up, the rest was not, and nothing is kept. */
    @Property
    void shouldDropWhatIsCutOff(@ForAll("records") List<List<Integer>> records, @ForAll("pieces") List<Integer> pieces,
                                @ForAll int where) {
        List<String> messages = new ArrayList<>();
        byte[] whole = stream(records, messages);
        int left = Integer.remainderUnsigned(where, whole.length + 1);
        byte[] stream = Arrays.copyOf(whole, left);
        EmbeddedChannel channel = new EmbeddedChannel(new RecordMarkingCodec(MAX_MESSAGE_BYTES));
        List<ByteBuf> arrived = arrive(channel, stream, pieces);

        for (int i = 0; i < records.size(); i++) {
            left -= records.get(i).stream().mapToInt(length -> Integer.BYTES + length).sum();
            ByteBuf passedUp = channel.readInbound();
            assertEquals(left >= 0 ? messages.get(i) : null, passedUp == null ? null : ByteBufUtil.hexDump(passedUp));
            if (passedUp != null) {
                passedUp.release();
            }
        }
        assertFalse(channel.finishAndReleaseAll());
        arrived.forEach(piece -> assertEquals(0, piece.refCnt(), "each piece is released once"));
    }

    /** Writes the records with markers by RFC 5531, section 11, and adds what each of them conveys to {@code messages}. */
    private static byte[] stream(List<List<Integer>> records, List<String> messages) {
        ByteArrayOutputStream stream = new ByteArrayOutputStream();
        byte content = 0;
        for (List<Integer> fragments : records) {
            ByteArrayOutputStream message = new ByteArrayOutputStream();
            for (int i = 0; i < fragments.size(); i++) {
                int marker = (i == fragments.size() - 1 ? 0x8000_0000 : 0) | fragments.get(i);
                stream.writeBytes(ByteBuffer.allocate(Integer.BYTES).putInt(marker).array());
                for (int j = 0; j < fragments.get(i); j++) {
                    message.write(++content);
                    stream.write(content);
                }
            }
            messages.add(ByteBufUtil.hexDump(message.toByteArray()));
        }
        return stream.toByteArray();
    }

    private static List<ByteBuf> arrive(EmbeddedChannel channel, byte[] stream, List<Integer> pieces) {
        List<ByteBuf> arrived = new ArrayList<>();
        for (int i = 0, from = 0; from < stream.length; i++) {
            int to = Math.min(from + pieces.get(i % pieces.size()), stream.length);
            ByteBuf piece = Unpooled.copiedBuffer(stream, from, to - from);
            arrived.add(piece);
            channel.writeInbound(piece);
            from = to;
        }
        return arrived;
    }
}
