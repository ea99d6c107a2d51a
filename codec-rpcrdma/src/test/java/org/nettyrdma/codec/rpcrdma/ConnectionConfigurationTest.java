package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nettyrdma.codec.rpcrdma.Bytes.digits;
import static org.nettyrdma.codec.rpcrdma.Bytes.hex;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.concurrent.Future;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaChannelOption;
import org.nettyrdma.channel.RdmaServerChannel;
import org.nettyrdma.channel.RemoteAccess;
import org.nettyrdma.codec.oncrpc.AcceptStatus;
import org.nettyrdma.codec.oncrpc.RpcAcceptException;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.oncrpc.RpcServerHandler;
import org.nettyrdma.codec.oncrpc.XdrException;

/** The Connection Configuration Protocol, from bytes written by hand and between our own two ends. */
@Timeout(120)
class ConnectionConfigurationTest {

    private static final String NO_AUTH = " 00000000 00000000 00000000 00000000 ";
    private static final String NO_CHUNKS = " 00000000 00000000 00000000 ";
    private static final String SUCCESS = " 00000001 00000000 00000000 00000000 00000000 ";
    /** From behind the XID: a call of the program, 100417, before the procedure. */
    private static final String CONFIGURATION = " 00000000 00000002 00018841 00000001 ";
    private static final String BULK = " 00000000 00000002 20000099 00000001 ";

    /** A server, and a client that has told nothing while it connected, so that it gets 1024 bytes inline at most. */
    @Nested
    class Server implements AutoCloseable {

        private final Channel listener;
        private final RawPeer peer;

        Server() throws Exception {
            RpcRdma server = RpcRdma.server().program(new BulkProgram(true)).program(new ConnectionConfigurationProgram())
                    .inlineThresholdBytes(3072).build();
            listener = server.configure(new ServerBootstrap().group(RawPeer.GROUP).channel(RdmaServerChannel.class))
                    .childOption(RdmaChannelOption.INBOUND_READ_DEPTH, 7).bind(RawPeer.loopback()).sync().channel();
            peer = RawPeer.connect(listener, "");
        }

        @AfterEach
        @Override
        public void close() {
            peer.close();
            listener.close().syncUninterruptibly();
        }

        @ParameterizedTest
        @CsvSource({"00000400,1024", "00000800,2048", "00000c00,3072", "00001000,3072", "ffffffff,3072"})
        void shouldSendAsMuchInlineAsBothSidesTake(String maxReply, int sendBytes) throws Exception {
            int roomBytes = 1024 - 28 - 24 - 4;
            assertEchoedInline(roomBytes);
            assertEchoRefused(roomBytes + 4);

            assertEquals(digits("00000002 00000001 00000020 00000000" + NO_CHUNKS + "00000002" + SUCCESS
                    + "00000c00 00000004 00000007"), configure("00001000" + maxReply + "00000010"));
            assertEchoedInline(sendBytes - 28 - 24 - 4);
            assertEchoRefused(sendBytes - 28 - 24);
        }

        /** "If zero, the peer must not issue requests which require RDMA Read to satisfy" (section 6.2). */
        @Test
        void shouldReadNothingFromAPeerThatServesNoReads() throws Exception {
            String call = "00000003" + BULK + "00000000" + NO_AUTH;
            ByteBuf memory = peer.registered(hex(call).array());
            String segment = RawPeer.hex(peer.expose(memory, 0, 40, RemoteAccess.READ).segment());
            String longCall = "00000003 00000001 00000020 00000001 00000001 00000000" + segment + NO_CHUNKS;
            peer.sendHex(longCall);
            assertEquals(digits("00000003 00000001 00000020 00000000" + NO_CHUNKS + "00000003" + SUCCESS), peer.receiveHex());

            configure("00001000 00001000 00000000");
            peer.sendHex(longCall);
            assertEquals(digits("00000003 00000001 00000020 00000004 00000002"), peer.receiveHex());
            configure("00001000 00001000 00000001");
            peer.sendHex(longCall);
            assertEquals(digits("00000003 00000001 00000020 00000000" + NO_CHUNKS + "00000003" + SUCCESS), peer.receiveHex());
            memory.release();
        }

        @ParameterizedTest
        @ValueSource(strings = {"000003ff 00001000 00000001", "00001000 000003ff 00000001", "00000000 00000000 00000000", "",
            "00001000 00001000", "00001000 00001000 00000001 00000000"})
        void shouldAnswerGarbageArgumentsToWhatMakesNoSense(String arguments) throws Exception {
            assertEquals(digits("00000002 00000001 00000020 00000000" + NO_CHUNKS + "00000002"
                    + "00000001 00000000 00000000 00000000 00000004"), configure(arguments));
            assertEchoRefused(2000); // and nothing has taken effect
        }

        @Test
        void shouldHaveOneProcedureAndOneVersion() throws Exception {
            String start = "00000002 00000001 00000020 00000000" + NO_CHUNKS + "00000002";
            peer.sendHex(start + CONFIGURATION + "00000000" + NO_AUTH);
            assertEquals(digits(start + SUCCESS), peer.receiveHex());
            peer.sendHex(start + CONFIGURATION + "00000002" + NO_AUTH);
            assertEquals(digits(start + "00000001 00000000 00000000 00000000 00000003"), peer.receiveHex());
            peer.sendHex(start + "00000000 00000002 00018841 00000002 00000001" + NO_AUTH);
            assertEquals(digits(start + "00000001 00000000 00000000 00000000 00000002 00000001 00000001"), peer.receiveHex());
        }

        private String configure(String arguments) throws Exception {
            peer.sendHex("00000002 00000001 00000020 00000000" + NO_CHUNKS + "00000002" + CONFIGURATION + "00000001" + NO_AUTH
                    + arguments);
            return peer.receiveHex();
        }

        private void assertEchoedInline(int bytes) throws Exception {
            String data = String.format("%08x", bytes) + ByteBufUtil.hexDump(Bytes.pattern(bytes, 1));
            echo(data);
            assertEquals(digits("00000001 00000001 00000020 00000000" + NO_CHUNKS + "00000001" + SUCCESS + data),
                    peer.receiveHex());
        }

        private void assertEchoRefused(int bytes) throws Exception {
            // Longer than the receive buffers, so that it is fetched.
            ByteBuf call = peer.registered(hex("00000001" + BULK + "00000001" + NO_AUTH + String.format("%08x", bytes)
                    + ByteBufUtil.hexDump(Bytes.pattern(bytes, 1))).array());
            String segment = RawPeer.hex(peer.expose(call, 0, call.readableBytes(), RemoteAccess.READ).segment());
            peer.sendHex("00000001 00000001 00000020 00000001 00000001 00000000" + segment + NO_CHUNKS);
            assertEquals(digits("00000001 00000001 00000020 00000004 00000002"), peer.receiveHex());
            call.release();
        }

        private void echo(String data) throws Exception {
            ByteBuf call = peer.registered(hex("00000001" + BULK + "00000001" + NO_AUTH + data).array());
            String segment = RawPeer.hex(peer.expose(call, 0, call.readableBytes(), RemoteAccess.READ).segment());
            peer.sendHex("00000001 00000001 00000020 00000001 00000001 00000000" + segment + NO_CHUNKS);
            call.release();
        }
    }

    /** A client, and a server that has told nothing while it accepted, so that it gets 1024 bytes inline at most. */
    @Nested
    class Client implements AutoCloseable {

        private final Channel listener;
        private final RdmaChannel channel;
        private final RawPeer server;

        Client() throws Exception {
            BlockingQueue<RawPeer> accepted = new LinkedBlockingQueue<>();
            listener = RawPeer.listen("", accepted);
            channel = (RdmaChannel) RpcRdma.client().inlineThresholdBytes(3072).build()
                    .configure(new Bootstrap().group(RawPeer.GROUP).channel(RdmaChannel.class))
                    .option(RdmaChannelOption.INBOUND_READ_DEPTH, 5).connect(listener.localAddress()).sync().channel();
            server = accepted.poll(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS);
        }

        @AfterEach
        @Override
        public void close() {
            channel.close().syncUninterruptibly();
            server.close();
            listener.close().syncUninterruptibly();
        }

        @ParameterizedTest
        @CsvSource({"00000400,1024", "00000800,2048", "00000c00,3072", "00001000,3072", "ffffffff,3072"})
        void shouldSendAsMuchInlineAsTheServerAccepts(String maxCall, int sendBytes) throws Exception {
            int roomBytes = sendBytes - 28 - 20 - 40 - 4; // a Reply chunk is offered, as nobody knows the reply
            Future<ConnectionConfiguration.Reply> configuration = new ConnectionConfigurationClient(channel).configure();
            answerConfiguration(maxCall + "00000200 00000008");
            assertEquals(new ConnectionConfiguration.Reply(Long.parseLong(maxCall, 16), 512, 8),
                    configuration.get(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS));

            assertEquals("00000000", typeOfEcho(roomBytes));
            assertEquals("00000001", typeOfEcho(roomBytes + 4));
        }

        @ParameterizedTest
        @CsvSource({"000003ff 00000004 00000008,maxcall_sendsize: 1023 (expected: 1024..4294967295)",
            "00000000 00000004 00000008,maxcall_sendsize: 0 (expected: 1024..4294967295)",
            "00001000 00000004,config_rdma_reply: 8 bytes (expected: 12)",
            "00001000 00000004 00000008 00000000,config_rdma_reply: 16 bytes (expected: 12)"})
        void shouldRefuseAnswerThatMakesNoSense(String results, String message) throws Exception {
            Future<ConnectionConfiguration.Reply> configuration = new ConnectionConfigurationClient(channel).configure();
            answerConfiguration(results);
            assertTrue(configuration.await(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS));

            assertEquals(message, assertInstanceOf(XdrException.class, configuration.cause()).getMessage());
            assertEquals("00000001", typeOfEcho(1200)); // and nothing has taken effect
        }

        @Test
        void shouldFailWhereTheServerDoesNotHaveTheProtocol() throws Exception {
            Future<ConnectionConfiguration.Reply> configuration = new ConnectionConfigurationClient(channel).configure();
            String xid = server.receiveHex().substring(0, 8);
            server.sendHex(xid + "00000001 00000002 00000000" + NO_CHUNKS + xid + "00000001 00000000 00000000 00000000 00000001");
            assertTrue(configuration.await(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS));

            assertEquals(AcceptStatus.PROG_UNAVAIL,
                    assertInstanceOf(RpcAcceptException.class, configuration.cause()).status());
        }

        private void answerConfiguration(String results) throws Exception {
            String sent = server.receiveHex();
            String xid = sent.substring(0, 8);
            // 12 bytes of result fit inline, so nothing is offered: section 6.1 lets nobody assume more than 1 KB.
            assertEquals(digits(xid + "00000001 00000080 00000000" + NO_CHUNKS + xid + CONFIGURATION + "00000001" + NO_AUTH
                    + "00000c00 00000c00 00000005"), sent);
            server.sendHex(xid + "00000001 00000002 00000000" + NO_CHUNKS + xid + SUCCESS + results);
        }

        private String typeOfEcho(int bytes) throws Exception {
            Future<ByteBuf> call = channel.pipeline().get(RpcClient.class).call(new RpcRequest(BulkProgram.PROGRAM, 1,
                    BulkProgram.ECHO, RpcRdmaPair.opaque(new byte[bytes])));
            String sent = server.receiveHex();
            String xid = sent.substring(0, 8);
            server.sendHex(xid + "00000001 00000002 00000000" + NO_CHUNKS + xid + SUCCESS);
            RpcRdmaPair.result(call).release();
            return sent.substring(24, 32);
        }
    }

    @Test
    void shouldAgreeBetweenOurOwnEnds() throws Exception {
        try (RpcRdmaPair pair = new RpcRdmaPair(
                RpcRdma.server().program(new BulkProgram(true)).program(new ConnectionConfigurationProgram())
                        .inlineThresholdBytes(8192),
                RpcRdma.client().inlineThresholdBytes(4096))) {
            assertEquals(new ConnectionConfiguration.Reply(8192, 4, 16), new ConnectionConfigurationClient(pair.channel)
                    .configure().get(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS));
            ByteBuf results = pair.call(BulkProgram.ECHO, RpcRdmaPair.opaque(Bytes.pattern(60000, 1)));
            assertEquals(60004, results.readableBytes());
            results.release();
        }
    }

    @Test
    void shouldHaveNothingToConfigureOnOtherTransports() {
        EmbeddedChannel channel = new EmbeddedChannel(new RpcServerHandler(new ConnectionConfigurationProgram()));
        channel.writeInbound(hex("00000002" + CONFIGURATION + "00000001" + NO_AUTH + "00001000 00001000 00000001"));
        ByteBuf reply = channel.readOutbound();
        assertEquals(digits("00000002 00000001 00000000 00000000 00000000 00000003"), hex(reply));
        reply.release();
        channel.finishAndReleaseAll();
    }

    @Test
    void shouldNeedAClientInThePipeline() {
        assertThrows(IllegalStateException.class, () -> new ConnectionConfigurationClient(new RdmaChannel()).configure());
    }

    @Test
    void shouldCheckWhatIsToBeSent() {
        assertThrows(XdrException.class, () -> new ConnectionConfiguration.Request(1L << 32, 4096, 0));
        assertThrows(XdrException.class, () -> new ConnectionConfiguration.Request(4096, 4096, -1));
        assertThrows(XdrException.class, () -> new ConnectionConfiguration.Reply(4096, 1L << 32, 0));
        ByteBuf out = Unpooled.buffer();
        new ConnectionConfiguration.Request(0xffffffffL, 1024, 0).write(out);
        assertEquals("ffffffff0000040000000000", hex(out));
    }
}
