package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nettyrdma.codec.rpcrdma.RawServer.SUCCESS;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.util.concurrent.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaChannelOption;
import org.nettyrdma.codec.oncrpc.ReplySpace;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcConnectionException;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException.Reason;
import org.nettyrdma.codec.rpcrdma.format.HeaderDigits;
import org.nettyrdma.codec.rpcrdma.header.ReverseRequestSupport;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaError;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaVersion;
import org.nettyrdma.codec.rpcrdma.header.TransportProperty;
import org.nettyrdma.codec.rpcrdma.legacy.LegacyProfile;
import org.nettyrdma.codec.rpcrdma.shared.InlineThreshold;
import org.nettyrdma.handler.credit.CreditGate;

/** A client that may speak version 2, and a server written by hand from version-two-08, sections 4, 5.3.4 and 7. */
@Timeout(120)
class VersionNegotiationClientWireTest {

    /** Type RDMA2_MSG or RDMA_MSG, and of version 2 the flags and rdma_inv_handle. */
    private static final String MSG_2_CALL = " 00000000 00000000 00000000 ";
    private static final String MSG_2_REPLY = " 00000000 00000001 00000000 ";
    private static final String LISTS = " 00000000 00000000 00000000 ";
    static final String ERR_VERS_1 = " 00000002 00000020 00000004 00000001 00000001 00000001";

    private RawServer server;

    @AfterEach
    void close() {
        server.close();
    }

    private void start(RpcRdmaBuilder builder) throws Exception {
        server = new RawServer(builder.binding(BulkProgram.BINDING));
    }

    private Future<ByteBuf> startNull() {
        return server.start(BulkProgram.NULL, Unpooled.EMPTY_BUFFER);
    }

    private Future<ByteBuf> startEcho(int length) {
        return server.start(BulkProgram.ECHO, RpcRdmaPair.opaque(Bytes.pattern(length, 1)));
    }

    /** Requires a call of NULL that asks for 128 credits, and returns its XID. */
    static String requireCall(RawPeer peer, String version) throws Exception {
        String sent = peer.receiveHex();
        String xid = sent.substring(0, 8);
        String header = version.equals("00000001") ? "00000000" : MSG_2_CALL;
        assertEquals(Bytes.digits(xid + version + "00000080" + header + LISTS + xid
                + "00000000 00000002 20000099 00000001 00000000" + "00000000".repeat(4)), sent);
        return xid;
    }

    static void reply(RawPeer peer, String version, String xid) throws Exception {
        peer.sendHex(xid + version + "00000020" + (version.equals("00000001") ? "00000000" : MSG_2_REPLY) + LISTS + xid
                + SUCCESS);
    }

    /** The properties that a client tells: a receive buffer size and the support of calls from the server. */
    private static String properties(String bufferBytes, String support) {
        return Bytes.digits("00000000 00000002 00000080 00000005 00000000 00000002 00000001 00000004" + bufferBytes
                + "00000002 00000004" + support);
    }

    private void negotiate() throws Exception {
        Future<ByteBuf> first = startNull();
        reply(server.peer, "00000002", requireCall(server.peer, "00000002"));
        RpcRdmaPair.result(first).release();
        assertEquals("00000000", server.peer.receiveHex().substring(0, 8));
    }

    @Test
    void shouldSendOneShortMessageUntilTheServerHasAnswered() throws Exception {
        start(ShortSends.client().versions(VersionPolicy.PREFER_V2));
        Future<ByteBuf> first = startEcho(1500); // would fit into the 4096 bytes that the private data say
        Future<ByteBuf> second = startNull();
        String sent = server.peer.receiveHex();
        assertTrue(sent.length() <= 2 * 1024);
        assertEquals("00000002" + "00000080" + "00000001" + "00000000", sent.substring(8, 40), "RDMA2_NOMSG of version 2");
        assertFalse(RpcRdma.connection(server.channel).terms().agreed());

        String xid = sent.substring(0, 8);
        server.peer.sendHex(xid + "00000002 00000020" + MSG_2_REPLY + LISTS + xid + SUCCESS + "00000000");
        RpcRdmaPair.result(first).release();
        assertEquals(properties("00001000", "00000000"), server.peer.receiveHex(), "ahead of the second call");
        reply(server.peer, "00000002", requireCall(server.peer, "00000002"));
        RpcRdmaPair.result(second).release();
        assertEquals(new InlineThreshold(4096, 4096, RpcRdmaVersion.TWO),
                InlineThreshold.of(RpcRdma.connection(server.channel).terms()));
        assertTrue(RpcRdma.connection(server.channel).terms().agreed());
    }

    /** Up to its last byte (section 7); the header has 36 bytes, and that of the call 40. */
    @ParameterizedTest
    @CsvSource({"948, 00000000", "952, 00000001"})
    void shouldSendNoMoreThan1024BytesAtFirst(int bytes, String type) throws Exception {
        start(ShortSends.client().versions(VersionPolicy.PREFER_V2));
        server.start(new RpcRequest(BulkProgram.PROGRAM, 1, BulkProgram.NULL, Unpooled.buffer().writeZero(bytes))
                .setDataItems(List.of()).setReplySpace(new ReplySpace(24)));
        assertEquals(type, server.peer.receiveHex().substring(24, 32));
    }

    /** The memory of the first attempt has gone to another connection meanwhile. */
    @Test
    void shouldNotSendInVersionOneWhatIsGivenUpWhileItWaitsForMemory() throws Exception {
        start(ShortSends.client().versions(VersionPolicy.PREFER_V2)
                .resources(ResourceLimits.DEFAULT.withMaxTotalBytes(8000).withMaxConnectionBytes(8000)));
        Future<ByteBuf> given = startLoad(server.channel);
        String xid = server.peer.receiveHex().substring(0, 8);
        RdmaChannel another = server.connect();
        Future<ByteBuf> other = startLoad(another);
        try (RawPeer otherPeer = server.accepted()) {
            another.eventLoop().submit(() -> { }).sync(); // its call waits
            server.peer.sendHex(xid + ERR_VERS_1);
            ByteBuf sent = otherPeer.receive();
            VersionTwoServer.Call call = VersionTwoServer.Call.parse(sent, HeaderDigits.TWO);
            sent.release();
            while (RpcRdma.connection(server.channel).terms().version() != RpcRdmaVersion.ONE) {
                Thread.onSpinWait();
            }
            assertTrue(given.cancel(false));
            server.channel.eventLoop().submit(() -> { }).sync();
            otherPeer.sendHex(call.xid() + call.emptyReply());
            RpcRdmaPair.result(other).release();
        }
        another.close().sync();
        Future<ByteBuf> next = startNull();
        reply(server.peer, "00000001", requireCall(server.peer, "00000001"));
        RpcRdmaPair.result(next).release();
        assertEquals(0, server.client.memory().usedBytes());
    }

    private static Future<ByteBuf> startLoad(RdmaChannel channel) {
        return channel.pipeline().get(RpcClient.class).call(new RpcRequest(BulkProgram.PROGRAM, 1, BulkProgram.LOAD,
                Unpooled.buffer().writeInt(5000).writeInt(0)));
    }

    @Test
    void shouldGoOnInVersionOneWithTheSameCallsWhereVersionTwoIsRefused() throws Exception {
        start(ShortSends.client().versions(VersionPolicy.PREFER_V2));
        Future<ByteBuf> first = startNull();
        Future<ByteBuf> second = startNull();
        String xid = requireCall(server.peer, "00000002");
        server.peer.sendHex(xid + ERR_VERS_1);

        assertEquals(xid, requireCall(server.peer, "00000001"));
        assertFalse(first.isDone());
        reply(server.peer, "00000001", xid);
        RpcRdmaPair.result(first).release();
        reply(server.peer, "00000001", requireCall(server.peer, "00000001"));
        RpcRdmaPair.result(second).release();

        assertEquals(1, server.client.statistics().get(Counter.VERSION_FALLBACKS));
        assertSame(RpcRdmaVersion.ONE, RpcRdma.connection(server.channel).terms().version());
        assertEquals(4096, RpcRdma.connection(server.channel).terms().sendBytes(), "what the private data say");
    }

    @Test
    void shouldSendRefusedCallWithChunksAgain() throws Exception {
        start(ShortSends.client().versions(VersionPolicy.PREFER_V2));
        Future<ByteBuf> call = startEcho(10_000);
        String refused = server.peer.receiveHex();
        server.peer.sendHex(refused.substring(0, 8) + ERR_VERS_1);

        String again = server.peer.receiveHex();
        String xid = refused.substring(0, 8);
        assertEquals(xid + "00000001" + "00000080" + "00000001", again.substring(0, 32));
        server.peer.sendHex(xid + "00000001 00000020 00000000" + LISTS + xid + SUCCESS + "00000000");
        RpcRdmaPair.result(call).release();
    }

    /** The answer to a call that nobody waits for any more settles the version for the others, and the call is not made again. */
    @ParameterizedTest
    @ValueSource(ints = {8, 10_000}) // without chunks, and with memory that is withdrawn when the call is given up
    void shouldGoOnInVersionOneWithoutTheFirstCallWhereThatWasCancelled(int length) throws Exception {
        start(ShortSends.client().versions(VersionPolicy.PREFER_V2));
        Future<ByteBuf> first = startEcho(length);
        Future<ByteBuf> second = startNull();
        String refused = server.peer.receiveHex();
        assertTrue(first.cancel(false));
        server.channel.eventLoop().submit(() -> { }).sync(); // the client knows
        server.peer.sendHex(refused.substring(0, 8) + ERR_VERS_1);

        reply(server.peer, "00000001", requireCall(server.peer, "00000001"));
        RpcRdmaPair.result(second).release();
    }

    @Test
    void shouldFindTheVersionOutByTheNextCallWhereTheFirstWasCancelledAndAnsweredBadly() throws Exception {
        start(ShortSends.client().versions(VersionPolicy.PREFER_V2));
        Future<ByteBuf> first = startEcho(10_000);
        Future<ByteBuf> second = startNull();
        String sent = server.peer.receiveHex();
        assertTrue(first.cancel(false));
        server.channel.eventLoop().submit(() -> { }).sync();
        server.peer.sendHex(sent.substring(0, 8) + "00000002 00000020" + MSG_2_REPLY + "00000002");

        reply(server.peer, "00000002", requireCall(server.peer, "00000002"));
        RpcRdmaPair.result(second).release();
    }

    @Test
    void shouldSendWhatWaitsBehindACallWhosePromiseItsOwnerHasFailed() throws Exception {
        start(ShortSends.client().versions(VersionPolicy.PREFER_V2));
        Future<ByteBuf> first = startNull();
        ChannelPromise promise = server.channel.newPromise();
        ByteBuf call = Bytes.hex("77777777 00000000 00000002 20000099 00000001 00000000" + "00000000".repeat(4));
        server.channel.writeAndFlush(call, promise);
        Future<ByteBuf> third = startNull();
        server.channel.eventLoop().submit(() -> promise.setFailure(new IllegalStateException("its owner waits no more"))).sync();

        reply(server.peer, "00000002", requireCall(server.peer, "00000002"));
        RpcRdmaPair.result(first).release();
        assertEquals(properties("00001000", "00000000"), server.peer.receiveHex());
        reply(server.peer, "00000002", requireCall(server.peer, "00000002"));
        RpcRdmaPair.result(third).release();
        assertEquals(0, call.refCnt());
        assertTrue(server.channel.isWritable());
    }

    /** One after the other, until one has found it out; that is not the fate of those that wait behind it. */
    @Test
    void shouldFindTheVersionOutByTheNextCallHoweverManyWait() throws Exception {
        start(ShortSends.client().versions(VersionPolicy.PREFER_V2).maxMessageBytes(20_000));
        Future<ByteBuf> first = startNull();
        Future<ByteBuf> second = startNull();
        Future<ByteBuf> tooLarge = startEcho(20_000);
        Future<ByteBuf> third = startNull();
        Future<ByteBuf> fourth = startNull();
        for (Future<ByteBuf> call : List.of(first, second)) {
            server.peer.sendHex(requireCall(server.peer, "00000002") + "00000002 00000020" + MSG_2_REPLY + "00000002");
            assertSame(Reason.MALFORMED, failureOf(call).reason());
        }
        RpcRdmaException cause = failureOf(tooLarge);
        assertSame(Reason.TOO_LARGE, cause.reason());
        assertEquals("call of 20044 bytes (expected: 8..20000, RpcRdmaLimits.maxMessageBytes)", cause.getMessage());

        reply(server.peer, "00000002", requireCall(server.peer, "00000002"));
        RpcRdmaPair.result(third).release();
        assertEquals(properties("00001000", "00000000"), server.peer.receiveHex());
        reply(server.peer, "00000002", requireCall(server.peer, "00000002"));
        RpcRdmaPair.result(fourth).release();
        assertTrue(server.channel.isWritable());
    }

    /** A client keeps to one message at a time until a valid one has come that is no error (version-two-08, section 7). */
    @Test
    void shouldTakeNoGrantOfABadReplyAheadOfTheFirstGoodOne() throws Exception {
        start(ShortSends.client().versions(VersionPolicy.PREFER_V2));
        Future<ByteBuf> first = startNull();
        Future<ByteBuf> second = startNull();
        Future<ByteBuf> third = startNull();
        Future<ByteBuf> fourth = startNull();
        server.peer.sendHex(requireCall(server.peer, "00000002") + "00000002 00000020" + MSG_2_REPLY + "00000002");
        reply(server.peer, "00000001", requireCall(server.peer, "00000002"));
        for (Future<ByteBuf> call : List.of(first, second)) {
            failureOf(call);
        }
        String xid = requireCall(server.peer, "00000002");
        assertEquals(1, server.channel.pipeline().get(CreditGate.class).statistics().requests().granted());
        server.peer.sendHex(xid + "00000002 00000001" + MSG_2_REPLY + LISTS + xid + SUCCESS); // grants one
        RpcRdmaPair.result(third).release();
        assertEquals(properties("00001000", "00000000"), server.peer.receiveHex());
        reply(server.peer, "00000002", requireCall(server.peer, "00000002"));
        RpcRdmaPair.result(fourth).release();
    }

    /** The flags say that it is a reply, however short it is. */
    @Test
    void shouldFailTheCallOfAShortBadReplyWhereCallsGoBothWays() throws Exception {
        start(ShortSends.client().versions(VersionPolicy.V2_ONLY).reverse(4).program(new BulkProgram(true)));
        Future<ByteBuf> call = startNull();
        server.peer.sendHex(server.peer.receiveHex().substring(0, 8) + "00000002 00000020 00000001 00000001");
        assertSame(Reason.MALFORMED, failureOf(call).reason());
    }

    @Test
    void shouldFailCallsWhereVersionTwoIsDemandedAndRefused() throws Exception {
        start(ShortSends.client().versions(VersionPolicy.V2_ONLY));
        Future<ByteBuf> first = startNull();
        Future<ByteBuf> second = startNull();
        server.peer.sendHex(requireCall(server.peer, "00000002") + ERR_VERS_1);

        for (Future<ByteBuf> call : List.of(first, second, startNull())) {
            RpcRdmaException failure = failureOf(call);
            assertSame(Reason.REFUSED, failure.reason());
            assertEquals(new RpcRdmaError.Versions(1, 1), failure.error());
            assertEquals("refused with ERR_VERS, the responder speaks versions 1 to 1", failure.getMessage());
        }
        assertEquals(0, server.client.statistics().get(Counter.VERSION_FALLBACKS));
    }

    @Test
    void shouldFailCallsWhereTheServerSpeaksNeitherVersion() throws Exception {
        start(ShortSends.client().versions(VersionPolicy.PREFER_V2));
        Future<ByteBuf> call = startNull();
        server.peer.sendHex(requireCall(server.peer, "00000002") + "00000002 00000020 00000004 00000001 00000003 00000004");
        assertEquals(new RpcRdmaError.Versions(3, 4), failureOf(call).error());
    }

    static RpcRdmaException failureOf(Future<ByteBuf> call) throws Exception {
        Throwable failure = RpcRdmaPair.failure(call);
        return (RpcRdmaException) (failure instanceof RpcRdmaException ? failure : failure.getCause());
    }

    @Test
    void shouldFailCallThatIsAnsweredInAnotherVersion() throws Exception {
        start(ShortSends.client().versions(VersionPolicy.PREFER_V2));
        negotiate();
        Future<ByteBuf> call = startNull();
        reply(server.peer, "00000001", requireCall(server.peer, "00000002"));
        assertSame(Reason.VERSION, failureOf(call).reason());

        call = startNull();
        reply(server.peer, "00000002", requireCall(server.peer, "00000002"));
        RpcRdmaPair.result(call).release();
    }

    @Test
    void shouldUseTheReceiveBufferSizeOfTheServer() throws Exception {
        start(ShortSends.client().versions(VersionPolicy.V2_ONLY).inlineThresholdBytes(8192));
        Future<ByteBuf> first = startNull();
        reply(server.peer, "00000002", requireCall(server.peer, "00000002"));
        RpcRdmaPair.result(first).release();
        assertEquals(properties("00002000", "00000000"), server.peer.receiveHex());

        requireType("00000001", 6000); // 4096 bytes hold as long as nothing was told
        server.peer.sendHex("00000007 00000002 00000001 00000005 00000000 00000001 00000001 00000004 00001800");
        requireType("00000000", 6000);
        requireType("00000001", 6200);
        server.peer.sendHex("00000008 00000002 00000001 00000005 00000000 00000001 00000001 00000004 00000400");
        requireType("00000001", 1000); // a later one counts too
        server.peer.sendHex("00000009 00000002 00000001 00000005 00000000 00000001 00000001 00000004 ffffffff");
        requireType("00000000", 8000); // but no more than this side's own limit
        requireType("00000001", 8200);
    }

    @ParameterizedTest
    @ValueSource(strings = {"00000000", "00000001", "00000014", "00000037"})
    void shouldEndConnectionToServerWhoseReceivesNothingFitsInto(String bytes) throws Exception {
        start(ShortSends.client().versions(VersionPolicy.V2_ONLY));
        negotiate();
        Future<ByteBuf> call = startNull();
        server.peer.receive().release();
        server.peer.sendHex("00000007 00000002 00000001 00000005 00000000 00000001 00000001 00000004" + bytes);
        assertEquals(Bytes.digits("00000007 00000002 00000001 00000004 00000001 00000002"), server.peer.receiveHex());
        assertInstanceOf(RpcConnectionException.class, RpcRdmaPair.failure(call));
        server.peer.awaitClose();
    }

    @Test
    void shouldEndConnectionWithoutAnErrorWhereTheSizeThatNothingFitsIntoIsAResponse() throws Exception {
        start(ShortSends.client().versions(VersionPolicy.V2_ONLY));
        negotiate();
        server.peer.sendHex("00000007 00000002 00000001 00000005 00000001 00000001 00000001 00000004 00000000");
        server.peer.awaitClose();
        assertEquals(0, server.client.statistics().get(Counter.CHUNK_ERRORS));
    }

    /** The type of the next call; what comes before it from the server has been dealt with. */
    private void requireType(String type, int length) throws Exception {
        server.channel.eventLoop().submit(() -> { }).sync();
        Future<ByteBuf> barrier = startNull();
        reply(server.peer, "00000002", server.peer.receiveHex().substring(0, 8));
        RpcRdmaPair.result(barrier).release();

        Future<ByteBuf> call = startEcho(length);
        String sent = server.peer.receiveHex();
        assertEquals(type, sent.substring(24, 32), length + " bytes");
        String xid = sent.substring(0, 8);
        server.peer.sendHex(xid + "00000002 00000020" + MSG_2_REPLY + LISTS + xid + SUCCESS + "00000000");
        RpcRdmaPair.result(call).release();
    }

    @Test
    void shouldTellTheApplicationWhatThePeerTells() throws Exception {
        BlockingQueue<ConnectionTerms> told = new LinkedBlockingQueue<>();
        start(RpcRdma.client().versions(VersionPolicy.V2_ONLY).inlineThresholdBytes(65536).handlers(pipeline -> pipeline.addLast(
                new ChannelInboundHandlerAdapter() {
                    @Override
                    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
                        if (event instanceof ConnectionTerms terms) {
                            told.add(terms);
                        }
                        ctx.fireUserEventTriggered(event);
                    }
                }, new RpcClient())));
        assertEquals(new InlineThreshold(1024, 4096, RpcRdmaVersion.TWO), InlineThreshold.of(next(told)));
        Future<ByteBuf> call = startNull();
        String xid = requireCall(server.peer, "00000002");
        // Before the reply: 16384 bytes and GENL, and a property that nobody knows.
        server.peer.sendHex("00000007 00000002 00000001 00000005 00000000 00000003 00000001 00000004 00004000"
                + "ffffff00 00000000 00000002 00000004 00000002");
        ConnectionTerms terms = next(told);
        assertTrue(terms.agreed());
        assertEquals(new InlineThreshold(16384, 4096, RpcRdmaVersion.TWO), InlineThreshold.of(terms));
        assertSame(ReverseRequestSupport.GENERAL, terms.peerProperties().get(TransportProperty.REVERSE_REQUEST_SUPPORT));
        assertEquals(terms, RpcRdma.connection(server.channel).terms());

        reply(server.peer, "00000002", xid);
        RpcRdmaPair.result(call).release();
        assertEquals(new InlineThreshold(16384, 65536, RpcRdmaVersion.TWO), InlineThreshold.of(next(told)),
                "behind our own properties");
        assertTrue(told.isEmpty());
    }

    private static ConnectionTerms next(BlockingQueue<ConnectionTerms> told) throws InterruptedException {
        return told.poll(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS);
    }

    /** Reverse Request Support 3, a set that is cut, and a header type that nobody knows, outside of the credits. */
    @ParameterizedTest
    @CsvSource({
        "00000005 00000000 00000001 00000002 00000004 00000003, 00000002, false",
        "00000005 00000000 00000001 00000002, 00000002, true",
        "00000006 00000000 12345678, 00000003, false",
        "ffffffff 00000000, 00000003, true",
    })
    void shouldAnswerRequestsOfTheServerThatItCannotTake(String message, String error, boolean reverse) throws Exception {
        RpcRdmaBuilder builder = ShortSends.client().versions(VersionPolicy.V2_ONLY);
        start(reverse ? builder.reverse(4).program(new BulkProgram(true)) : builder);
        negotiate();
        for (int i = 1; i <= 10; i++) {
            server.peer.sendHex("00000007 00000002 00000001" + message);
            assertEquals(Bytes.digits("00000007 00000002 00000001 00000004 00000001" + error), server.peer.receiveHex());
            assertEquals(i, server.client.statistics().get(Counter.MALFORMED_MESSAGES));
        }
        requireNextCall();
    }

    /** By its flag the client is a requester, which must not send an error (version-two-08, section 5.3.3). */
    @ParameterizedTest
    @ValueSource(strings = {"00000005 00000001 00000001 00000002 00000004 00000003", "00000006 00000001"})
    void shouldDropResponsesThatItCannotTake(String message) throws Exception {
        start(ShortSends.client().versions(VersionPolicy.V2_ONLY).reverse(4).program(new BulkProgram(true)));
        negotiate();
        server.peer.sendHex("00000007 00000002 00000001" + message);
        requireNextCall();
        assertEquals(1, server.client.statistics().get(Counter.MALFORMED_MESSAGES));
    }

    private void requireNextCall() throws Exception {
        Future<ByteBuf> call = startNull();
        reply(server.peer, "00000002", requireCall(server.peer, "00000002"));
        RpcRdmaPair.result(call).release();
    }

    @Test
    void shouldNotFetchRepliesOfTheLegacyProfileInVersionTwo() throws Exception {
        start(ShortSends.client().versions(VersionPolicy.V2_ONLY).legacy(LegacyProfile.DEFAULT));
        negotiate();
        Future<ByteBuf> call = startNull();
        String xid = requireCall(server.peer, "00000002");
        server.peer.sendHex(xid + "00000002 00000020" + MSG_2_REPLY
                + "00000001 00000018 00000a01 00001000 0000000000000000 00000000 00000000 00000000" + xid + SUCCESS);
        assertSame(Reason.MALFORMED, failureOf(call).reason());
    }

    /** A server may fill its 4096 bytes before it has been told another size. */
    @Test
    void shouldNotConnectWithReceivesBelowTheDefaultSize() throws Exception {
        start(ShortSends.client().versions(VersionPolicy.PREFER_V2).inlineThresholdBytes(1024));
        assertEquals(4096, server.channel.config().getOption(RdmaChannelOption.RECEIVE_BUFFER_SIZE));
        assertFalse(new Bootstrap().group(RawPeer.GROUP).channel(RdmaChannel.class).handler(server.client)
                .option(RdmaChannelOption.RECEIVE_BUFFER_SIZE, 2048).connect(server.channel.remoteAddress()).await().isSuccess());
    }

    @Test
    void shouldKeepToOneCallBehindAnError() throws Exception {
        start(ShortSends.client().versions(VersionPolicy.PREFER_V2));
        List<Future<ByteBuf>> calls = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            calls.add(startNull());
        }
        // RDMA2_ERR_SYSTEM with 32 credits, which do not count: the second call goes out, the third waits for its reply.
        server.peer.sendHex(requireCall(server.peer, "00000002") + "00000002 00000020 00000004 00000001 00000009");
        assertEquals(RpcRdmaError.SYSTEM, failureOf(calls.get(0)).error());
        reply(server.peer, "00000002", requireCall(server.peer, "00000002"));
        assertEquals(properties("00001000", "00000000"), server.peer.receiveHex());
        reply(server.peer, "00000002", requireCall(server.peer, "00000002"));
        RpcRdmaPair.result(calls.get(1)).release();
        RpcRdmaPair.result(calls.get(2)).release();
    }

    @Test
    void shouldTellThatItTakesCallsOfTheServerWithChunks() throws Exception {
        start(ShortSends.client().versions(VersionPolicy.V2_ONLY).reverse(2)
                .handlers(pipeline -> pipeline.addLast(new RpcClient())));
        Future<ByteBuf> first = startNull();
        reply(server.peer, "00000002", requireCall(server.peer, "00000002"));
        RpcRdmaPair.result(first).release();
        assertEquals(properties("00001000", "00000002"), server.peer.receiveHex());
    }
}
