package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.codec.rpcrdma.format.FormatTable;
import org.nettyrdma.codec.rpcrdma.format.RpcRdmaCodec;
import org.nettyrdma.codec.rpcrdma.format.SpokenVersions;
import org.nettyrdma.codec.rpcrdma.header.ChunkLists;
import org.nettyrdma.codec.rpcrdma.header.HeaderExtensions;
import org.nettyrdma.codec.rpcrdma.header.HeaderType;
import org.nettyrdma.codec.rpcrdma.header.PropertySet;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaMessage;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaVersion;
import org.nettyrdma.codec.rpcrdma.shared.ChunkCounters;
import org.nettyrdma.handler.credit.CreditExceededException;
import org.nettyrdma.handler.credit.CreditGate;
import org.nettyrdma.handler.credit.CreditQueueFullException;

/**
 * The credits as they stand on the wire, in each version: version 2 has the rules of version 1 (RFC 8166, section 3.3), with the
 * direction taken from the flag. What the gate does beyond the wire is in its own tests.
 */
@ParameterizedClass
@EnumSource
class CreditsOfBothVersionsTest {

    private static final String LISTS = "00000000 00000000 00000000";
    private static final int WANTED = 16;
    private static final int SERVED = 8;

    private static final HeaderType<Integer> NOTE = new HeaderType<>(0x40, "NOTE", TestTypes.NUMBER, false,
            HeaderType.Accounting.BOUNDED);
    private static final FormatTable FORMATS = new FormatTable(SpokenVersions.BOTH, RpcRdmaLimits.DEFAULT,
            HeaderExtensions.builder().headerType(NOTE).build());

    @Parameter
    RpcRdmaVersion version;

    private final EmbeddedChannel client = new EmbeddedChannel(RpcRdmaCodec.client(FORMATS, new ChunkCounters(), false),
            new CreditGate(WANTED, 4, 1));
    private final EmbeddedChannel server = new EmbeddedChannel(RpcRdmaCodec.server(FORMATS, new ChunkCounters(), false),
            new CreditGate(1, 4, SERVED));

    @AfterEach
    void close() {
        client.finishAndReleaseAll();
        server.finishAndReleaseAll();
    }

    private String message(int xid, long credits, boolean reply) {
        String prefix = String.format("%08x %08x %08x 00000000", xid, version.number(), credits);
        String flags = version == RpcRdmaVersion.ONE ? "" : String.format("%08x 00000000", reply ? 1 : 0);
        return prefix + flags + LISTS + String.format("%08x %08x", xid, reply ? 1 : 0);
    }

    private ChannelFuture call(int xid) {
        ByteBuf body = client.alloc().buffer().writeInt(xid).writeInt(0);
        return client.writeOneOutbound(RpcRdmaMessage.call(version.msg(xid, ChunkLists.EMPTY), body));
    }

    private void calls(int first, int last) {
        for (int xid = first; xid <= last; xid++) {
            call(xid);
        }
    }

    private void replied(int xid, long credits) {
        client.writeInbound(Bytes.hex(message(xid, credits, true)));
    }

    private void assertSent(int... xids) {
        client.flushOutbound();
        for (int xid : xids) {
            assertTakes(client, message(xid, WANTED, false));
        }
        assertEquals(0, client.outboundMessages().size());
    }

    private static void assertTakes(EmbeddedChannel channel, String digits) {
        ByteBuf sent = channel.readOutbound();
        assertEquals(Bytes.digits(digits), Bytes.hex(sent));
        sent.release();
    }

    private void called(int xid, long credits) {
        server.writeInbound(Bytes.hex(message(xid, credits, false)));
    }

    private void reply(int xid, int expectedGrant) {
        ByteBuf body = server.alloc().buffer().writeInt(xid).writeInt(1);
        server.writeOutbound(RpcRdmaMessage.reply(version.msg(xid, ChunkLists.EMPTY), body));
        assertTakes(server, message(xid, expectedGrant, true));
    }

    @Test
    void shouldSendOneCallUntilTheFirstReply() {
        calls(1, 3);
        assertSent(1);
        replied(1, 2);
        assertSent(2, 3);
    }

    @Test
    void shouldFollowTheGrantUpAndDown() {
        calls(1, 5);
        assertSent(1);
        replied(1, 3);
        assertSent(2, 3, 4);
        replied(2, 1);
        replied(3, 1);
        assertSent();
        replied(4, 1);
        assertSent(5);
    }

    @Test
    void shouldTakeAGrantOfZeroForOneAndNoMoreThanItWants() {
        call(1);
        assertSent(1);
        replied(1, 0);
        call(2);
        call(3);
        assertSent(2);
        replied(2, 0xFFFF_FFFFL);
        assertSent(3);
        calls(4, 3 + WANTED + 1);
        client.flushOutbound();
        assertEquals(WANTED - 1, client.outboundMessages().size());
    }

    @Test
    void shouldGetNoCreditFromAReplyToNoCall() {
        call(1);
        call(2);
        assertSent(1);
        replied(99, 16);
        assertSent();
        replied(1, 1);
        assertSent(2);
    }

    @Test
    void shouldRefuseCallsThatExceedTheQueue() {
        calls(1, 5);
        assertFalse(client.isWritable());
        assertInstanceOf(CreditQueueFullException.class, call(6).cause());
        assertSent(1);
    }

    @Test
    void shouldGetTheCreditOfACallBackFromAnErrorWithItsGrantOnlyInVersionOne() {
        calls(1, 4);
        assertSent(1);
        // ERR_CHUNK, and RDMA2_ERR_BAD_XDR; the receiver of an RDMA2_ERROR MUST ignore its credits (version-two-08, section
        // 5.3.3).
        client.writeInbound(Bytes.hex(version == RpcRdmaVersion.ONE ? "00000001 00000001 00000010 00000004 00000002"
                : "00000001 00000002 00000010 00000004 00000001 00000002"));
        if (version == RpcRdmaVersion.ONE) {
            assertSent(2, 3, 4);
        } else {
            assertSent(2);
        }
    }

    /** Of an RDMA2_ERROR that cannot be parsed the credits are to be ignored like those of any other. */
    @Test
    void shouldGetTheCreditButNoGrantFromAnErrorThatCannotBeParsed() {
        assumeTrue(version == RpcRdmaVersion.TWO, "version 1 has no such rule");
        calls(1, 5);
        assertSent(1);
        client.writeInbound(Bytes.hex("00000001 00000002 00000010 00000004 00000001")); // no code
        assertSent(2);
        client.writeInbound(Bytes.hex("00000002 00000002 00000010 00000004 00000001 00000004")); // no number behind it
        assertSent(3);
        // more behind it
        client.writeInbound(Bytes.hex("00000003 00000002 00000010 00000004 00000001 00000009 00000000 00000000"));
        assertSent(4);
    }

    @Test
    void shouldGetTheCreditButNoGrantFromErrVers() {
        calls(1, 3);
        assertSent(1);
        client.writeInbound(Bytes.hex(String.format("00000001 %08x 00000010 00000004 00000001 00000001 00000001",
                version.number())));
        assertSent(2);
    }

    @Test
    void shouldGrantWhatIsAskedForWithinItsRange() {
        called(1, 5);
        reply(1, 5);
        called(2, 0);
        reply(2, 1);
        called(3, 0xFFFF_FFFFL);
        reply(3, SERVED);
    }

    @Test
    void shouldEndTheConnectionOfAPeerThatExceedsItsGrant() {
        called(1, 2);
        reply(1, 2);
        called(2, 2);
        called(3, 2);
        assertTrue(server.isOpen());
        assertThrows(CreditExceededException.class, () -> called(4, 2));
        assertFalse(server.isOpen());
    }

    @Test
    void shouldCountCallThatCannotBeParsed() {
        String bad = String.format("%08x %08x 00000010 00000000 ", 1, version.number())
                + (version == RpcRdmaVersion.ONE ? "" : "00000000 00000000") + "00000002"; // no such list entry
        server.writeInbound(Bytes.hex(bad));
        assertTrue(server.isOpen());
        assertThrows(CreditExceededException.class, () -> called(2, 16), "a second one before the first answer");
        assertFalse(server.isOpen());
    }

    /** Nothing that waits for a credit can hold a message without a call up, and it takes none. */
    @Test
    void shouldLetPropertiesPassBothWaysWithoutACredit() {
        assumeTrue(version == RpcRdmaVersion.TWO, "version 1 has no such message");
        String properties = "00000007 00000002 00000003 00000005 00000000 00000000";
        calls(1, 5);
        assertSent(1);
        for (int i = 0; i < 100; i++) {
            client.writeOutbound(RpcRdmaMessage.properties(
                    new RpcRdmaHeader.ConnectionProperties(7, 3, 0, PropertySet.EMPTY)));
            assertTakes(client, properties);
            client.writeInbound(Bytes.hex(properties));
            server.writeInbound(Bytes.hex(properties));
        }
        assertSent();
        called(1, 2);
        assertTrue(server.isOpen());
        replied(1, 1);
        assertSent(2);
    }

    /** Messages of an extension, which have a version of their own: calls of either version tell that they have arrived. */
    @Test
    void shouldSendAsManyMessagesWithoutACallAsThePeerHasReceivesFor() {
        for (int number = 1; number <= 6; number++) {
            note(client, number);
        }
        call(1);
        for (int number = 1; number <= 4; number++) {
            assertTakes(client, noteDigits(number));
        }
        assertSent(1);
        replied(1, 2);
        assertTakes(client, noteDigits(5));
        assertTakes(client, noteDigits(6));
        assertSent();
    }

    @Test
    void shouldSendThoseOfTheServerBehindTheCallThatShowsWhereTheClientIs() {
        for (int number = 1; number <= 5; number++) {
            note(server, number);
        }
        for (int number = 1; number <= 4; number++) {
            assertTakes(server, noteDigits(number));
        }
        called(1, 1);
        assertEquals(0, server.outboundMessages().size());
        reply(1, 1);
        called(2, 1); // needs the credit of the first reply
        assertTakes(server, noteDigits(5));
        reply(2, 1);
    }

    private static void note(EmbeddedChannel from, int number) {
        from.writeOutbound(RpcRdmaMessage.extension(new RpcRdmaHeader.Extension<>(number, 1, 0, NOTE, number),
                Unpooled.EMPTY_BUFFER));
    }

    private static String noteDigits(int number) {
        return String.format("%08x 00000002 00000001 00000040 00000000 %08x", number, number);
    }
}
