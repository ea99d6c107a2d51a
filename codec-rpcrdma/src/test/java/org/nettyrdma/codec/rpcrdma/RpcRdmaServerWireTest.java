package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nettyrdma.codec.rpcrdma.Bytes.digits;
import static org.nettyrdma.codec.rpcrdma.Bytes.hex;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.channel.ExposedMemory;
import org.nettyrdma.channel.RdmaChannelOption;
import org.nettyrdma.channel.RdmaServerChannel;
import org.nettyrdma.channel.RemoteAccess;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.format.HeaderLayout;

/** A server as a client sees it that writes its calls by hand, byte for byte. */
@Timeout(120)
class RpcRdmaServerWireTest {

    /** From the XID on: a call of version 1 of the bulk program without credentials, before the procedure. */
    private static final String CALL = " 00000000 00000002 20000099 00000001 ";
    private static final String NO_AUTH = " 00000000 00000000 00000000 00000000 ";
    private static final String NO_CHUNKS = " 00000000 00000000 00000000 ";
    /** From behind the XID: the start of a successful reply. */
    private static final String SUCCESS = " 00000001 00000000 00000000 00000000 00000000 ";

    private final BulkProgram program = new BulkProgram(true);
    private final RpcRdma server = ShortSends.server().program(program).binding(BulkProgram.BINDING).build();
    private Channel listener;
    private RawPeer peer;

    @BeforeEach
    void connect() throws Exception {
        listener = server.configure(new ServerBootstrap().group(RawPeer.GROUP).channel(RdmaServerChannel.class))
                .bind(RawPeer.loopback()).sync().channel();
        peer = RawPeer.connect(listener, RawPeer.LINUX_CLIENT);
    }

    @AfterEach
    void disconnect() {
        for (RpcCall call = program.hanging.poll(); call != null; call = program.hanging.poll()) {
            call.arguments().release();
        }
        peer.close();
        listener.close().syncUninterruptibly();
    }

    @Test
    void shouldAnnounceItsThresholdWhenItAccepts() {
        assertEquals("f6ab0e1801010303", hex(peer.channel().peerPrivateData()));
    }

    @Test
    void shouldAnswerCallWithoutChunks() throws Exception {
        peer.sendHex("00000001 00000001 00000020 00000000" + NO_CHUNKS + "00000001" + CALL + "00000000" + NO_AUTH);

        assertEquals(digits("00000001 00000001 00000020 00000000" + NO_CHUNKS + "00000001" + SUCCESS), peer.receiveHex());
    }

    @ParameterizedTest
    @CsvSource({"00000000,00000001", "00000001,00000001", "00000080,00000080", "ffffffff,00000080"})
    void shouldGrantWhatIsAskedForButAtLeastOneAndAtMostItsReceives(String asked, String granted) throws Exception {
        peer.sendHex("00000001 00000001" + asked + "00000000" + NO_CHUNKS + "00000001" + CALL + "00000000" + NO_AUTH);

        assertEquals(digits("00000001 00000001" + granted + "00000000" + NO_CHUNKS + "00000001" + SUCCESS),
                peer.receiveHex());
    }

    /** Nobody knows what the type of another version means: 3 is not RDMA_DONE there. */
    @ParameterizedTest
    @CsvSource({"00000000,00000000", "00000002,00000000", "ffffffff,00000000", "00000000,00000003", "00000007,00000003"})
    void shouldAnswerOtherVersionsWithTheRange(String version, String type) throws Exception {
        peer.sendHex("00000004" + version + "00000020" + type + NO_CHUNKS + "00000004" + CALL + "00000000" + NO_AUTH);

        assertEquals(digits("00000004" + version + "00000020 00000004 00000001 00000001 00000001"), peer.receiveHex());
        assertAlive();
        assertEquals(1, server.statistics().get(Counter.VERSION_ERRORS));
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "00000005" + NO_CHUNKS + "00000005" + CALL + "00000000" + NO_AUTH,       // unknown type
        "00000001" + NO_CHUNKS,                                                  // RDMA_NOMSG without a chunk
        "00000001" + NO_CHUNKS + "00000005" + CALL + "00000000" + NO_AUTH,       // RDMA_NOMSG with a message
        "00000000" + NO_CHUNKS,                                                  // RDMA_MSG without a message
        "00000000" + NO_CHUNKS + "00000006" + CALL + "00000000" + NO_AUTH,       // another XID in the message
        "00000000 00000002 00000000 00000000",                                   // presence word
        "00000000 00000001 00000002 00000000 00000001 0000000000000000 00000000 00000000 00000000", // position 2
    })
    void shouldRefuseMalformedCall(String fromType) throws Exception {
        peer.sendHex("00000005 00000001 00000020" + fromType);

        assertEquals(digits("00000005 00000001 00000020 00000004 00000002"), peer.receiveHex());
        assertAlive();
        assertEquals(1, server.statistics().get(Counter.CHUNK_ERRORS));
    }

    @Test
    void shouldAnswerEveryTruncationThatHasAnXid() throws Exception {
        String whole = digits("00000007 00000001 00000020 00000000" + NO_CHUNKS + "00000007" + CALL + "00000000" + NO_AUTH);
        for (int length = 0; length < whole.length() / 2; length++) {
            peer.sendHex(whole.substring(0, 2 * length));
            if (length >= HeaderLayout.FIXED_LENGTH) {
                String answer = peer.receiveHex();
                assertTrue(answer.startsWith("00000007"), answer);
                assertEquals(length < 36 ? "00000004" : "00000000", answer.substring(24, 32), "length " + length);
            }
        }
        assertAlive();
        assertEquals(16, server.statistics().get(Counter.SHORT_MESSAGES_DROPPED));
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "00000005 00000001 00000020 00000003",                                      // RDMA_DONE
        "00000005 00000001 00000020 00000004 00000002",                             // ERR_CHUNK
        "00000005 00000002 00000020 00000004 00000001 00000001 00000001",           // ERR_VERS
        "00000005 00000001 00000020 00000004",                                      // an error cut off
        "00000005 00000001 00000020 00000000" + NO_CHUNKS + "00000005" + SUCCESS,   // a reply
    })
    void shouldNotAnswerWhatIsNoCall(String message) throws Exception {
        peer.sendHex(message);
        assertAlive(); // and what it answers is the next call
    }

    @Test
    void shouldFetchLongCallAndInvalidateItsOnlyHandle() throws Exception {
        ByteBuf call = peer.channel().alloc().directBuffer().writeBytes(hex("00000002" + CALL + "00000000" + NO_AUTH));
        ExposedMemory memory = peer.expose(call, 0, 40, RemoteAccess.READ);
        peer.sendHex("00000002 00000001 00000020 00000001 00000001 00000000" + RawPeer.hex(memory.segment()) + NO_CHUNKS);

        assertEquals(digits("00000002 00000001 00000020 00000000" + NO_CHUNKS + "00000002" + SUCCESS), peer.receiveHex());
        assertTrue(memory.isInvalidated());
        call.release();
    }

    @Test
    void shouldTakePositionZeroChunkUnderTheNameOfAMessageToo() throws Exception {
        ByteBuf call = peer.channel().alloc().directBuffer().writeBytes(hex("00000002" + CALL + "00000000" + NO_AUTH));
        ExposedMemory memory = peer.expose(call, 0, 40, RemoteAccess.READ);
        peer.sendHex("00000002 00000001 00000020 00000000 00000001 00000000" + RawPeer.hex(memory.segment()) + NO_CHUNKS);

        assertEquals(digits("00000002 00000001 00000020 00000000" + NO_CHUNKS + "00000002" + SUCCESS), peer.receiveHex());
        call.release();
    }

    @Test
    void shouldRefuseLongCallThatIsNoCallOrHasAnotherXid() throws Exception {
        for (String start : new String[] {"00000003 00000000", "00000002 00000001", "00000002"}) {
            ByteBuf call = peer.channel().alloc().directBuffer().writeBytes(hex(start));
            ExposedMemory memory = peer.expose(call, 0, call.readableBytes(), RemoteAccess.READ);
            peer.sendHex("00000002 00000001 00000020 00000001 00000001 00000000" + RawPeer.hex(memory.segment())
                    + NO_CHUNKS);

            assertEquals(digits("00000002 00000001 00000020 00000004 00000002"), peer.receiveHex());
            assertFalse(memory.isInvalidated(), "errors do not invalidate");
            call.release();
        }
        assertAlive();
    }

    @ParameterizedTest
    @CsvSource({"4097,4097", "4097,4100", "4098,4098", "4098,4100", "4099,4099", "4100,4100", "1,1", "1,4"})
    void shouldTakeReadChunkWithAndWithoutPadding(int length, int chunkBytes) throws Exception {
        byte[] data = Bytes.pattern(chunkBytes, 3);
        ByteBuf source = peer.registered(data);
        ExposedMemory memory = peer.expose(source, 0, chunkBytes, RemoteAccess.READ);
        peer.sendHex("00000009 00000001 00000020 00000000 00000001 00000030" + RawPeer.hex(memory.segment()) + NO_CHUNKS
                + storeCall("00000009", length));

        assertStored("00000009", Arrays.copyOf(data, length));
        source.release();
    }

    @Test
    void shouldJoinSegmentsOfAReadChunkAndSkipEmptyOnes() throws Exception {
        byte[] data = Bytes.pattern(5003, 3);
        ByteBuf source = peer.registered(data);
        StringBuilder list = new StringBuilder();
        for (int[] range : new int[][] {{0, 1}, {1, 4096}, {4097, 3}, {4100, 903}}) {
            list.append("00000001 00000030").append(RawPeer.hex(peer.expose(source, range[0], range[1], RemoteAccess.READ)
                    .segment()));
            list.append("00000001 00000030 00000bad 00000000 0000000000000000");
        }
        peer.sendHex("00000009 00000001 00000020 00000000" + list + NO_CHUNKS + storeCall("00000009", data.length));

        assertStored("00000009", data);
        source.release();
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "00000001 00000004 00000bad 00000004 0000000000000000",                 // within the header of the call
        "00000001 00000024 00000bad 00000004 0000000000000000",                 // the last word of the header
        "00000001 00000030 00000bad 00000004 0000000000000000",                 // behind the end of the message
        "00000001 00000028 00000bad 00000008 0000000000000000"
            + "00000001 0000002c 00000bad 00000004 0000000000000000",           // overlap
        "00000001 00000000 00000bad 00000004 0000000000000000",                 // Position Zero chunk and a message
        "00000001 00000028 00000bad 01000000 0000000000000000",                 // longer than the limit
        "00000001 00000028 00000bad ffffffff 0000000000000000"
            + "00000001 00000028 00000bad ffffffff 0000000000000000",           // very much longer
    })
    void shouldRefuseReadListThatMakesNoMessage(String list) throws Exception {
        peer.sendHex("00000005 00000001 00000020 00000000" + list + NO_CHUNKS + "00000005" + CALL + "00000001" + NO_AUTH
                + "00000000");

        assertEquals(digits("00000005 00000001 00000020 00000004 00000002"), peer.receiveHex());
        assertAlive();
    }

    @Test
    void shouldEndTheConnectionWhenAReadChunkCannotBeFetched() throws Exception {
        peer.sendHex("00000005 00000001 00000020 00000000 00000001 00000030 0badbad0 00001000 0000000000000000" + NO_CHUNKS
                + storeCall("00000005", 4096));
        peer.awaitClose();
    }

    /** As the Linux client does it: the last four bytes of the chunk are a segment of their own, for padding. */
    @Test
    void shouldWriteResultWithoutPaddingAndReturnTheRestUnused() throws Exception {
        byte[] before = Bytes.pattern(8192, 77);
        ByteBuf sink = peer.registered(before);
        ExposedMemory data = peer.expose(sink, 0, 4097, RemoteAccess.WRITE);
        ExposedMemory padding = peer.expose(sink, 8000, 4, RemoteAccess.WRITE);
        peer.sendHex("e8f06022 00000001 00000080 00000000 00000000 00000001 00000002" + RawPeer.hex(data.segment())
                + RawPeer.hex(padding.segment()) + "00000000 00000000" + loadCall("e8f06022", 4097));

        assertEquals(digits("e8f06022 00000001 00000080 00000000 00000000 00000001 00000002"
                + RawPeer.hex(data.segment()) + RawPeer.hex(padding.segment().withLength(0)) + "00000000 00000000"
                + "e8f06022" + SUCCESS + "00000000 00001001"), peer.receiveHex());
        byte[] expected = before.clone();
        System.arraycopy(Bytes.pattern(4097, 2), 0, expected, 0, 4097);
        assertArrayEquals(expected, ByteBufUtil.getBytes(sink, 0, 8192));
        assertFalse(data.isInvalidated() || padding.isInvalidated(), "two handles, of which one may live longer");
        sink.release();
    }

    @Test
    void shouldFillSegmentsInOrderAndReturnUnusedChunks() throws Exception {
        ByteBuf sink = peer.registered(new byte[4096]);
        ExposedMemory memory = peer.expose(sink, 0, 4096, RemoteAccess.WRITE);
        String tag = String.format("%08x", memory.segment().steeringTag());
        long offset = memory.segment().offset();
        String chunk = "00000001 00000003" + tag + "00000064" + offset(offset) + tag + "00000000" + offset(offset + 1000)
                + tag + "000003e8" + offset(offset + 2000);
        peer.sendHex("00000001 00000001 00000080 00000000 00000000" + chunk + chunk + "00000000" + chunk
                + loadCall("00000001", 303));

        String used = "00000001 00000003" + tag + "00000064" + offset(offset) + tag + "00000000" + offset(offset + 1000)
                + tag + "000000cb" + offset(offset + 2000);
        String unused = "00000001 00000003" + tag + "00000000" + offset(offset) + tag + "00000000" + offset(offset + 1000)
                + tag + "00000000" + offset(offset + 2000);
        assertEquals(digits("00000001 00000001 00000080 00000000 00000000" + used + unused + "00000000" + unused
                + "00000001" + SUCCESS + "00000000 0000012f"), peer.receiveHex());
        byte[] data = Bytes.pattern(303, 2);
        assertArrayEquals(Arrays.copyOf(data, 100), ByteBufUtil.getBytes(sink, 0, 100));
        assertArrayEquals(Arrays.copyOfRange(data, 100, 303), ByteBufUtil.getBytes(sink, 2000, 203));
        assertTrue(memory.isInvalidated(), "one handle, however often");
        sink.release();
    }

    @Test
    void shouldWriteLongReplyIntoTheReplyChunk() throws Exception {
        ByteBuf sink = peer.registered(new byte[10000]);
        ExposedMemory memory = peer.expose(sink, 0, 10000, RemoteAccess.WRITE);
        peer.sendHex("00000003 00000001 00000040 00000000 00000000 00000000 00000001 00000001"
                + RawPeer.hex(memory.segment()) + loadCall("00000003", 6001));

        assertEquals(digits("00000003 00000001 00000040 00000001 00000000 00000000 00000001 00000001"
                + RawPeer.hex(memory.segment().withLength(24 + 8 + 6004))), peer.receiveHex());
        assertEquals(digits("00000003" + SUCCESS + "00000000 00001771"), ByteBufUtil.hexDump(sink, 0, 32));
        assertArrayEquals(Bytes.pattern(6001, 2), ByteBufUtil.getBytes(sink, 32, 6001));
        assertTrue(memory.isInvalidated());
        sink.release();
    }

    @Test
    void shouldRefuseResultsThatDoNotFit() throws Exception {
        ByteBuf sink = peer.registered(new byte[10000]);
        ExposedMemory memory = peer.expose(sink, 0, 4096, RemoteAccess.WRITE);
        String chunk = "00000001 00000001" + RawPeer.hex(memory.segment());

        for (String lists : new String[] {"00000000" + chunk + "00000000 00000000", "00000000 00000000" + chunk, NO_CHUNKS}) {
            peer.sendHex("00000006 00000001 00000040 00000000" + lists + loadCall("00000006", 4097));
            assertEquals(digits("00000006 00000001 00000040 00000004 00000002"), peer.receiveHex());
        }
        assertFalse(memory.isInvalidated(), "errors do not invalidate");
        assertEquals(0, sink.getLong(0), "nothing was written");
        assertAlive();
        sink.release();
    }

    @Test
    void shouldNotInvalidateWhenThePeerDidNotSayThatItCan() throws Exception {
        try (RawPeer quiet = RawPeer.connect(listener, "f6ab0e18 01 00 03 03")) {
            ByteBuf sink = quiet.registered(new byte[10000]);
            ExposedMemory memory = quiet.expose(sink, 0, 10000, RemoteAccess.WRITE);
            quiet.sendHex("00000003 00000001 00000040 00000000 00000000 00000000 00000001 00000001"
                    + RawPeer.hex(memory.segment()) + loadCall("00000003", 6001));
            quiet.receive().release();
            assertFalse(memory.isInvalidated());
            sink.release();
        }
    }

    @Test
    void shouldSendAtMostTheDefaultToAPeerThatSaysNothing() throws Exception {
        try (RawPeer silent = RawPeer.connect(listener, "")) {
            silent.sendHex("00000001 00000001 00000040 00000000" + NO_CHUNKS + loadCall("00000001", 964));
            assertEquals(1024, silent.receiveHex().length() / 2);
            silent.sendHex("00000002 00000001 00000040 00000000" + NO_CHUNKS + loadCall("00000002", 965));
            assertEquals(digits("00000002 00000001 00000040 00000004 00000002"), silent.receiveHex());
        }
    }

    @Test
    void shouldAnswerTwoCallsWithTheSameXidEachByItsOwnChunks() throws Exception {
        ByteBuf sink = peer.registered(new byte[8192]);
        ExposedMemory first = peer.expose(sink, 0, 4096, RemoteAccess.WRITE);
        ExposedMemory second = peer.expose(sink, 4096, 4096, RemoteAccess.WRITE);
        assertAlive(); // more than one credit from here
        for (ExposedMemory memory : new ExposedMemory[] {first, second}) {
            peer.sendHex("00000007 00000001 00000040 00000000 00000000 00000001 00000001" + RawPeer.hex(memory.segment())
                    + "00000000 00000000 00000007" + CALL + "00000005" + NO_AUTH);
        }
        for (ExposedMemory memory : new ExposedMemory[] {first, second}) {
            RpcCall call = program.takeHanging();
            call.reply(call.alloc().buffer().writeInt(0));
            assertEquals(digits("00000007 00000001 00000040 00000000 00000000 00000001 00000001"
                    + RawPeer.hex(memory.segment().withLength(0)) + "00000000 00000000 00000007" + SUCCESS + "00000000"),
                    peer.receiveHex());
        }
        sink.release();
    }

    @Test
    void shouldEndTheConnectionOfAPeerThatExceedsItsCredits() throws Exception {
        String call = "00000000" + NO_CHUNKS + "00000007" + CALL + "00000005" + NO_AUTH;
        peer.sendHex("00000007 00000001 00000040" + call);
        peer.sendHex("00000007 00000001 00000040" + call); // before the first reply there is one credit
        peer.awaitClose();
    }

    @Test
    void shouldCountMalformedCallAgainstTheCredits() throws Exception {
        for (int i = 0; i < 10; i++) {
            peer.sendHex("00000005 00000001 00000020 00000009");
            assertEquals(digits("00000005 00000001 00000020 00000004 00000002"), peer.receiveHex());
        }
        assertAlive();
    }

    /** The receives of the channel decide, where nobody called {@link RpcRdma#configure}. */
    @ParameterizedTest
    @CsvSource({"4096,128,03,00000080", "3000,4,01,00000004", "16384,1024,03,00000080", "1024,1,00,00000001"})
    void shouldAnnounceAndGrantNoMoreThanWhatIsPosted(int bufferBytes, int depth, String size, String granted)
            throws Exception {
        Channel plain = new ServerBootstrap().group(RawPeer.GROUP).channel(RdmaServerChannel.class).childHandler(server)
                .childOption(RdmaChannelOption.RECEIVE_BUFFER_SIZE, bufferBytes)
                .childOption(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, depth).bind(RawPeer.loopback()).sync().channel();
        try (RawPeer client = RawPeer.connect(plain, RawPeer.LINUX_CLIENT)) {
            assertEquals("f6ab0e180101" + size + size, hex(client.channel().peerPrivateData()));
            client.sendHex("00000001 00000001 ffffffff 00000000" + NO_CHUNKS + "00000001" + CALL + "00000000" + NO_AUTH);
            assertEquals(digits("00000001 00000001" + granted + "00000000" + NO_CHUNKS + "00000001" + SUCCESS),
                    client.receiveHex());
        } finally {
            plain.close().syncUninterruptibly();
        }
    }

    /** The server answers another call, and nothing before it. */
    private void assertAlive() throws Exception {
        peer.sendHex("0000cafe 00000001 00000020 00000000" + NO_CHUNKS + "0000cafe" + CALL + "00000000" + NO_AUTH);
        assertEquals(digits("0000cafe 00000001 00000020 00000000" + NO_CHUNKS + "0000cafe" + SUCCESS), peer.receiveHex());
    }

    /** A call of STORE whose data is not in the message. */
    private static String storeCall(String xid, int length) {
        return xid + CALL + "00000002" + NO_AUTH + "00000001" + String.format("%08x", length) + "00000002";
    }

    private static String loadCall(String xid, int length) {
        return xid + CALL + "00000003" + NO_AUTH + String.format("%08x", length) + "00000000";
    }

    private static String offset(long offset) {
        return String.format("%016x", offset);
    }

    private void assertStored(String xid, byte[] data) throws Exception {
        assertEquals(digits(xid + "00000001 00000020 00000000" + NO_CHUNKS + xid + SUCCESS
                + String.format("%08x%08x", data.length, BulkProgram.sum(Unpooled.wrappedBuffer(data)))
                + "00000002"), peer.receiveHex());
    }
}
