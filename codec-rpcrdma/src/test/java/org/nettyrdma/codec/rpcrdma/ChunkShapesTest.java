package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.codec.oncrpc.ReplySpace;
import org.nettyrdma.codec.oncrpc.RpcReplyReplacedException;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.oncrpc.RpcServerHandler;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException.Reason;

/** Several chunks of every kind in one call, between our own ends. */
@Timeout(120)
class ChunkShapesTest {

    private static final int UNLIMITED = Integer.MAX_VALUE;

    private static RpcRdmaPair pair(PeerPolicy policy) throws Exception {
        return new RpcRdmaPair(ShortSends.server().program(new BulkProgram(true)).binding(BulkProgram.BINDING),
                ShortSends.client().binding(BulkProgram.BINDING).peerPolicy(policy));
    }

    @ParameterizedTest
    @CsvSource({
        "0, 5000, 5000", "1, 4097, 4098", "3, 4099, 100001", "10, 5001, 0", "10, 0, 5003", "2000, 3000, 3001",
        "5001, 5002, 5003", "100001, 1000, 7", "70000, 70001, 70002", "9000, 1, 1", "1, 1, 1"
    })
    void shouldStoreTwoArgumentsOfAnyLength(int head, int a, int b) throws Exception {
        for (PeerPolicy policy : List.of(PeerPolicy.SPECIFICATION, PeerPolicy.CONSERVATIVE,
                new PeerPolicy(3, true, 40, 5000), new PeerPolicy(2, true, 64, UNLIMITED))) {
            try (RpcRdmaPair pair = pair(policy)) {
                CompositeByteBuf arguments = pair.channel.alloc().compositeBuffer(100);
                ByteBuf before = pair.channel.alloc().directBuffer();
                Xdr.writeOpaque(before, Bytes.pattern(head, 1));
                ByteBuf between = pair.channel.alloc().directBuffer();
                Xdr.writePadding(between, a);
                between.writeInt(BulkProgram.MARK).writeInt(b);
                ByteBuf after = pair.channel.alloc().directBuffer();
                Xdr.writePadding(after, b);
                arguments.addComponents(true, before.writeInt(a),
                        pair.registered(Bytes.pattern(a, 2)), between, pair.registered(Bytes.pattern(b, 3)),
                        after.writeInt(BulkProgram.MARK));

                ByteBuf results = pair.call(BulkProgram.STORE_TWO, arguments);
                for (byte[] stored : List.of(Bytes.pattern(head, 1), Bytes.pattern(a, 2), Bytes.pattern(b, 3))) {
                    assertEquals(stored.length, results.readInt());
                    assertEquals(BulkProgram.sum(Unpooled.wrappedBuffer(stored)), results.readInt());
                }
                results.release();
                assertEquals(0, pair.client.statistics().get(Counter.COPIED_BYTES), "in as many pieces as it came in");
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "5000, 5000", "4097, 4098", "4099, 100001", "5001, 0", "0, 5003", "1, 5000", "5000, 1", "63997, 63999", "4090, 2", "0, 0"
    })
    void shouldLoadTwoResultsOfAnyLength(int a, int b) throws Exception {
        for (PeerPolicy policy : List.of(PeerPolicy.SPECIFICATION, PeerPolicy.CONSERVATIVE,
                new PeerPolicy(8, true, 64, 1601), new PeerPolicy(8, true, 64, 4099))) {
            if (a + b > 64 * policy.maxSegmentBytes()) {
                continue;
            }
            try (RpcRdmaPair pair = pair(policy)) {
                ByteBuf results = pair.call(BulkProgram.LOAD_TWO, pair.words(a, b));
                assertArrayEquals(Bytes.pattern(a, 1), Xdr.readOpaque(results, a, "a"));
                assertEquals(BulkProgram.MARK, results.readInt());
                assertArrayEquals(Bytes.pattern(b, 2), Xdr.readOpaque(results, b, "b"));
                assertEquals(BulkProgram.MARK, results.readInt());
                assertEquals(0, results.readableBytes());
                results.release();
            }
        }
    }

    /** More chunks than results, and fewer; what has none is in the rest, inline or in the Reply chunk. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 8})
    void shouldOfferAnyNumberOfWriteChunks(int chunks) throws Exception {
        try (RpcRdmaPair pair = pair(PeerPolicy.SPECIFICATION)) {
            List<Integer> sizes = Collections.nCopies(chunks, 5000);
            ByteBuf results = RpcRdmaPair.result(pair.start(
                    new RpcRequest(BulkProgram.PROGRAM, 1, BulkProgram.LOAD_TWO, pair.words(5000, 4999))
                            .setDataItems(List.of()).setReplySpace(new ReplySpace(24 + 16 + 10_000, sizes))));
            assertEquals(5000, results.readInt());
            assertEquals(4999, results.getInt(results.readerIndex() + 5000 + 4));
            results.release();
            assertEquals(5000L * Math.min(chunks, 1) + (chunks > 1 ? 4999 : 0),
                    pair.server.statistics().get(Counter.WRITE_CHUNK_BYTES));
        }
    }

    @Test
    void shouldMoveLongCallAndLongReplyInManySegments() throws Exception {
        try (RpcRdmaPair pair = pair(new PeerPolicy(8, true, 64, 101))) {
            byte[] data = Bytes.pattern(6333, 3);
            ByteBuf results = pair.call(BulkProgram.ECHO, RpcRdmaPair.opaque(data));
            assertArrayEquals(data, Xdr.readOpaque(results, data.length, "echo"));
            results.release();
            assertEquals(2 * 64, pair.client.statistics().get(Counter.EXPOSURES));
            assertEquals(0, pair.server.statistics().get(Counter.REMOTE_INVALIDATIONS), "there are many handles");
        }
    }

    /** What the caller cannot be told in version 1 is told to who wrote the reply. */
    @ParameterizedTest
    @CsvSource({
        "0, '', 'the reply needs a Reply chunk of 5032 bytes, the call offers none (limit inline: 4068)'",
        "5031, '', 'the reply needs a Reply chunk of 5032 bytes, the call offers 5031 (limit inline: 4048)'",
        "0, 4999, 'the reply needs 5000 bytes in Write chunk 1, the call offers 4999'",
    })
    void shouldNameTheRoomThatAReplyNeeds(int replyChunkBytes, String writeChunkBytes, String expected) throws Exception {
        BlockingQueue<Throwable> failures = new LinkedBlockingQueue<>();
        RpcRdmaBuilder builder = ShortSends.server().binding(BulkProgram.BINDING).handlers(pipeline -> pipeline.addLast(
                new ChannelOutboundHandlerAdapter() {
                    @Override
                    public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
                        ctx.write(msg, promise.unvoid()).addListener(written -> {
                            if (!written.isSuccess()) {
                                failures.add(written.cause());
                            }
                        });
                    }
                }, new RpcServerHandler(new BulkProgram(true))));
        try (RawClient client = new RawClient(builder)) {
            ByteBuf sink = client.peer.registered(new byte[6000]);
            String reply = replyChunkBytes == 0 ? "00000000"
                    : RawClient.chunk(client.writable(sink, 0, replyChunkBytes));
            String write = writeChunkBytes.isEmpty() ? ""
                    : RawClient.chunk(client.writable(sink, 0, Integer.parseInt(writeChunkBytes)));
            client.exchange("00000007", "00000000", "00000000" + write + "00000000" + reply + "00000007" + RawClient.CALL
                    + "00000003" + RawClient.NO_AUTH + "00001388 00000000", "00000004", "00000002");

            Throwable failure = failures.poll(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS);
            assertInstanceOf(RpcReplyReplacedException.class, failure);
            assertEquals(Reason.TOO_LARGE, assertInstanceOf(RpcRdmaException.class, failure.getCause()).reason());
            assertEquals("the caller got an error instead of the reply: " + expected, failure.getMessage());
            client.requireAlive();
            assertTrue(failures.isEmpty());
            sink.release();
        }
    }

    /** A handler that knows nothing of RDMA and does not ask what became of its writes goes on. */
    @Test
    void shouldKeepTheConnectionOfAHandlerThatWritesWithVoidPromises() throws Exception {
        RpcRdmaBuilder builder = ShortSends.server().handlers(pipeline -> pipeline.addLast(new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                ByteBuf call = (ByteBuf) msg;
                int extra = call.getInt(call.readerIndex() + 20); // the procedure
                ByteBuf reply = ctx.alloc().buffer().writeInt(call.getInt(call.readerIndex()))
                        .writeBytes(Bytes.hex(RawClient.SUCCESS)).writeZero(extra);
                call.release();
                ctx.writeAndFlush(reply, ctx.voidPromise());
            }
        }));
        try (RawClient client = new RawClient(builder)) {
            client.exchange("00000007", "00000000", RawClient.NO_CHUNKS + "00000007" + RawClient.CALL + "00001388"
                    + RawClient.NO_AUTH, "00000004", "00000002");
            client.requireAlive();
        }
    }
}
