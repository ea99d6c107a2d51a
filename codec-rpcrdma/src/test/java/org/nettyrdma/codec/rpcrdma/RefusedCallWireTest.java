package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.Future;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.channel.FaultyProvider;
import org.nettyrdma.channel.IdleStrategy;
import org.nettyrdma.channel.RdmaEventLoopGroup;
import org.nettyrdma.channel.RdmaWrite;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.codec.oncrpc.ReplySpace;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.VersionTwoServer.Call;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaError;

/** What a requester makes of the errors of version 2 (version-two-08, section 5.3.3). */
@Timeout(120)
class RefusedCallWireTest {

    private VersionTwoServer server;
    /** Of the client, {@code null} if it is that of all tests. */
    private RdmaEventLoopGroup group;

    private void connect(PeerPolicy policy) throws Exception {
        server = new VersionTwoServer(ShortSends.client().peerPolicy(policy).maxMessageBytes(100_000));
    }

    private void connect() throws Exception {
        connect(PeerPolicy.CONSERVATIVE);
    }

    /** Whatever happened, the call's memory is back, and the next call goes out. */
    @AfterEach
    void disconnect() throws Exception {
        server.requireAlive();
        assertEquals(0, server.raw.client.memory().usedBytes());
        server.close();
        if (group != null) {
            group.shutdownGracefully(0, RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS).syncUninterruptibly();
        }
    }

    private Future<ByteBuf> load(int length) {
        return server.raw.start(BulkProgram.LOAD, Unpooled.buffer().writeInt(length).writeInt(0));
    }

    @Test
    void shouldOfferTheWriteChunkThatTheErrorAsksFor() throws Exception {
        connect();
        Future<ByteBuf> future = load(5000);
        Call first = server.receive();
        server.refuse(first, "00000007 00000001 00001770");
        Call second = server.receive();

        assertEquals(first.xid(), second.xid());
        assertEquals(5000, first.writes().get(0).get(0).length());
        assertEquals(6000, second.writes().get(0).get(0).length());
        assertNotEquals(first.writes().get(0).get(0).steeringTag(), second.writes().get(0).get(0).steeringTag());
        assertEquals(1, server.raw.client.statistics().get(Counter.LOCAL_INVALIDATIONS), "the first one is closed already");
        server.raw.peer.sendHex(second.xid() + second.emptyReply());
        RpcRdmaPair.result(future).release();
        assertEquals(1, server.raw.client.statistics().get(Counter.CALLS_SENT_AGAIN));
    }

    @Test
    void shouldOfferTheReplyChunkThatTheErrorAsksFor() throws Exception {
        connect();
        Future<ByteBuf> future = server.raw.start(new RpcRequest(BulkProgram.PROGRAM, 1, BulkProgram.ECHO,
                RpcRdmaPair.opaque(Bytes.pattern(2000, 3))).setDataItems(List.of()).setReplySpace(new ReplySpace(100)));
        Call first = server.receive();
        assertEquals(List.of(), first.reply());
        server.refuse(first, "00000008 00002328");
        Call second = server.receive();

        assertEquals(first.xid(), second.xid());
        assertEquals(9000, second.reply().get(0).length());
        answerLong(second, 6000);
        ByteBuf results = RpcRdmaPair.result(future);
        assertEquals(6000 - 24, results.readableBytes());
        results.release();
    }

    /** By RDMA Write, and RDMA2_NOMSG behind it. */
    private void answerLong(Call call, int length) throws Exception {
        ByteBuf reply = server.raw.peer.registered(new byte[length]);
        reply.setBytes(0, Bytes.hex(call.xid() + RawServer.SUCCESS));
        RemoteSegment target = call.reply().get(0);
        server.raw.peer.send(new RdmaWrite(reply, target.withLength(length)));
        server.raw.peer.sendHex(call.xid() + "00000002 00000020 00000001 00000001 00000000 00000000 00000000 00000001 00000001"
                + RawPeer.hex(target.withLength(length)));
    }

    /** A responder without Write chunks has to use this error too, so they are not offered a second time. */
    @Test
    void shouldReplaceWriteChunksByAReplyChunkWhereTheReplyDoesNotFit() throws Exception {
        connect();
        Future<ByteBuf> future = load(5000);
        Call first = server.receive();
        server.refuse(first, "00000008 00001400");
        Call second = server.receive();

        assertEquals(List.of(), second.writes());
        assertEquals(0x1400 + 5000, second.reply().get(0).length());
        server.refuse(second, "00000009");
        RawServer.failure(future);
    }

    @Test
    void shouldUsePositionZeroReadChunkWhereNoOtherIsTaken() throws Exception {
        connect(PeerPolicy.SPECIFICATION);
        Future<ByteBuf> future = server.raw.start(BulkProgram.STORE_TWO, storeTwo(5000, 6000));
        Call first = server.receive();
        assertEquals(List.of(first.positions().get(0), first.positions().get(1)), first.positions());
        server.refuse(first, "00000004 00000000");
        Call second = server.receive();

        assertEquals(first.xid(), second.xid());
        assertEquals(1, second.type());
        assertEquals(List.of(0), second.positions());
        server.refuse(second, "00000004 00000000");
        assertEquals(new RpcRdmaError.ReadChunks(0), RawServer.failure(future).error());

        Future<ByteBuf> later = server.raw.start(BulkProgram.STORE_TWO, storeTwo(5000, 6000));
        Call third = server.receive();
        assertEquals(List.of(0), third.positions(), "the limit holds for the connection");
        server.raw.peer.sendHex(third.xid() + VersionTwoServer.plainReply(third.xid()));
        RpcRdmaPair.result(later).release();
    }

    private static ByteBuf storeTwo(int a, int b) {
        ByteBuf arguments = Unpooled.buffer();
        Xdr.writeOpaque(arguments, new byte[0]);
        Xdr.writeOpaque(arguments, Bytes.pattern(a, 1));
        arguments.writeInt(BulkProgram.MARK);
        Xdr.writeOpaque(arguments, Bytes.pattern(b, 2));
        return arguments.writeInt(BulkProgram.MARK);
    }

    @Test
    void shouldUseFewerReadChunks() throws Exception {
        connect(PeerPolicy.SPECIFICATION);
        Future<ByteBuf> future = server.raw.start(BulkProgram.STORE_TWO, storeTwo(5000, 6000));
        server.refuse(server.receive(), "00000004 00000001");
        Call second = server.receive();
        assertEquals(1, second.positions().size());
        server.raw.peer.sendHex(second.xid() + VersionTwoServer.plainReply(second.xid()));
        RpcRdmaPair.result(future).release();
    }

    @Test
    void shouldUseReplyChunkWhereWriteChunksAreTooMany() throws Exception {
        connect();
        Future<ByteBuf> future = server.raw.start(BulkProgram.LOAD_TWO, Unpooled.buffer().writeInt(5000).writeInt(6000));
        Call first = server.receive();
        assertEquals(2, first.writes().size());
        server.refuse(first, "00000005 00000001");
        Call second = server.receive();

        assertEquals(List.of(), second.writes());
        assertEquals(24 + 16 + 11000, second.reply().get(0).length());
        answerLong(second, 5000);
        RpcRdmaPair.result(future).release();
    }

    @Test
    void shouldCopyIntoAsFewSegmentsAsAreTaken() throws Exception {
        connect();
        Future<ByteBuf> future = server.raw.start(BulkProgram.STORE, storeInPieces());
        Call first = server.receive();
        assertEquals(3, first.reads().size());
        server.refuse(first, "00000006 00000002");
        Call second = server.receive();

        assertEquals(first.positions().subList(0, 1), second.positions());
        assertEquals(9000, second.reads().get(0).length());
        assertEquals(9000, server.raw.client.statistics().get(Counter.COPIED_BYTES));
        server.raw.peer.sendHex(second.xid() + VersionTwoServer.plainReply(second.xid()));
        RpcRdmaPair.result(future).release();

        Future<ByteBuf> later = server.raw.start(BulkProgram.STORE, storeInPieces());
        Call third = server.receive();
        assertEquals(1, third.reads().size(), "the limit holds for the connection");
        server.raw.peer.sendHex(third.xid() + VersionTwoServer.plainReply(third.xid()));
        RpcRdmaPair.result(later).release();
    }

    private ByteBuf storeInPieces() {
        var alloc = server.raw.channel.alloc();
        var arguments = alloc.compositeBuffer().addComponent(true, alloc.buffer().writeInt(BulkProgram.MARK).writeInt(9000));
        for (int i = 0; i < 3; i++) {
            arguments.addComponent(true, alloc.directBuffer(3000).writeBytes(Bytes.pattern(3000, i)));
        }
        return arguments.addComponent(true, alloc.buffer().writeInt(BulkProgram.MARK));
    }

    @ParameterizedTest
    @CsvSource({
        "00000002, RDMA2_ERR_BAD_XDR",
        "00000003, RDMA2_ERR_INVAL_HTYPE",
        "00000009, RDMA2_ERR_SYSTEM",
        "0000004d, unknown code 77",
        "'00000004 00000001', 'RDMA2_ERR_READ_CHUNKS (rdma_max_chunks 1)'",                     // it had none
        "'00000005 00000001', 'RDMA2_ERR_WRITE_CHUNKS (rdma_max_chunks 1)'",                    // it had one
        "'00000006 00000001', 'RDMA2_ERR_SEGMENTS (rdma_max_segments 1)'",                      // it had one
        "'00000006 00000000', 'RDMA2_ERR_SEGMENTS (rdma_max_segments 0)'",                      // nobody can
        "'00000007 00000000 00000000', 'RDMA2_ERR_WRITE_RESOURCE (rdma_chunk_index 0, rdma_length_needed 0)'",
        "'00000007 00000002 00001770', 'RDMA2_ERR_WRITE_RESOURCE (rdma_chunk_index 2, rdma_length_needed 6000)'",
        "'00000007 00000001 00001388', 'RDMA2_ERR_WRITE_RESOURCE (rdma_chunk_index 1, rdma_length_needed 5000)'",
        "'00000007 00000001 000186a1', 'RDMA2_ERR_WRITE_RESOURCE (rdma_chunk_index 1, rdma_length_needed 100001)'",
        "'00000007 ffffffff ffffffff', 'RDMA2_ERR_WRITE_RESOURCE (rdma_chunk_index 4294967295, rdma_length_needed 4294967295)'",
        "'00000008 00000000', 'RDMA2_ERR_REPLY_RESOURCE (rdma_length_needed 0)'",
        "'00000008 000186a1', 'RDMA2_ERR_REPLY_RESOURCE (rdma_length_needed 100001)'",
        "'00000008 ffffffff', 'RDMA2_ERR_REPLY_RESOURCE (rdma_length_needed 4294967295)'",
    })
    void shouldEndTheCallWhereNothingCanBeChanged(String error, String text) throws Exception {
        connect();
        Future<ByteBuf> future = load(5000);
        server.refuse(server.receive(), error);

        RpcRdmaException failure = RawServer.failure(future);
        assertEquals(RpcRdmaException.Reason.REFUSED, failure.reason());
        assertEquals("refused with " + text, failure.getMessage());
        assertEquals(Integer.parseUnsignedInt(error.substring(0, 8), 16), failure.error().code());
        assertEquals(0, server.raw.client.statistics().get(Counter.CALLS_SENT_AGAIN));
    }

    @Test
    void shouldEndTheCallAtTheSecondError() throws Exception {
        connect();
        Future<ByteBuf> future = load(5000);
        server.refuse(server.receive(), "00000007 00000001 00001770");
        server.refuse(server.receive(), "00000007 00000001 00001b58");

        assertEquals(new RpcRdmaError.WriteResource(1, 7000), RawServer.failure(future).error());
        assertEquals(2, server.raw.client.statistics().get(Counter.CHUNK_ERRORS));
    }

    @Test
    void shouldEndLongCallOfWhichReadChunksAreRefused() throws Exception {
        connect();
        Future<ByteBuf> future = server.raw.start(BulkProgram.ECHO, RpcRdmaPair.opaque(new byte[9000]));
        server.refuse(server.receive(), "00000004 00000000");
        assertEquals(new RpcRdmaError.ReadChunks(0), RawServer.failure(future).error());
    }

    /** Also one that would fit into a Position Zero Read chunk alone (section 5.3.3). */
    @Test
    void shouldEndLongCallOfWhichTheOtherReadChunksAreRefused() throws Exception {
        connect(PeerPolicy.SPECIFICATION);
        ByteBuf arguments = Unpooled.buffer();
        Xdr.writeOpaque(arguments, new byte[6000]); // cannot travel in a chunk of its own
        Xdr.writeOpaque(arguments, Bytes.pattern(5000, 1));
        arguments.writeInt(BulkProgram.MARK);
        Xdr.writeOpaque(arguments, new byte[0]);
        Future<ByteBuf> future = server.raw.start(BulkProgram.STORE_TWO, arguments.writeInt(BulkProgram.MARK));
        Call call = server.receive();
        assertEquals(List.of(0, 40 + 4 + 6000 + 4), call.positions().stream().distinct().toList());
        server.refuse(call, "00000004 00000001");
        assertEquals(new RpcRdmaError.ReadChunks(1), RawServer.failure(future).error());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldNotSendAgainWhatNobodyWaitsFor(boolean chunks) throws Exception {
        connect();
        Future<ByteBuf> future = chunks ? load(5000) : server.raw.start(new RpcRequest(BulkProgram.PROGRAM, 1, BulkProgram.NULL,
                Unpooled.EMPTY_BUFFER).setDataItems(List.of()).setReplySpace(new ReplySpace(100)));
        Call call = server.receive();
        assertTrue(future.cancel(false));
        server.raw.channel.eventLoop().submit(() -> { }).sync(); // the client knows
        server.refuse(call, "00000008 00002328");
    }

    /** Between the refusal and the moment at which the device has closed the memory of the call. */
    @Test
    void shouldNotSendAgainWhatIsGivenUpWhileItsMemoryIsWithdrawn() throws Exception {
        FaultyProvider faulty = new FaultyProvider();
        faulty.slowInvalidation = true;
        group = new RdmaEventLoopGroup(1, new DefaultThreadFactory(RefusedCallWireTest.class), faulty, IdleStrategy.ADAPTIVE);
        server = new VersionTwoServer(ShortSends.client(), group);
        Future<ByteBuf> future = load(5000);
        Call call = server.receive();
        server.raw.channel.eventLoop().submit(() -> server.raw.channel.pipeline().addFirst(new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                ctx.fireChannelRead(msg);
                assertTrue(future.cancel(false));
                ctx.pipeline().remove(this);
            }
        })).sync();
        server.refuse(call, "00000007 00000001 00001770");
        assertTrue(future.await(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS));
        assertTrue(future.isCancelled());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldWaitForMemoryBeforeSendingAgain(boolean cancelled) throws Exception {
        server = new VersionTwoServer(ShortSends.client().resources(ResourceLimits.DEFAULT.withMaxConnectionBytes(6000)));
        Future<ByteBuf> large = load(5000);
        Call first = server.receive();
        Future<ByteBuf> other = load(5004);
        server.raw.channel.eventLoop().submit(() -> { }).sync(); // it waits
        server.refuse(first, "00000007 00000001 00001770");
        Call between = server.receive();
        assertEquals(5004, between.writes().get(0).get(0).length(), "what has waited longer comes first");

        if (cancelled) {
            assertTrue(large.cancel(false));
            server.raw.channel.eventLoop().submit(() -> { }).sync();
        }
        server.raw.peer.sendHex(between.xid() + between.emptyReply());
        RpcRdmaPair.result(other).release();
        if (!cancelled) {
            Call second = server.receive();
            assertEquals(first.xid(), second.xid());
            server.raw.peer.sendHex(second.xid() + second.emptyReply());
            RpcRdmaPair.result(large).release();
        }
    }

    /** A call that is exposed as a copy takes its memory twice, since it is kept as well. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldCountWhatIsKeptBesideACopy(boolean registered) throws Exception {
        connect();
        int callBytes = 40 + 4 + 9000;
        ByteBuf data = (registered ? server.raw.channel.alloc().directBuffer() : Unpooled.buffer()).writeInt(9000)
                .writeZero(9000);
        Future<ByteBuf> future = server.raw.start(new RpcRequest(BulkProgram.PROGRAM, 1, BulkProgram.ECHO, data)
                .setDataItems(List.of()).setReplySpace(new ReplySpace(100)));
        Call call = server.receive();
        assertEquals(registered ? callBytes : 2 * callBytes, server.raw.client.memory().usedBytes());
        server.raw.peer.sendHex(call.xid() + VersionTwoServer.plainReply(call.xid()));
        RpcRdmaPair.result(future).release();
    }

    @Test
    void shouldGiveUpCallsThatAreBeingSentAgainWithTheConnection() throws Exception {
        connect();
        Future<ByteBuf> future = load(5000);
        server.refuse(server.receive(), "00000007 00000001 00001770");
        server.receive();
        server.raw.peer.channel().close().sync();
        RpcRdmaPair.failure(future);
        assertEquals(0, server.raw.client.memory().usedBytes());
        server.close();
        connect();
    }
}
