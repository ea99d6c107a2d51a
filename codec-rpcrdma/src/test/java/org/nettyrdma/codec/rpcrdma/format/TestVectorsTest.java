package org.nettyrdma.codec.rpcrdma.format;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.ReferenceCountUtil;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.nettyrdma.codec.rpcrdma.Bytes;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException.Reason;
import org.nettyrdma.codec.rpcrdma.RpcRdmaLimits;
import org.nettyrdma.codec.rpcrdma.connection.Refusal;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Malformed;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaMessage;
import org.nettyrdma.codec.rpcrdma.shared.ChunkCounters;
import org.nettyrdma.handler.credit.CreditedMessage.Role;

/** Runs every test vector through the codec, in both directions where it says so. */
class TestVectorsTest {

    /** What the answers in the vectors grant. */
    private static final int GRANT = 32;

    private EmbeddedChannel receiver;
    private EmbeddedChannel sender;

    static Stream<TestVector> accepted() {
        return TestVector.all().filter(vector -> vector.header() != null);
    }

    static Stream<TestVector> canonical() {
        return accepted().filter(TestVector::isCanonical);
    }

    static Stream<TestVector> refused() {
        return TestVector.all().filter(vector -> vector.error() != null);
    }

    static Stream<TestVector> dropped() {
        return TestVector.all().filter(TestVector::isDropped);
    }

    @AfterEach
    void nothingIsLeft() {
        for (EmbeddedChannel channel : new EmbeddedChannel[] {receiver, sender}) {
            if (channel != null) {
                assertFalse(channel.finishAndReleaseAll());
            }
        }
    }

    @ParameterizedTest
    @MethodSource("accepted")
    void shouldDecode(TestVector vector) {
        RpcRdmaMessage message = receive(vector);
        assertEquals(vector.header(), HeaderJson.of(message));
        assertTrue(message.release());
    }

    @ParameterizedTest
    @MethodSource("canonical")
    void shouldEncode(TestVector vector) {
        RpcRdmaMessage message = receive(vector);
        sender = codec(vector, !vector.isToResponder());

        assertTrue(sender.writeOutbound(message));

        ByteBuf sent = sender.readOutbound();
        assertEquals(vector.wire(), Bytes.hex(sent));
        assertTrue(sent.release());
    }

    @ParameterizedTest
    @MethodSource("refused")
    void shouldRefuse(TestVector vector) {
        RpcRdmaMessage message = receive(vector);
        Malformed header = assertInstanceOf(Malformed.class, message.header());
        boolean version = header.cause().reason() == Reason.VERSION;
        assertEquals(vector.error(), version ? "ERR_VERS" : !vector.speaksVersionTwo() ? "ERR_CHUNK"
                : HeaderJson.nameOf(header.cause().error()));
        if (vector.answer() == null) {
            assertNotEquals(Role.REQUEST, message.role(), "what is no request is not answered");
        } else {
            assertNotEquals(Role.RESPONSE, message.role(), "a response is never answered");
            assertEquals(vector.answer(), answer(vector, header));
        }
        message.release();
    }

    @ParameterizedTest
    @MethodSource("dropped")
    void shouldDrop(TestVector vector) {
        assertNull(receive(vector));
        ByteBuf answer = receiver.readOutbound();
        assertEquals(vector.answer(), answer == null ? null : Bytes.hex(answer));
        ReferenceCountUtil.release(answer);
    }

    @ParameterizedTest
    @MethodSource("accepted")
    void shouldSurviveEveryTruncation(TestVector vector) {
        ByteBuf whole = Bytes.hex(vector.wire());
        boolean unanswered = whole.getInt(HeaderLayout.TYPE_OFFSET) >= VersionTwoLayout.RDMA2_CONNPROP
                && (whole.getInt(VersionTwoLayout.FLAGS_OFFSET) & VersionTwoLayout.F_RESPONSE) != 0;
        for (int length = 0; length < whole.readableBytes(); length++) {
            ByteBuf cut = whole.copy(0, length);
            receiver = codec(vector, vector.isToResponder());
            receiver.writeInbound(cut);
            RpcRdmaMessage message = receiver.readInbound();
            if (message == null) {
                assertTrue(unanswered || length < HeaderLayout.FIXED_LENGTH, vector + " cut to " + length);
            } else {
                message.release();
            }
            assertEquals(0, cut.refCnt());
        }
    }

    @ParameterizedTest
    @MethodSource("accepted")
    void shouldSurviveEveryChangedWord(TestVector vector) {
        int length = vector.wire().length() / 2;
        receiver = codec(vector, vector.isToResponder());
        for (int offset = 0; offset + Integer.BYTES <= length; offset += Integer.BYTES) {
            for (int word : new int[] {0, 1, 2, 4, 5, 0x40, 0x41, Integer.MAX_VALUE, Integer.MIN_VALUE, -4, -1}) {
                ByteBuf changed = Bytes.hex(vector.wire()).setInt(offset, word);
                receiver.writeInbound(changed);
                RpcRdmaMessage message = receiver.readInbound();
                if (message != null) {
                    message.release();
                }
                receiver.releaseOutbound(); // a reply that has become a call is refused
                assertEquals(0, changed.refCnt(), vector + " with " + word + " at " + offset);
            }
        }
    }

    @Test
    void shouldNameEachVectorOnce() {
        Set<String> names = new HashSet<>();
        TestVector.all().forEach(vector -> assertTrue(names.add(vector.toString()), vector.toString()));
        assertTrue(names.size() > 130, "read " + names.size());
    }

    private RpcRdmaMessage receive(TestVector vector) {
        receiver = codec(vector, vector.isToResponder());
        ByteBuf received = Bytes.hex(vector.wire());
        receiver.writeInbound(received);
        RpcRdmaMessage message = receiver.readInbound();
        assertTrue(message != null || received.refCnt() == 0);
        return message;
    }

    private String answer(TestVector vector, RpcRdmaHeader header) {
        RpcRdmaHeader answer = Refusal.of(header.xid(), header.version(), ((Malformed) header).cause());
        receiver.writeOutbound(RpcRdmaMessage.error(answer.withCredits(GRANT)));
        ByteBuf sent = receiver.readOutbound();
        try {
            return Bytes.hex(sent);
        } finally {
            sent.release();
        }
    }

    private static EmbeddedChannel codec(TestVector vector, boolean responder) {
        SpokenVersions spoken = vector.speaksVersionTwo() ? SpokenVersions.BOTH : SpokenVersions.ONE;
        FormatTable formats = new FormatTable(spoken, RpcRdmaLimits.DEFAULT, vector.extensions());
        ChunkCounters statistics = new ChunkCounters();
        return new EmbeddedChannel(responder ? RpcRdmaCodec.server(formats, statistics, false)
                : RpcRdmaCodec.client(formats, statistics, false));
    }
}
