package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nettyrdma.codec.rpcrdma.RpcRdmaPair.awaitValue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.Future;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.channel.FaultyProvider;
import org.nettyrdma.channel.IdleStrategy;
import org.nettyrdma.channel.RdmaChannelStatistics;
import org.nettyrdma.channel.RdmaEventLoopGroup;
import org.nettyrdma.channel.RdmaWrite;
import org.nettyrdma.channel.RemoteAccess;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.codec.oncrpc.RpcConnectionException;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.oncrpc.RpcTimeoutException;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.RawServer.Offer;
import org.nettyrdma.codec.rpcrdma.VersionTwoServer.Call;
import org.nettyrdma.codec.rpcrdma.legacy.LegacyProfile;

/** What a server can do with the memory of calls that have timed out or were cancelled, and what its late replies do. */
@Timeout(120)
class AbandonedCallWireTest {

    private RawServer server;
    /** Of the client, {@code null} if it is that of all tests. */
    private RdmaEventLoopGroup group;

    private void start(ResourceLimits resources) throws Exception {
        server = new RawServer(ShortSends.client().binding(BulkProgram.BINDING).resources(resources));
        server.requireAlive(); // more than one credit from here
    }

    @AfterEach
    void stop() {
        server.close();
        awaitValue(() -> server.client.memory().usedBytes(), 0);
        if (group != null) {
            group.shutdownGracefully(0, RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS).syncUninterruptibly();
        }
    }

    private Offer abandoned(boolean timeout) throws Exception {
        RpcRequest request = new RpcRequest(BulkProgram.PROGRAM, 1, BulkProgram.LOAD,
                Unpooled.buffer().writeInt(5000).writeInt(0));
        Offer offer = server.offer(timeout ? request.setTimeoutMillis(100) : request);
        if (timeout) {
            assertInstanceOf(RpcTimeoutException.class, RpcRdmaPair.failure(offer.call()));
        } else {
            assertTrue(offer.call().cancel(false));
            awaitEventLoop();
        }
        return offer;
    }

    /** The client's event loop has run what this thread gave it so far. */
    private void awaitEventLoop() throws Exception {
        server.channel.eventLoop().submit(() -> { }).get(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldWithdrawMemoryOfCallsGivenUp(boolean timeout) throws Exception {
        start(ResourceLimits.DEFAULT);
        Offer offer = abandoned(timeout);
        assertEquals(0, server.client.memory().usedBytes());
        Future<ByteBuf> other = server.start(BulkProgram.NULL, Unpooled.EMPTY_BUFFER);
        server.peer.channel().writeAndFlush(new RdmaWrite(Unpooled.wrappedBuffer(new byte[5000]), offer.segment()));
        server.peer.awaitClose();
        assertInstanceOf(RpcConnectionException.class, RpcRdmaPair.failure(other));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldDropTheReplyToACallGivenUp(boolean timeout) throws Exception {
        start(ResourceLimits.DEFAULT);
        Offer offer = abandoned(timeout);
        server.peer.sendHex(offer.xid() + offer.emptyReply());
        server.requireAlive();
        assertEquals(1, server.client.statistics().get(Counter.UNKNOWN_REPLIES_DROPPED));
        assertEquals(1, server.client.statistics().get(Counter.ABANDONED_CALLS_WITHDRAWN));
        assertEquals(1, server.client.statistics().get(Counter.LOCAL_INVALIDATIONS));
    }

    /** Between the reply and the moment at which the device has closed the memory of its call. */
    @Test
    void shouldNotTakeTheReplyToACallGivenUpForThatToTheNextWithItsXid() throws Exception {
        FaultyProvider faulty = new FaultyProvider();
        faulty.slowInvalidation = true;
        group = new RdmaEventLoopGroup(1, new DefaultThreadFactory(AbandonedCallWireTest.class), faulty, IdleStrategy.ADAPTIVE);
        server = new RawServer(ShortSends.client().binding(BulkProgram.BINDING), group);
        server.requireAlive();
        Offer offer = server.offer(5000);
        RpcRequest next = new RpcRequest(BulkProgram.PROGRAM, 1, BulkProgram.NULL)
                .setXid(Integer.parseUnsignedInt(offer.xid(), 16));
        BlockingQueue<Future<ByteBuf>> again = new LinkedBlockingQueue<>();
        server.channel.eventLoop().submit(() -> server.channel.pipeline().addFirst(new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                ctx.fireChannelRead(msg);
                assertTrue(offer.call().cancel(false));
                again.add(server.start(next));
                ctx.pipeline().remove(this);
            }
        })).sync();
        server.peer.sendHex(offer.xid() + offer.emptyReply());

        Throwable failure = RpcRdmaPair.failure(again.poll(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS));
        assertInstanceOf(IllegalStateException.class, failure.getCause());
        server.requireAlive();
    }

    /** The reply that was here, and has invalidated the handle, before the call was given up. */
    @Test
    void shouldDropAReplyWithInvalidationThatCrossesTheCancellation() throws Exception {
        start(ResourceLimits.DEFAULT);
        Offer offer = server.offer(5000);
        server.channel.config().setAutoRead(false);
        awaitEventLoop();
        server.sendInvalidating(offer.segment().steeringTag(), offer.xid() + offer.emptyReply());
        awaitValue(() -> server.channel.statistics().get(RdmaChannelStatistics.Counter.REMOTE_INVALIDATIONS_RECEIVED), 1);
        assertTrue(offer.call().cancel(false));
        awaitEventLoop();
        server.channel.config().setAutoRead(true);
        server.requireAlive();
        assertEquals(1, server.client.statistics().get(Counter.UNKNOWN_REPLIES_DROPPED));
        assertEquals(0, server.client.statistics().get(Counter.LOCAL_INVALIDATIONS));
    }

    /** A server whose reply is in Read chunks, which it does not let be fetched. */
    @Test
    void shouldWithdrawMemoryBeforeItFetchesAReply() throws Exception {
        server = new RawServer(ShortSends.client().binding(BulkProgram.BINDING).legacy(LegacyProfile.DEFAULT));
        server.requireAlive();
        Offer offer = server.offer(5000);
        ByteBuf results = server.peer.registered(new byte[5000]);
        String source = RawPeer.hex(server.peer.expose(results, 0, 5000, RemoteAccess.READ).segment());
        server.peer.holdUp(server.channel);
        server.peer.sendHex(offer.xid() + "00000001 00000020 00000000 00000001 00000020" + source + RawServer.NO_CHUNKS
                + offer.xid() + RawServer.SUCCESS + "00000000 00001388");
        awaitValue(() -> server.client.statistics().get(Counter.LOCAL_INVALIDATIONS), 1);
        assertFalse(offer.call().isDone());

        server.peer.channel().writeAndFlush(new RdmaWrite(Unpooled.wrappedBuffer(new byte[5000]), offer.segment()));
        assertInstanceOf(RpcConnectionException.class, RpcRdmaPair.failure(offer.call()));
        server.peer.channel().config().setAutoRead(true);
        server.peer.awaitClose();
        results.release();
    }

    /** In version 2 a call is kept to be sent again; one that was given up is not. */
    @Test
    void shouldWithdrawMemoryOfCallsGivenUpInVersionTwo() throws Exception {
        try (VersionTwoServer two = new VersionTwoServer(ShortSends.client())) {
            server = two.raw;
            Future<ByteBuf> future = server.start(BulkProgram.LOAD, Unpooled.buffer().writeInt(5000).writeInt(0));
            Call refused = two.receive();
            assertTrue(future.cancel(false));
            awaitEventLoop();
            two.refuse(refused, "00000008 00002328");
            two.requireAlive();
            assertEquals(0, server.client.statistics().get(Counter.CALLS_SENT_AGAIN));
            assertEquals(1, server.client.statistics().get(Counter.UNKNOWN_REPLIES_DROPPED));

            RemoteSegment segment = refused.writes().get(0).get(0);
            server.peer.channel().writeAndFlush(new RdmaWrite(Unpooled.wrappedBuffer(new byte[5000]), segment));
            server.peer.awaitClose();
        }
    }

    @Test
    void shouldKeepMemoryOfCancelledCallForTheServerUntilItsReplyComes() throws Exception {
        start(ResourceLimits.DEFAULT.withMaxAbandonedBytes(5000));
        Offer offer = abandoned(false);
        server.requireAlive(); // and whatever that takes from the pool is not what the server may still write to
        server.peer.send(new RdmaWrite(Unpooled.wrappedBuffer(Bytes.pattern(5000, 3)), offer.segment()));
        server.peer.sendHex(offer.xid() + offer.emptyReply());
        server.requireAlive();
        server.peer.channel().writeAndFlush(new RdmaWrite(Unpooled.wrappedBuffer(new byte[5000]), offer.segment()));
        server.peer.awaitClose();
    }

    /** The limit is for all calls together. */
    @Test
    void shouldWithdrawMemoryOfTheCallThatIsOneTooMany() throws Exception {
        start(ResourceLimits.DEFAULT.withMaxAbandonedBytes(9999));
        Offer kept = abandoned(false);
        Offer withdrawn = abandoned(false);
        assertEquals(2, server.client.statistics().get(Counter.CALLS_ABANDONED));
        assertEquals(1, server.client.statistics().get(Counter.ABANDONED_CALLS_WITHDRAWN));
        server.peer.send(new RdmaWrite(Unpooled.wrappedBuffer(new byte[5000]), kept.segment()));
        server.requireAlive();
        server.peer.channel().writeAndFlush(new RdmaWrite(Unpooled.wrappedBuffer(new byte[5000]), withdrawn.segment()));
        server.peer.awaitClose();
    }
}
