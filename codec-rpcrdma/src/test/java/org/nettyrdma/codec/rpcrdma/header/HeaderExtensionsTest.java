package org.nettyrdma.codec.rpcrdma.header;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nettyrdma.codec.rpcrdma.Bytes.digits;
import static org.nettyrdma.codec.rpcrdma.Bytes.hex;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.RpcRdmaLimits;
import org.nettyrdma.codec.rpcrdma.format.FormatTable;
import org.nettyrdma.codec.rpcrdma.format.RpcRdmaCodec;
import org.nettyrdma.codec.rpcrdma.format.SpokenVersions;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.ConnectionProperties;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Extension;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Malformed;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Msg;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.TransportError;
import org.nettyrdma.codec.rpcrdma.shared.ChunkCounters;
import org.nettyrdma.handler.credit.CreditedMessage.Role;

/** What a user can add to version 2 without touching the codec (version-two-08, section 9). */
class HeaderExtensionsTest {

    /** An XDR {@code string<16>}. */
    private static final XdrType<String> TEXT = new XdrType<>() {

        @Override
        public String read(ByteBuf in) {
            return Xdr.readString(in, 16, "text");
        }

        @Override
        public int lengthOf(String value) {
            return Integer.BYTES + Xdr.paddedLength(value.length());
        }

        @Override
        public void write(String value, ByteBuf out) {
            Xdr.writeString(out, value);
        }
    };

    /** A type whose author did not think of short messages. */
    private static final XdrType<Long> CARELESS = new XdrType<>() {

        @Override
        public Long read(ByteBuf in) {
            return in.readLong();
        }

        @Override
        public int lengthOf(Long value) {
            return Long.BYTES;
        }

        @Override
        public void write(Long value, ByteBuf out) {
            out.writeLong(value);
        }
    };

    private static final HeaderType<String> NOTE = new HeaderType<>(0x40, "NOTE", TEXT, false, false);
    private static final HeaderType<Long> WRAPPED = new HeaderType<>(-1, "WRAPPED", CARELESS, true, true);
    private static final TransportProperty<String> SITE = new TransportProperty<>(0xFFFFFF01, "Site", "nowhere", TEXT);
    private static final ErrorType<String> BUSY = new ErrorType<>(0x20, "BUSY", XdrType.VOID);
    private static final ErrorType<String> MOVED = new ErrorType<>(0x21, "MOVED", TEXT);
    private static final ErrorType<String> NUMBER_ZERO = new ErrorType<>(0, "NUMBER_ZERO", TEXT);
    private static final HeaderFlag URGENT = new HeaderFlag(0x80000000, "URGENT");

    private final ChunkCounters statistics = new ChunkCounters();
    private final HeaderExtensions extensions = HeaderExtensions.builder().headerType(NOTE).headerType(WRAPPED)
            .property(SITE).error(BUSY).error(MOVED).error(NUMBER_ZERO).flag(URGENT).build();
    private final FormatTable formats = new FormatTable(SpokenVersions.BOTH, RpcRdmaLimits.DEFAULT, extensions);
    private final EmbeddedChannel server = new EmbeddedChannel(RpcRdmaCodec.server(formats, statistics, false));
    private final EmbeddedChannel client = new EmbeddedChannel(RpcRdmaCodec.client(formats, statistics, false));

    @AfterEach
    void nothingIsLeft() {
        assertFalse(server.finishAndReleaseAll());
        assertFalse(client.finishAndReleaseAll());
    }

    @Test
    void shouldDeliverHeaderTypeOutsideOfTheCredits() {
        server.writeInbound(hex("00000001 00000002 00000020 00000040 00000000 | 00000002 68690000"));

        RpcRdmaMessage message = server.readInbound();
        assertEquals(new Extension<>(1, 32, 0, NOTE, "hi"), message.header());
        assertEquals(Role.CONTROL, message.role());
        message.release();
    }

    @Test
    void shouldDeliverCreditedHeaderTypeWithWhatItConveys() {
        server.writeInbound(hex("00000001 00000002 00000020 ffffffff 00000000 | 0000000000000007 | abcdef"));

        RpcRdmaMessage request = server.readInbound();
        assertEquals(new Extension<>(1, 32, 0, WRAPPED, 7L), request.header());
        assertEquals(Role.REQUEST, request.role());
        assertEquals("abcdef", hex(request.content()));
        request.release();

        client.writeInbound(hex("00000001 00000002 00000020 ffffffff 00000001 | 0000000000000007"));
        RpcRdmaMessage response = client.readInbound();
        assertEquals(Role.RESPONSE, response.role());
        response.release();
    }

    @Test
    void shouldRefuseCreditedRequestThatNobodyServes() {
        ByteBuf received = hex("00000001 00000002 00000020 ffffffff 00000000 | 0000000000000007");
        assertTrue(!client.writeInbound(received) && received.refCnt() == 0);
        assertEquals(1, statistics.get(Counter.STRAY_MESSAGES_DROPPED));
        ByteBuf refusal = client.readOutbound();
        assertEquals("000000010000000200000001000000040000000100000009", hex(refusal));
        refusal.release();
    }

    @Test
    void shouldSendHeaderTypes() {
        assertSent(RpcRdmaMessage.extension(new Extension<>(1, 32, 0, NOTE, "hi"), Unpooled.EMPTY_BUFFER),
                "00000001 00000002 00000020 00000040 00000000 | 00000002 68690000");
        assertSent(RpcRdmaMessage.extension(new Extension<>(1, 32, 1, NOTE, ""), Unpooled.EMPTY_BUFFER),
                "00000001 00000002 00000020 00000040 00000001 | 00000000");
        assertSent(RpcRdmaMessage.extension(new Extension<>(1, 32, 1, WRAPPED, 7L), hex("abcdef")),
                "00000001 00000002 00000020 ffffffff 00000001 | 0000000000000007 | abcdef");
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "00000001 00000002 00000020 00000040 00000000",                                // no text
        "00000001 00000002 00000020 00000040 00000000 | 00000011 " + "61616161616161616161616161616161 61000000",
        "00000001 00000002 00000020 00000040 00000000 | 00000002 68690000 | 00000000", // bytes after a type that conveys none
        "00000001 00000002 00000020 ffffffff 00000000 | 00000000",                     // a parser runs out of bytes
    })
    void shouldAnswerWhatTheTypeCannotReadWithBadXdr(String digits) {
        ByteBuf received = hex(digits);
        server.writeInbound(received);

        RpcRdmaMessage message = server.readInbound();
        Malformed header = assertInstanceOf(Malformed.class, message.header());
        assertSame(RpcRdmaError.BAD_XDR, header.cause().error());
        assertEquals(0, received.refCnt());
    }

    @Test
    void shouldReadAndWriteProperties() {
        String digits = """
                00000001 00000002 00000020 00000005 00000000 | 00000002
                ffffff01 0000000c 00000005 64657269 6d000000
                00000001 00000004 00002000""";
        PropertySet properties = PropertySet.EMPTY.with(SITE, "derim").with(TransportProperty.RECEIVE_BUFFER_SIZE, 8192L);

        server.writeInbound(hex(digits));
        RpcRdmaMessage message = server.readInbound();
        ConnectionProperties header = assertInstanceOf(ConnectionProperties.class, message.header());
        assertEquals(properties, header.properties());
        assertEquals("derim", header.properties().get(SITE));
        message.release();

        assertSent(RpcRdmaMessage.properties(new ConnectionProperties(1, 32, 0, properties)), digits);
    }

    @Test
    void shouldAnswerBadValueOfRegisteredPropertyWithBadXdr() {
        server.writeInbound(hex("00000001 00000002 00000020 00000005 00000000 | 00000001 ffffff01 00000004 00000001"));

        RpcRdmaMessage message = server.readInbound();
        Malformed header = assertInstanceOf(Malformed.class, message.header());
        assertSame(RpcRdmaError.BAD_XDR, header.cause().error());
        assertTrue(header.cause().getMessage().contains("Site"), header.cause().getMessage());
    }

    @Test
    void shouldReadAndWriteErrors() {
        String busy = "00000001 00000002 00000020 00000004 00000001 00000020";
        String moved = "00000001 00000002 00000020 00000004 00000001 00000021 00000002 68690000";
        assertReceived(busy, new TransportError(1, 32, new RpcRdmaError.Registered<>(BUSY, "")));
        assertReceived(moved, new TransportError(1, 32, new RpcRdmaError.Registered<>(MOVED, "hi")));
    }

    /** As long as an ERR_VERS of version 1, and where that says the lowest version stands the code. */
    @Test
    void shouldReadErrorWithTheLengthOfARefusedVersion() {
        assertReceived("00000001 00000002 00000020 00000004 00000001 00000000 00000000",
                new TransportError(1, 32, new RpcRdmaError.Registered<>(NUMBER_ZERO, "")));
    }

    @Test
    void shouldReadAndWriteFlags() {
        Msg header = new Msg(1, 2, 32, URGENT.mask(), ChunkLists.EMPTY);
        String digits = """
                00000001 00000002 00000020 00000000 80000000 | 00000000 00000000 00000000 00000000
                | 00000001 00000000""";

        server.writeInbound(hex(digits));
        RpcRdmaMessage message = server.readInbound();
        assertEquals(header, message.header());
        assertTrue(URGENT.isSet(message.header()));
        assertFalse(HeaderFlag.RESPONSE.isSet(message.header()));
        assertEquals(0, statistics.get(Counter.UNKNOWN_FLAGS_IGNORED));
        message.release();

        assertSent(RpcRdmaMessage.call(header, hex("00000001 00000000")), digits);
        assertSent(RpcRdmaMessage.reply(header, hex("00000001 00000001")), """
                00000001 00000002 00000020 00000000 80000001 | 00000000 00000000 00000000 00000000
                | 00000001 00000001""");
    }

    @Test
    void shouldCountUnknownFlagsAndNeverSendThem() {
        server.writeInbound(hex("""
                00000001 00000002 00000020 00000000 40000000 | 00000000 00000000 00000000 00000000
                | 00000001 00000000"""));
        RpcRdmaMessage message = server.readInbound();
        assertEquals(1, statistics.get(Counter.UNKNOWN_FLAGS_IGNORED));

        ChannelFuture write = client.writeOneOutbound(message);

        assertInstanceOf(IllegalArgumentException.class, write.cause());
        assertEquals(0, message.refCnt());
        assertNull(client.readOutbound());
    }

    @Test
    void shouldNameFlags() {
        assertEquals("", extensions.flagNames(0));
        assertEquals("RESPONSE|URGENT", extensions.flagNames(0x80000001));
        assertEquals("RESPONSE|0x80000000", HeaderExtensions.NONE.flagNames(0x80000001));
        assertEquals("0x40000002", extensions.flagNames(0x40000002));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 4, 5})
    void shouldRefuseHeaderTypesOfTheBaseProtocol(int code) {
        assertThrows(IllegalArgumentException.class, () -> new HeaderType<>(code, "TAKEN", TEXT, false, false));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 9})
    void shouldRefuseErrorsOfTheBaseProtocol(int code) {
        assertThrows(IllegalArgumentException.class, () -> new ErrorType<>(code, "TAKEN", TEXT));
    }

    @Test
    void shouldRefuseNumbersThatAreTaken() {
        HeaderExtensions.Builder builder = HeaderExtensions.builder().headerType(NOTE).error(BUSY);
        assertThrows(IllegalArgumentException.class, () -> builder.headerType(new HeaderType<>(0x40, "X", TEXT, true, true)));
        assertThrows(IllegalArgumentException.class, () -> builder.property(new TransportProperty<>(1, "X", "", TEXT)));
        assertThrows(IllegalArgumentException.class, () -> builder.error(new ErrorType<>(0x20, "X", TEXT)));
        assertThrows(IllegalArgumentException.class, () -> builder.flag(new HeaderFlag(1, "X")));
        assertThrows(IllegalArgumentException.class, () -> new HeaderFlag(3, "X"));
        assertThrows(IllegalArgumentException.class, () -> new HeaderFlag(0, "X"));
    }

    private void assertReceived(String digits, TransportError error) {
        client.writeInbound(hex(digits));
        RpcRdmaMessage message = client.readInbound();
        assertEquals(error, message.header());
        assertEquals(Role.RESPONSE, message.role());
        message.release();
        assertSent(RpcRdmaMessage.error(error), digits);
    }

    private void assertSent(RpcRdmaMessage message, String digits) {
        server.writeOutbound(message);
        ByteBuf sent = server.readOutbound();
        assertEquals(digits(digits), hex(sent));
        assertTrue(sent.release());
    }
}
