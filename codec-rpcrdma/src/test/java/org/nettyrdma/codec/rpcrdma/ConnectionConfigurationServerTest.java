package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nettyrdma.codec.rpcrdma.Bytes.digits;
import static org.nettyrdma.codec.rpcrdma.Bytes.hex;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.util.concurrent.DefaultEventExecutor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.channel.RdmaChannelOption;
import org.nettyrdma.channel.RdmaServerChannel;
import org.nettyrdma.channel.RemoteAccess;
import org.nettyrdma.codec.rpcrdma.legacy.ConnectionConfigurationProgram;

/** A server that can be configured, and a client that has told nothing while it connected, so that it gets 1024 bytes inline. */
@Timeout(120)
class ConnectionConfigurationServerTest {

    private static final String NO_AUTH = " 00000000 00000000 00000000 00000000 ";
    private static final String NO_CHUNKS = " 00000000 00000000 00000000 ";
    private static final String SUCCESS = " 00000001 00000000 00000000 00000000 00000000 ";
    /** From behind the XID: a call of the program, 100417, before the procedure. */
    private static final String CONFIGURATION = " 00000000 00000002 00018841 00000001 ";
    private static final String BULK = " 00000000 00000002 20000099 00000001 ";

    private Channel listener;
    private RawPeer peer;

    ConnectionConfigurationServerTest() throws Exception {
        open(ShortSends.server());
    }

    private void open(RpcRdmaBuilder builder) throws Exception {
        RpcRdma server = builder.program(new BulkProgram(true)).program(new ConnectionConfigurationProgram())
                .inlineThresholdBytes(3072).build();
        listener = server.configure(new ServerBootstrap().group(RawPeer.GROUP).channel(RdmaServerChannel.class))
                .childOption(RdmaChannelOption.INBOUND_READ_DEPTH, 7).bind(RawPeer.loopback()).sync().channel();
        peer = RawPeer.connect(listener, "");
    }

    @AfterEach
    void close() {
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

    @Test
    void shouldTakeEffectFromTheAnswerOnWhereProgramsRunOnAnExecutor() throws Exception {
        close();
        DefaultEventExecutor executor = new DefaultEventExecutor();
        try {
            open(ShortSends.server().executor(executor));
            shouldSendAsMuchInlineAsBothSidesTake("00000800", 2048);
        } finally {
            executor.shutdownGracefully(0, 0, TimeUnit.SECONDS).syncUninterruptibly();
        }
    }

    /**
     * "If zero, the peer must not issue requests which require RDMA Read to satisfy" (draft-ietf-nfsv4-rpcrdma-02, section 6.2).
     */
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

    /** A Reply chunk is filled by RDMA Writes. */
    @Test
    void shouldAnswerACallWithAReplyChunkOfAPeerThatServesNoReads() throws Exception {
        configure("00001000 00001000 00000000");
        ByteBuf memory = peer.registered(new byte[64]);
        String segment = RawPeer.hex(peer.expose(memory, 0, 64, RemoteAccess.WRITE).segment());
        peer.sendHex("00000003 00000001 00000020 00000000 00000000 00000000 00000001 00000001" + segment
                + "00000003" + BULK + "00000000" + NO_AUTH);
        String reply = peer.receiveHex();
        assertTrue(reply.startsWith(digits("00000003 00000001 00000020 00000000")), reply);
        assertTrue(reply.endsWith(digits("00000003" + SUCCESS)), reply);
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
