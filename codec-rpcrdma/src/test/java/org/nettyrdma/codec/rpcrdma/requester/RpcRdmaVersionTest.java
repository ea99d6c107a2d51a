package org.nettyrdma.codec.rpcrdma.requester;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.codec.oncrpc.ReplySpace;
import org.nettyrdma.codec.rpcrdma.Bytes;
import org.nettyrdma.codec.rpcrdma.CallRoute;
import org.nettyrdma.codec.rpcrdma.PeerPolicy;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException;
import org.nettyrdma.codec.rpcrdma.RpcRdmaLimits;
import org.nettyrdma.codec.rpcrdma.connection.Refusal;
import org.nettyrdma.codec.rpcrdma.format.FormatTable;
import org.nettyrdma.codec.rpcrdma.format.RpcRdmaCodec;
import org.nettyrdma.codec.rpcrdma.format.SpokenVersions;
import org.nettyrdma.codec.rpcrdma.header.ChunkLists;
import org.nettyrdma.codec.rpcrdma.header.HeaderExtensions;
import org.nettyrdma.codec.rpcrdma.header.ReadChunk;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaError;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Msg;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.NoMsg;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaMessage;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaVersion;
import org.nettyrdma.codec.rpcrdma.header.WriteChunk;
import org.nettyrdma.codec.rpcrdma.responder.ReplyPlacement;
import org.nettyrdma.codec.rpcrdma.shared.ChunkCounters;
import org.nettyrdma.codec.rpcrdma.shared.InlineThreshold;
import org.nettyrdma.handler.credit.CreditedMessage.Role;

/** What planning asks a version, held against what its format writes. */
class RpcRdmaVersionTest {

    private static final RemoteSegment SEGMENT = new RemoteSegment(0xa01, 16, 0x1000);
    private static final WriteChunk WRITE_CHUNK = new WriteChunk(List.of(SEGMENT, SEGMENT));

    private static RpcRdmaCodec codec(SpokenVersions spoken) {
        return RpcRdmaCodec.client(new FormatTable(spoken, RpcRdmaLimits.DEFAULT, HeaderExtensions.NONE), new ChunkCounters(),
                false);
    }

    @ParameterizedTest
    @EnumSource
    void shouldKnowTheLengthOfItsHeaders(RpcRdmaVersion version) {
        ChunkLists chunks = new ChunkLists(List.of(new ReadChunk(0x28, List.of(SEGMENT, SEGMENT)),
                new ReadChunk(0x30, List.of(SEGMENT))), List.of(WRITE_CHUNK, WRITE_CHUNK), WRITE_CHUNK);
        assertEquals(written(version.msg(1, ChunkLists.EMPTY)), version.chunkFreeLength());
        assertEquals(written(version.msg(1, ChunkLists.EMPTY)), version.headerLength(ChunkLists.EMPTY));
        assertEquals(written(version.msg(1, chunks)), version.headerLength(chunks));
        assertEquals(written(version.message(Role.REQUEST, 1, 0, chunks, Unpooled.EMPTY_BUFFER, true).header()),
                version.headerLength(chunks));
    }

    private static int written(RpcRdmaHeader header) {
        EmbeddedChannel client = new EmbeddedChannel(codec(SpokenVersions.BOTH));
        client.writeOutbound(RpcRdmaMessage.call(header, Unpooled.EMPTY_BUFFER));
        ByteBuf sent = client.readOutbound();
        int length = sent.readableBytes();
        sent.release();
        return length;
    }

    @Test
    void shouldCountTheLongerHeaderOfVersionTwoIntoTheThreshold() throws RpcRdmaException {
        InlineThreshold threshold = new InlineThreshold(1024, 1024, RpcRdmaVersion.TWO);
        assertTrue(threshold.fitsSend(ChunkLists.EMPTY, 988));
        assertFalse(threshold.fitsSend(ChunkLists.EMPTY, 989));

        assertSame(CallRoute.INLINE, route(988, threshold));
        assertSame(CallRoute.LONG, route(989, threshold));
        assertSame(CallRoute.INLINE, route(996, new InlineThreshold(1024, 1024)));
    }

    private static CallRoute route(int callBytes, InlineThreshold threshold) throws RpcRdmaException {
        return RequestPlan.of(callBytes, List.of(), new ReplySpace(24, List.of()), threshold, PeerPolicy.CONSERVATIVE,
                RpcRdmaLimits.DEFAULT).route();
    }

    @Test
    void shouldOfferReplyChunkWhereTheReplyFitsOnlyBehindTheHeaderOfVersionOne() throws RpcRdmaException {
        ReplySpace space = new ReplySpace(990, List.of());
        assertEquals(0, RequestPlan.of(40, List.of(), space, new InlineThreshold(1024, 1024), PeerPolicy.CONSERVATIVE,
                RpcRdmaLimits.DEFAULT).replyChunkBytes());
        assertEquals(992, RequestPlan.of(40, List.of(), space, new InlineThreshold(1024, 1024, RpcRdmaVersion.TWO),
                PeerPolicy.CONSERVATIVE, RpcRdmaLimits.DEFAULT).replyChunkBytes());
    }

    @Test
    void shouldPlaceRepliesWithHeadersOfTheConnectionsVersion() throws RpcRdmaException {
        ByteBuf reply = Unpooled.buffer().writeZero(989);
        ChunkLists offered = new ChunkLists(List.of(), List.of(), new WriteChunk(List.of(new RemoteSegment(1, 2000, 0))));

        RpcRdmaHeader one = ReplyPlacement.of(reply, List.of(), offered, new InlineThreshold(1044, 1044)).message(5, 0, reply)
                .header();
        assertEquals(1, assertInstanceOf(Msg.class, one).version());

        RpcRdmaHeader two = ReplyPlacement.of(reply, List.of(), offered,
                new InlineThreshold(1044, 1044, RpcRdmaVersion.TWO)).message(5, 0, reply).header();
        assertEquals(2, assertInstanceOf(NoMsg.class, two).version());
        reply.release();
    }

    @Test
    void shouldNotSendVersionTwoWhereOnlyVersionOneIsSpoken() {
        EmbeddedChannel client = new EmbeddedChannel(codec(SpokenVersions.ONE));
        ByteBuf body = Unpooled.buffer().writeLong(1);

        ChannelFuture write = client.writeOneOutbound(RpcRdmaMessage.call(RpcRdmaVersion.TWO.msg(1, ChunkLists.EMPTY), body));

        assertInstanceOf(IllegalArgumentException.class, write.cause());
        assertEquals(0, body.refCnt());
    }

    @Test
    void shouldRefuseVersionOneWhereOnlyVersionTwoIsSpoken() {
        FormatTable formats = new FormatTable(SpokenVersions.TWO, RpcRdmaLimits.DEFAULT, HeaderExtensions.NONE);
        EmbeddedChannel server = new EmbeddedChannel(RpcRdmaCodec.server(formats, new ChunkCounters(), false));

        server.writeInbound(Bytes.hex("0000002a 00000001 00000020 00000000 00000000 00000000 00000000 0000002a 00000000"));

        RpcRdmaMessage call = server.readInbound();
        RpcRdmaHeader.Malformed header = assertInstanceOf(RpcRdmaHeader.Malformed.class, call.header());
        server.writeOutbound(RpcRdmaMessage.error(Refusal.of(42, 1, header.cause())));
        ByteBuf answer = server.readOutbound();
        assertEquals(Bytes.digits("0000002a 00000001 00000000 00000004 00000001 00000002 00000002"), Bytes.hex(answer));
        answer.release();
    }

    @Test
    void shouldAnswerWithSystemErrorWhatNoOtherErrorFits() {
        assertEquals(new RpcRdmaHeader.TransportError(7, 0, RpcRdmaError.SYSTEM),
                Refusal.of(7, 2, new IllegalArgumentException("not the peer's fault")));
        assertEquals(new RpcRdmaHeader.ChunkError(7, 1, 0), Refusal.of(7, 1, new IllegalArgumentException("the same")));
    }
}
