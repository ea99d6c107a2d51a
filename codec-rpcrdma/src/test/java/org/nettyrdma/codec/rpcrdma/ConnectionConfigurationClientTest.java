package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nettyrdma.codec.rpcrdma.Bytes.digits;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.concurrent.DefaultEventExecutor;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaChannelOption;
import org.nettyrdma.codec.oncrpc.AcceptStatus;
import org.nettyrdma.codec.oncrpc.RpcAcceptException;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.oncrpc.XdrException;
import org.nettyrdma.codec.rpcrdma.legacy.ConnectionConfigurationClient;

/**
 * A client that configures a server, written by hand, that has told nothing while it accepted, so that it gets 1024 bytes inline.
 */
@Timeout(120)
class ConnectionConfigurationClientTest {

    private static final String NO_AUTH = " 00000000 00000000 00000000 00000000 ";
    private static final String NO_CHUNKS = " 00000000 00000000 00000000 ";
    private static final String SUCCESS = " 00000001 00000000 00000000 00000000 00000000 ";
    /** From behind the XID: a call of the program, 100417, before the procedure. */
    private static final String CONFIGURATION = " 00000000 00000002 00018841 00000001 ";

    private final BlockingQueue<RawPeer> accepted = new LinkedBlockingQueue<>();
    private final Channel listener;
    private RdmaChannel channel;
    private RawPeer server;

    ConnectionConfigurationClientTest() throws Exception {
        listener = RawPeer.listen("", accepted);
        connect(RpcRdma.client());
    }

    private void connect(RpcRdmaBuilder client) throws Exception {
        channel = (RdmaChannel) client.inlineThresholdBytes(3072).build()
                .configure(new Bootstrap().group(RawPeer.GROUP).channel(RdmaChannel.class))
                .option(RdmaChannelOption.INBOUND_READ_DEPTH, 5).connect(listener.localAddress()).sync().channel();
        server = accepted.poll(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS);
    }

    private void disconnect() {
        channel.close().syncUninterruptibly();
        server.close();
    }

    @AfterEach
    void close() {
        disconnect();
        listener.close().syncUninterruptibly();
    }

    @ParameterizedTest
    @CsvSource({"00000400,1024", "00000800,2048", "00000c00,3072", "00001000,3072", "ffffffff,3072"})
    void shouldSendAsMuchInlineAsTheServerAccepts(String maxCall, int sendBytes) throws Exception {
        int roomBytes = sendBytes - 28 - 20 - 40 - 4; // a Reply chunk is offered, as nobody knows the reply
        Future<ConnectionTerms> configuration = new ConnectionConfigurationClient(channel).configure();
        answerConfiguration(maxCall + "00000200 00000008");
        assertEquals(sendBytes, configuration.get(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS).sendBytes());

        assertEquals("00000000", typeOfEcho(roomBytes));
        assertEquals("00000001", typeOfEcho(roomBytes + 4));
    }

    /** The executor is done with the answer before the event loop does anything more. */
    @Test
    void shouldTellTheTermsThatHoldWhereTheRpcClientHasAnExecutor() throws Exception {
        disconnect();
        EventExecutor executor = new DefaultEventExecutor();
        try {
            connect(RpcRdma.client().handlers(pipeline -> pipeline.addLast(new ChannelInboundHandlerAdapter() {
                @Override
                public void channelRead(ChannelHandlerContext ctx, Object msg) {
                    ctx.fireChannelRead(msg);
                    executor.submit(() -> { }).syncUninterruptibly();
                }
            }).addLast(executor, new RpcClient())));
            executor.submit(() -> { }).sync(); // behind handlerAdded
            Future<ConnectionTerms> configuration = new ConnectionConfigurationClient(channel).configure();
            answerConfiguration("00000800 00000200 00000008");
            assertEquals(2048, configuration.get(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS).sendBytes());
        } finally {
            disconnect();
            executor.shutdownGracefully(0, RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS).syncUninterruptibly();
        }
    }

    @ParameterizedTest
    @CsvSource({"000003ff 00000004 00000008,maxcall_sendsize: 1023 (expected: 1024..4294967295)",
        "00000000 00000004 00000008,maxcall_sendsize: 0 (expected: 1024..4294967295)",
        "00001000 00000004,config_rdma_reply: 8 bytes (expected: 12)",
        "00001000 00000004 00000008 00000000,config_rdma_reply: 16 bytes (expected: 12)"})
    void shouldRefuseAnswerThatMakesNoSense(String results, String message) throws Exception {
        Future<ConnectionTerms> configuration = new ConnectionConfigurationClient(channel).configure();
        answerConfiguration(results);
        assertTrue(configuration.await(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS));

        assertEquals(message, assertInstanceOf(XdrException.class, configuration.cause()).getMessage());
        assertEquals("00000001", typeOfEcho(1200)); // and nothing has taken effect
    }

    @Test
    void shouldFailWhereTheServerDoesNotHaveTheProtocol() throws Exception {
        Future<ConnectionTerms> configuration = new ConnectionConfigurationClient(channel).configure();
        String xid = server.receiveHex().substring(0, 8);
        server.sendHex(xid + "00000001 00000002 00000000" + NO_CHUNKS + xid + "00000001 00000000 00000000 00000000 00000001");
        assertTrue(configuration.await(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS));

        assertEquals(AcceptStatus.PROG_UNAVAIL,
                assertInstanceOf(RpcAcceptException.class, configuration.cause()).status());
    }

    @Test
    void shouldFailOnAClosedChannelThatHasNoHandlersAnyMore() {
        channel.close().syncUninterruptibly();
        while (channel.pipeline().get(RpcClient.class) != null) { // a moment after it has closed
            Thread.onSpinWait();
        }
        Future<ConnectionTerms> configuration = new ConnectionConfigurationClient(channel).configure();
        assertInstanceOf(ClosedChannelException.class, configuration.awaitUninterruptibly().cause());
    }

    @Test
    void shouldRefuseAPipelineThatRpcRdmaHasNotMade() throws Exception {
        disconnect();
        channel = (RdmaChannel) new Bootstrap().group(RawPeer.GROUP).channel(RdmaChannel.class).handler(new RpcClient())
                .connect(listener.localAddress()).sync().channel();
        server = accepted.poll(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS);
        assertEquals("the pipeline was not made by RpcRdma", assertThrows(IllegalStateException.class,
                () -> new ConnectionConfigurationClient(channel).configure()).getMessage());
    }

    private void answerConfiguration(String results) throws Exception {
        String sent = server.receiveHex();
        String xid = sent.substring(0, 8);
        // 12 bytes of result fit inline, so nothing is offered: draft-ietf-nfsv4-rpcrdma-02, section 6.1 lets nobody assume more
        // than 1 KB.
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
