package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.Future;
import java.net.InetAddress;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.channel.FaultyProvider;
import org.nettyrdma.channel.IdleStrategy;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaChannelStatistics;
import org.nettyrdma.channel.RdmaEventLoopGroup;
import org.nettyrdma.channel.RdmaServerChannel;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.oncrpc.RpcTransportException;

/** A device that does not take away the peer's access to the memory of a call: its reply may change as long as it exists. */
@Timeout(120)
class KeptAccessTest {

    private static final int LENGTH = 20_000;

    private final FaultyProvider faulty = new FaultyProvider();
    private final BulkProgram served = new BulkProgram(true);
    private final BulkProgram callbacks = new BulkProgram(true);
    private RdmaEventLoopGroup group;
    private RpcRdma client;
    private RpcRdma server;
    private RdmaChannel channel;

    @BeforeEach
    void open() {
        group = new RdmaEventLoopGroup(1, new DefaultThreadFactory(KeptAccessTest.class), faulty, IdleStrategy.ADAPTIVE);
    }

    @AfterEach
    void close() {
        group.shutdownGracefully(0, RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS).syncUninterruptibly();
        assertEquals(0, client.memory().usedBytes());
        assertEquals(0, server.memory().usedBytes());
    }

    /** Replies are Sends without Invalidate, so that it is this side's device that has to take the access away. */
    private void connect(RpcRdmaBuilder serverBuilder, RpcRdmaBuilder clientBuilder) throws Exception {
        server = serverBuilder.remoteInvalidation(false).program(served).build();
        client = clientBuilder.remoteInvalidation(false).build();
        var listener = server.configure(new ServerBootstrap().group(group).channel(RdmaServerChannel.class))
                .bind(InetAddress.getLoopbackAddress(), 0).sync().channel();
        channel = (RdmaChannel) client.configure(new Bootstrap().group(group).channel(RdmaChannel.class))
                .connect(listener.localAddress()).sync().channel();
        assertEquals(LENGTH, length(start(channel, BulkProgram.LOAD)));
    }

    private static int length(Future<ByteBuf> load) throws Exception {
        ByteBuf results = RpcRdmaPair.result(load);
        try {
            return results.skipBytes(Integer.BYTES).readInt();
        } finally {
            results.release();
        }
    }

    private static Future<ByteBuf> start(Channel caller, int procedure) {
        return caller.pipeline().get(RpcClient.class).call(new RpcRequest(BulkProgram.PROGRAM, 1, procedure,
                Unpooled.buffer().writeInt(LENGTH).writeInt(0)));
    }

    /** The server's end of the connection. */
    private RdmaChannel child() throws Exception {
        Future<ByteBuf> forward = start(channel, BulkProgram.HANG);
        RpcCall call = served.takeHanging();
        call.reply(Unpooled.EMPTY_BUFFER);
        RpcRdmaPair.result(forward).release();
        return (RdmaChannel) call.channel();
    }

    @ParameterizedTest
    @EnumSource(value = VersionPolicy.class, names = {"V1_ONLY", "V2_ONLY"})
    void shouldNotPassUpReplyWhoseWriteChunkThePeerMayStillWrite(VersionPolicy versions) throws Exception {
        connect(ShortSends.server().versions(versions), ShortSends.client().versions(versions).binding(BulkProgram.BINDING));
        assertFailed(channel, child());
    }

    @ParameterizedTest
    @EnumSource(value = VersionPolicy.class, names = {"V1_ONLY", "V2_ONLY"})
    void shouldNotPassUpReplyWhoseReplyChunkThePeerMayStillWrite(VersionPolicy versions) throws Exception {
        connect(ShortSends.server().versions(versions), ShortSends.client().versions(versions));
        assertFailed(channel, child());
    }

    @Test
    void shouldNotPassUpReplyOfTheReverseDirectionWhoseMemoryThePeerMayStillWrite() throws Exception {
        connect(ShortSends.server().versions(VersionPolicy.V2_ONLY).binding(BulkProgram.BINDING).reverse(4),
                ShortSends.client().versions(VersionPolicy.V2_ONLY).reverse(4).program(callbacks));
        RdmaChannel child = child();
        assertEquals(LENGTH, length(start(child, BulkProgram.LOAD)));
        assertFailed(child, channel);
    }

    /** The reply is taken only when the connection has ended, so that there is nothing left to wait for. */
    private void assertFailed(RdmaChannel caller, RdmaChannel callee) throws Exception {
        caller.config().setAutoRead(false);
        Future<ByteBuf> call = start(caller, BulkProgram.LOAD);
        while (caller.eventLoop().submit(caller::heldMessages).get() == 0) {
            assertFalse(call.isDone());
        }
        callee.close().sync();
        while (caller.statistics().get(RdmaChannelStatistics.Counter.FLUSHED_WORK_REQUESTS) == 0) {
            Thread.onSpinWait();
        }
        for (int turn = 0; turn < 2; turn++) { // the end of the connection is told behind the last completion
            caller.eventLoop().submit(() -> { }).sync();
        }
        faulty.keepExposed = true;
        faulty.refuseInvalidations = true;
        caller.config().setAutoRead(true);
        Throwable failure = RpcRdmaPair.failure(call);
        assertInstanceOf(RpcTransportException.class, failure);
        RpcRdmaException cause = assertInstanceOf(RpcRdmaException.class, failure.getCause());
        assertEquals(RpcRdmaException.Reason.CONNECTION, cause.reason());
        assertTrue(cause.getMessage().contains("may still write"), cause.getMessage());
        caller.releaseFuture().sync();
    }
}
