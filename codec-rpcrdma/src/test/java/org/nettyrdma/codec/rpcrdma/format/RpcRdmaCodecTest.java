package org.nettyrdma.codec.rpcrdma.format;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nettyrdma.codec.rpcrdma.Bytes.digits;
import static org.nettyrdma.codec.rpcrdma.Bytes.hex;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.channel.RdmaSend;
import org.nettyrdma.channel.RemoteInvalidation;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.codec.oncrpc.ExhaustedAllocator;
import org.nettyrdma.codec.rpcrdma.Bytes;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException;
import org.nettyrdma.codec.rpcrdma.RpcRdmaLimits;
import org.nettyrdma.codec.rpcrdma.header.ChunkLists;
import org.nettyrdma.codec.rpcrdma.header.HeaderExtensions;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Malformed;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Msg;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.NoMsg;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.VersionError;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaMessage;
import org.nettyrdma.codec.rpcrdma.header.WriteChunk;
import org.nettyrdma.codec.rpcrdma.shared.ChunkCounters;
import org.nettyrdma.handler.credit.CreditedMessage.Role;

class RpcRdmaCodecTest {

    /** A NULL call of NFS version 3, as the Linux server accepts it. */
    private static final String NULL_CALL = """
            00000001 00000001 00000020 00000000 00000000 00000000 00000000
            00000001 00000000 00000002 000186a3 00000003 00000000 00000000 00000000 00000000 00000000""";

    private static final String NULL_REPLY = """
            00000001 00000001 00000040 00000000 00000000 00000000 00000000
            00000001 00000001 00000000 00000000 00000000 00000000""";

    private final ChunkCounters statistics = new ChunkCounters();
    private final FormatTable formats = new FormatTable(SpokenVersions.ONE, RpcRdmaLimits.DEFAULT, HeaderExtensions.NONE);
    private final EmbeddedChannel server = new EmbeddedChannel(RpcRdmaCodec.server(formats, statistics, false));
    private final EmbeddedChannel client = new EmbeddedChannel(RpcRdmaCodec.client(formats, statistics, false));

    @AfterEach
    void nothingIsLeft() {
        server.finishAndReleaseAll();
        client.finishAndReleaseAll();
    }

    @Test
    void shouldPassUpCallWithTheReceiveBufferAsItsBody() {
        ByteBuf received = hex(NULL_CALL);
        server.writeInbound(received);

        RpcRdmaMessage call = server.readInbound();
        assertEquals(new Msg(1, 32, ChunkLists.EMPTY), call.header());
        assertEquals(Role.REQUEST, call.role());
        assertSame(received, call.content());
        assertEquals(40, call.content().readableBytes());
        assertTrue(call.release());
        assertEquals(0, received.refCnt());
    }

    @Test
    void shouldPassUpReply() {
        client.writeInbound(hex(NULL_REPLY));

        RpcRdmaMessage reply = client.readInbound();
        assertEquals(Role.RESPONSE, reply.role());
        assertEquals(64, reply.credits());
        assertEquals(1, reply.xid());
        reply.release();
    }

    @Test
    void shouldDropAndCountWhatIsTooShortToAnswer() {
        for (int length = 0; length < 16; length++) {
            ByteBuf received = hex(NULL_CALL).copy(0, length);
            assertTrue(!server.writeInbound(received) && received.refCnt() == 0, "length " + length);
            ByteBuf reply = hex(NULL_REPLY).copy(0, length);
            assertTrue(!client.writeInbound(reply) && reply.refCnt() == 0, "length " + length);
        }
        assertEquals(32, statistics.get(Counter.SHORT_MESSAGES_DROPPED));
    }

    @Test
    void shouldDropAndCountDone() {
        ByteBuf done = hex("00000001 00000001 00000020 00000003");
        assertTrue(!server.writeInbound(done) && done.refCnt() == 0);
        assertEquals(1, statistics.get(Counter.DONE_MESSAGES_DROPPED));
    }

    @Test
    void shouldMarkEveryTruncatedCallButNeverDropIt() {
        ByteBuf whole = hex(NULL_CALL);
        for (int length = 16; length < 36; length++) {
            ByteBuf received = whole.copy(0, length);
            server.writeInbound(received);
            RpcRdmaMessage call = server.readInbound();
            Malformed header = assertInstanceOf(Malformed.class, call.header(), "length " + length);
            assertEquals(1, header.xid());
            assertEquals(1, header.version());
            assertEquals(32, header.credits());
            assertEquals(Role.REQUEST, call.role());
            assertEquals(0, received.refCnt());
            call.release();
        }
        assertEquals(20, statistics.get(Counter.MALFORMED_MESSAGES));
    }

    @Test
    void shouldMarkCallOfAnotherVersion() {
        server.writeInbound(hex(NULL_CALL).setInt(4, 2));

        RpcRdmaMessage call = server.readInbound();
        Malformed header = assertInstanceOf(Malformed.class, call.header());
        assertEquals(2, header.version());
        assertEquals(RpcRdmaException.Reason.VERSION, header.cause().reason());
        call.release();
    }

    @Test
    void shouldMarkMessageWhoseXidsDiffer() {
        server.writeInbound(hex(NULL_CALL).setInt(28, 2));
        assertMalformed(server.readInbound());
        client.writeInbound(hex(NULL_REPLY).setInt(28, 2));
        assertMalformed(client.readInbound());
    }

    @Test
    void shouldMarkMessageThatIsNeitherCallNorReply() {
        server.writeInbound(hex(NULL_CALL).setInt(32, 2));
        assertMalformed(server.readInbound());
        client.writeInbound(hex(NULL_REPLY).setInt(32, -1));
        assertMalformed(client.readInbound());
    }

    @Test
    void shouldAcceptMessageWithoutInlinePartForAPositionZeroChunk() {
        server.writeInbound(hex("""
                00000002 00000001 00000020 00000000
                00000001 00000000 00002200 00000028 00000000 00000000 00000000 00000000 00000000"""));

        RpcRdmaMessage call = server.readInbound();
        assertTrue(assertInstanceOf(Msg.class, call.header()).chunks().hasPositionZeroChunk());
        call.release();
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "00000004 00000002 00000040 00000004 00000001 00000001 00000001", // ERR_VERS
        "00000005 00000001 00000040 00000004 00000002",                   // ERR_CHUNK
        "00000005 00000001 00000040 00000004 00000009 00",                // an error that makes no sense
        NULL_REPLY,
    })
    void shouldNeverPassUpAnAnswerToAServer(String digits) {
        ByteBuf received = hex(digits);
        assertTrue(!server.writeInbound(received) && received.refCnt() == 0);
        assertEquals(1, statistics.get(Counter.STRAY_MESSAGES_DROPPED));
    }

    @Test
    void shouldRefuseCallThatReachesAClient() {
        ByteBuf received = hex(NULL_CALL);
        assertTrue(!client.writeInbound(received) && received.refCnt() == 0);
        ByteBuf refusal = client.readOutbound();
        assertEquals("0000000100000001000000010000000400000002", hex(refusal));
        refusal.release();
        assertEquals(1, statistics.get(Counter.STRAY_MESSAGES_DROPPED));
    }

    @Test
    void shouldPassUpErrorsAsAnswersToAClient() {
        client.writeInbound(hex("00000004 00000002 00000040 00000004 00000001 00000001 00000001"));

        RpcRdmaMessage error = client.readInbound();
        assertEquals(new VersionError(4, 2, 64, 1, 1), error.header());
        assertEquals(Role.RESPONSE, error.role());
        error.release();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 40, 1024, 1025, 4000})
    void shouldSendHeaderAndBodyInOneMessage(int bodyBytes) {
        ByteBuf body = Unpooled.wrappedBuffer(Bytes.pattern(bodyBytes, 1));
        String expected = digits("0000002a 00000001 00000080 00000000 00000000 00000000 00000000") + hex(body);

        client.writeOutbound(RpcRdmaMessage.call(new Msg(42, 128, ChunkLists.EMPTY), body));

        ByteBuf sent = client.readOutbound();
        assertEquals(expected, hex(sent));
        assertTrue(sent.release());
        assertTrue(bodyBytes == 0 || body.refCnt() == 0);
    }

    @Test
    void shouldSendBodyInSeveralPieces() {
        ByteBuf body = Unpooled.wrappedBuffer(Unpooled.wrappedBuffer(Bytes.pattern(2000, 1)),
                Unpooled.wrappedBuffer(Bytes.pattern(1001, 2)));
        String expected = digits("0000002a 00000001 00000080 00000000 00000000 00000000 00000000") + hex(body);

        client.writeOutbound(RpcRdmaMessage.call(new Msg(42, 128, ChunkLists.EMPTY), body));

        ByteBuf sent = client.readOutbound();
        assertEquals(expected, hex(sent));
        assertTrue(sent.release());
        assertEquals(0, body.refCnt());
    }

    @Test
    void shouldSendWithInvalidateWhereAskedFor() {
        WriteChunk chunk = new WriteChunk(List.of(new RemoteSegment(0x3300, 24, 0x40)));
        RpcRdmaMessage reply = RpcRdmaMessage.reply(new NoMsg(3, 64, new ChunkLists(List.of(), List.of(), chunk)),
                Unpooled.EMPTY_BUFFER);

        server.writeOutbound(reply.invalidating(0xFFFFFFFF));

        RdmaSend sent = server.readOutbound();
        assertTrue(sent.isInvalidating());
        assertEquals(0xFFFFFFFF, sent.steeringTag());
        assertEquals(digits("""
                00000003 00000001 00000040 00000001 00000000 00000000
                00000001 00000001 00003300 00000018 00000000 00000040"""), hex(sent.content()));
        sent.release();
    }

    @ParameterizedTest
    @ValueSource(strings = {NULL_REPLY, "00000001 00000001 00000040 00000000", "00000001 00000001 00000040 00000004 00000002"})
    void shouldTellWithEachMessageWhatItHasInvalidated(String message) {
        client.pipeline().fireUserEventTriggered(new RemoteInvalidation(0xFFFFFFFF));
        client.writeInbound(hex(message));
        client.writeInbound(hex(message));

        RpcRdmaMessage invalidating = client.readInbound();
        assertTrue(invalidating.isInvalidating());
        assertEquals(0xFFFFFFFF, invalidating.invalidatedTag());
        RpcRdmaMessage other = client.readInbound();
        assertFalse(other.isInvalidating());
        assertEquals(invalidating.xid(), other.xid());
        invalidating.release();
        other.release();
    }

    @Test
    void shouldFailAndReleaseWhatCannotBeEncoded() {
        ByteBuf body = Unpooled.buffer().writeInt(1);
        ChannelFuture write = client.writeOneOutbound(
                RpcRdmaMessage.call(new NoMsg(1, 1, ChunkLists.EMPTY), body));
        assertInstanceOf(IllegalArgumentException.class, write.cause());
        assertEquals(0, body.refCnt());
        assertNull(client.readOutbound());
    }

    @Test
    void shouldKeepEverythingWhenStampedWithCredits() {
        RpcRdmaMessage call = RpcRdmaMessage.call(new Msg(42, 0, ChunkLists.EMPTY), hex("0000002a")).invalidating(7);

        RpcRdmaMessage stamped = call.withCredits(99);

        assertEquals(99, stamped.credits());
        assertEquals(Role.REQUEST, stamped.role());
        assertEquals(7, stamped.invalidatedTag());
        assertSame(call.content(), stamped.content());
        assertSame(stamped, stamped.withCredits(99));
        assertTrue(stamped.release());
    }

    private static void assertMalformed(RpcRdmaMessage message) {
        assertInstanceOf(Malformed.class, message.header());
        message.release();
    }

    /** A piece that finds no memory is released by Netty. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void shouldReleaseOnceWhatCannotBePutBehindItsHeader(int pieces) {
        server.config().setAllocator(ExhaustedAllocator.ofPieces(pieces));
        ByteBuf body = Unpooled.buffer().writeZero(2000);
        ChannelFuture written = server.writeOneOutbound(RpcRdmaMessage.reply(new Msg(1, 32, ChunkLists.EMPTY), body.retain()));
        assertInstanceOf(OutOfMemoryError.class, written.cause());
        assertEquals(1, body.refCnt());
        body.release();
    }
}
