package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.util.concurrent.Future;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcConnectionException;
import org.nettyrdma.codec.rpcrdma.header.HeaderExtensions;
import org.nettyrdma.codec.rpcrdma.header.PropertySet;
import org.nettyrdma.codec.rpcrdma.header.TransportProperty;

/** What an extension makes this side tell of itself. */
class OwnPropertiesTest {

    private static final TransportProperty<String> TEXT = new TransportProperty<>(0xFFFFFF10, "Text", "", TestTypes.TEXT);

    private RawServer server;

    @BeforeEach
    void connect() throws Exception {
        server = new RawServer(RpcRdma.client().versions(VersionPolicy.V2_ONLY).inlineThresholdBytes(16_384)
                .binding(BulkProgram.BINDING).extensions(HeaderExtensions.builder().property(TEXT).build()));
    }

    @AfterEach
    void close() {
        server.close();
    }

    private <T> T onLoop(Callable<T> task) throws Exception {
        return server.channel.eventLoop().submit(task).get(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS);
    }

    private Void tell(PropertySet more) throws Exception {
        return onLoop(() -> {
            RpcRdma.connection(server.channel).properties(more);
            return null;
        });
    }

    private PropertySet own() throws Exception {
        return onLoop(() -> RpcRdma.connection(server.channel).properties());
    }

    @Test
    void shouldRefusePropertiesThatDoNotFitIntoAReceiveOfEveryPeer() throws Exception {
        PropertySet own = own();
        ExecutionException refused = assertThrows(ExecutionException.class, () -> tell(own.with(TEXT, "x".repeat(4_044))));
        assertEquals("RDMA2_CONNPROP of 4100 bytes (expected: at most 4096, the default Receive Buffer Size)",
                assertInstanceOf(IllegalArgumentException.class, refused.getCause()).getMessage());
        assertEquals(own, own());
        tell(own.with(TEXT, "x".repeat(4_040)));
        answerFirstCall();
        ByteBuf told = server.peer.receive();
        assertEquals(4096, told.readableBytes());
        told.release();
    }

    @Test
    void shouldEndTheConnectionToAPeerWhoseReceivesAreTooSmall() throws Exception {
        BlockingQueue<Throwable> causes = new LinkedBlockingQueue<>();
        ChannelPipeline pipeline = server.channel.pipeline();
        pipeline.addBefore(pipeline.context(RpcClient.class).name(), null, new ChannelInboundHandlerAdapter() {
            @Override
            public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                causes.add(cause);
            }
        });
        tell(own().with(TEXT, "x".repeat(100)));
        Future<ByteBuf> call = start();
        String xid = server.peer.receiveHex().substring(0, 8);
        // RDMA2_CONNPROP with a Receive Buffer Size of 128
        server.peer.sendHex("00000000 00000002 00000020 00000005 00000000 00000001 00000001 00000004 00000080");
        server.peer.sendHex(xid + VersionTwoServer.plainReply(xid));
        server.peer.awaitClose();
        assertNull(server.peer.receiveUnlessClosed());
        assertEquals("the peer has receives of 128 bytes, and RDMA2_CONNPROP of this side has 156",
                causes.poll(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS).getMessage());
        assertInstanceOf(RpcConnectionException.class, RpcRdmaPair.failure(call));
    }

    private Future<ByteBuf> start() {
        return server.start(BulkProgram.ECHO, RpcRdmaPair.opaque(new byte[8]));
    }

    private void answerFirstCall() throws Exception {
        Future<ByteBuf> call = start();
        String xid = server.peer.receiveHex().substring(0, 8);
        server.peer.sendHex(xid + VersionTwoServer.plainReply(xid));
        RpcRdmaPair.result(call).release();
    }
}
