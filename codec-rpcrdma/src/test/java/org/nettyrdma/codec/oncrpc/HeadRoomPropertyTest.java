package org.nettyrdma.codec.oncrpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import org.nettyrdma.codec.oncrpc.transport.HeadRoom;

/**
 * Headers in front of a message, in its own buffer, against the ordinary way with the same calls: the bytes are the same,
 * whatever handlers do with the message on its way, and nothing is written into what somebody else may look at.
 */
class HeadRoomPropertyTest {

    private static final int XID = 7;
    private static final int CALL_BYTES = 40;
    private static final byte FILLER = 0x5A;
    private static final int FOREIGN_BYTES = 200;

    /** What a handler between RPC and the codec does with a message: whatever it likes that passes the message on. */
    enum Handling {
        NOTHING,
        /** The ordinary way: the codec gets a buffer that has bytes of somebody else in front. */
        COPIES,
        /** Keeps the message itself, so that its room may not be used. */
        RETAINS,
        /** The codec gets a view; the handler has the message until the end. */
        SENDS_A_VIEW,
        /** Two views of one message. */
        SENDS_VIEWS_TWICE,
        /** Writes it when the RPC layer has turned to something else. */
        WRITES_LATER,
        /** Writes it when another message is being written. */
        WRITES_BESIDE_THE_NEXT
    }

    /** Checks, when all is over, that what the handler has kept is still what it has seen. */
    private static final class Handler extends ChannelOutboundHandlerAdapter {

        private final Handling handling;
        private final List<Runnable> later = new ArrayList<>();
        private final List<Runnable> checks = new ArrayList<>();

        Handler(Handling handling) {
            this.handling = handling;
        }

        @Override
        public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
            ByteBuf message = (ByteBuf) msg;
            switch (handling) {
                case NOTHING -> ctx.write(message, promise);
                case COPIES -> {
                    ctx.write(foreign(ByteBufUtil.getBytes(message), checks), promise);
                    message.release();
                }
                case RETAINS -> {
                    keep(message.retain());
                    ctx.write(message, promise);
                }
                case SENDS_A_VIEW -> {
                    keep(message);
                    ctx.write(message.retainedDuplicate(), promise);
                }
                case SENDS_VIEWS_TWICE -> {
                    keep(message);
                    ctx.write(message.retainedDuplicate());
                    ctx.write(message.retainedDuplicate(), promise);
                }
                case WRITES_LATER -> later.add(() -> ctx.writeAndFlush(message, promise));
                case WRITES_BESIDE_THE_NEXT -> {
                    later.forEach(Runnable::run);
                    later.clear();
                    later.add(() -> ctx.writeAndFlush(message, promise));
                }
            }
        }

        private void keep(ByteBuf message) {
            String bytes = ByteBufUtil.hexDump(message);
            checks.add(() -> {
                assertEquals(bytes, ByteBufUtil.hexDump(message));
                message.release();
            });
        }

        void finish() {
            later.forEach(Runnable::run);
            checks.forEach(Runnable::run);
        }
    }

    /** Whose buffer the arguments or results are in. */
    enum Body {
        /** That of the request or call, with room in front. */
        ROOMY,
        /** The same, and the application keeps it. */
        ROOMY_AND_KEPT,
        /** The same, and a part of it was taken from the front. */
        ROOMY_AND_READ,
        /** The same, and the application has begun anew at its beginning. */
        ROOMY_AND_CLEARED,
        /** In the middle of memory of the application, whose other bytes are the application's. */
        FOREIGN
    }

    @Provide
    Arbitrary<Integer> lengths() {
        return Arbitraries.oneOf(Arbitraries.integers().between(0, 64), Arbitraries.integers().between(0, 3000));
    }

    /** All that a client has written for two calls. */
    private static String calls(Handling handling, Body body, int bytes, int credentialBytes) {
        Handler handler = new Handler(handling);
        EmbeddedChannel channel = new EmbeddedChannel(new RecordMarkingCodec(1 << 20), handler,
                new RpcClient(1000, XID, System::nanoTime));
        RpcClient client = channel.pipeline().get(RpcClient.class);
        List<Runnable> checks = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            RpcRequest request;
            if (body == Body.FOREIGN) {
                request = new RpcRequest(1, 2, 3, foreign(bytes(bytes), checks));
            } else {
                request = new RpcRequest(1, 2, 3, channel.alloc(), i * bytes); // the first one has to grow
                fill(request.arguments(), body, bytes, checks);
            }
            client.call(request.setCredential(new OpaqueAuth(1, new byte[credentialBytes])));
            channel.runPendingTasks();
        }
        return written(channel, handler, checks);
    }

    /** All that a server has written for two calls. */
    private static String replies(Handling handling, Body body, int bytes) {
        Handler handler = new Handler(handling);
        List<Runnable> checks = new ArrayList<>();
        EmbeddedChannel channel = new EmbeddedChannel(new RecordMarkingCodec(1 << 20), handler,
                new RpcServerHandler(new TestProgram(200000, 1, 1, call -> {
                    ByteBuf results;
                    if (body == Body.FOREIGN) {
                        call.newResults(4).release(); // another buffer than that which is passed
                        results = foreign(bytes(bytes), checks);
                    } else {
                        results = call.newResults(0);
                        fill(results, body, bytes, checks);
                    }
                    call.reply(results);
                })));
        for (int i = 0; i < 2; i++) {
            channel.writeInbound(Unpooled.buffer().writeInt(0x8000_0000 | CALL_BYTES).writeInt(XID + i).writeInt(0).writeInt(2)
                    .writeInt(200000).writeInt(1).writeInt(3).writeZero(16));
        }
        return written(channel, handler, checks);
    }

    private static void fill(ByteBuf buffer, Body body, int bytes, List<Runnable> checks) {
        switch (body) {
            case ROOMY_AND_READ -> buffer.writeInt(-1).skipBytes(4);
            case ROOMY_AND_CLEARED -> buffer.clear();
            default -> { }
        }
        buffer.writeBytes(bytes(bytes));
        if (body == Body.ROOMY_AND_KEPT) {
            ByteBuf kept = buffer.retainedDuplicate();
            String seen = ByteBufUtil.hexDump(kept);
            checks.add(() -> {
                assertEquals(seen, ByteBufUtil.hexDump(kept));
                kept.release();
            });
        }
    }

    private static byte[] bytes(int count) {
        byte[] bytes = new byte[count];
        for (int i = 0; i < count; i++) {
            bytes[i] = (byte) i;
        }
        return bytes;
    }

    private static ByteBuf foreign(byte[] bytes, List<Runnable> checks) {
        byte[] memory = new byte[FOREIGN_BYTES + bytes.length];
        Arrays.fill(memory, FILLER);
        System.arraycopy(bytes, 0, memory, FOREIGN_BYTES, bytes.length);
        checks.add(() -> {
            for (int i = 0; i < FOREIGN_BYTES; i++) {
                assertEquals(FILLER, memory[i]);
            }
        });
        return Unpooled.wrappedBuffer(memory).skipBytes(FOREIGN_BYTES);
    }

    private static String written(EmbeddedChannel channel, Handler handler, List<Runnable> checks) {
        handler.finish();
        StringBuilder bytes = new StringBuilder();
        for (ByteBuf piece = channel.readOutbound(); piece != null; piece = channel.readOutbound()) {
            bytes.append(ByteBufUtil.hexDump(piece));
            piece.release();
        }
        checks.forEach(Runnable::run);
        channel.finishAndReleaseAll();
        return bytes.toString();
    }

    /** What the wire has to say, by the ordinary way of buffers that nobody has made room in. */
    private static String expected(Handling handling, String ordinary) {
        return handling != Handling.SENDS_VIEWS_TWICE ? ordinary
                : Stream.of(halves(ordinary)).map(message -> message + message).reduce("", String::concat);
    }

    private static String[] halves(String bytes) {
        return new String[] {bytes.substring(0, bytes.length() / 2), bytes.substring(bytes.length() / 2)};
    }

    @Property
    void shouldWriteCallsAsTheOrdinaryWay(@ForAll Handling handling, @ForAll Body body, @ForAll("lengths") int bytes,
                                          @ForAll @IntRange(max = 100) int words) {
        assertEquals(expected(handling, calls(Handling.COPIES, Body.FOREIGN, bytes, 4 * words)),
                calls(handling, body, bytes, 4 * words));
    }

    @Property
    void shouldWriteRepliesAsTheOrdinaryWay(@ForAll Handling handling, @ForAll Body body, @ForAll("lengths") int bytes) {
        assertEquals(expected(handling, replies(Handling.COPIES, Body.FOREIGN, bytes)), replies(handling, body, bytes));
    }

    // --- That the room is used at all

    private static int pieces(EmbeddedChannel channel, Consumer<EmbeddedChannel> write) {
        write.accept(channel);
        channel.runPendingTasks();
        int pieces = channel.outboundMessages().stream().mapToInt(piece -> ((ByteBuf) piece).nioBufferCount()).sum();
        channel.finishAndReleaseAll();
        return pieces;
    }

    @Example
    void shouldWriteACallAsOnePiece() {
        for (int bytes : new int[] {0, 64, 100_000}) {
            assertEquals(1, pieces(new EmbeddedChannel(new RecordMarkingCodec(1 << 20), new RpcClient()), channel -> {
                RpcRequest request = new RpcRequest(1, 2, 3, channel.alloc(), 64);
                request.arguments().writeZero(bytes);
                channel.pipeline().get(RpcClient.class).call(request);
            }));
        }
        assertEquals(1, pieces(new EmbeddedChannel(new RecordMarkingCodec(1 << 20), new RpcClient()), channel ->
                channel.pipeline().get(RpcClient.class).call(new RpcRequest(1, 2, 3, Unpooled.buffer(64).writeZero(64)))));
    }

    @Example
    void shouldWriteAReplyAsOnePiece() {
        assertEquals(1, pieces(new EmbeddedChannel(new RecordMarkingCodec(1 << 20),
                new RpcServerHandler(new TestProgram(200000, 1, 1, call -> call.reply(call.newResults(4).writeZero(5000))))),
                channel -> channel.writeInbound(Unpooled.buffer().writeInt(0x8000_0000 | CALL_BYTES).writeInt(XID).writeInt(0)
                        .writeInt(2).writeInt(200000).writeInt(1).writeInt(3).writeZero(16))));
    }

    @Example
    void shouldKeepWhatStandsBeforeTheMarksOutOfTheArguments() {
        RpcRequest request = new RpcRequest(1, 2, 3, Unpooled.buffer().alloc(), 4);
        assertEquals(0, request.arguments().writeInt(1).resetReaderIndex().resetWriterIndex().readableBytes());
        assertTrue(request.arguments().release());
    }

    @Example
    void shouldTakeNothingOfWhatAnotherThreadOffers() throws InterruptedException {
        ByteBuf message = HeadRoom.newBuffer(Unpooled.buffer().alloc(), 8, 8);
        HeadRoom ofThis = HeadRoom.ofThread();
        ofThis.offer(message);
        boolean[] taken = {true};
        Thread other = new Thread(() -> taken[0] = HeadRoom.ofThread().take(message, 4));
        other.start();
        other.join();
        assertFalse(taken[0]);
        assertFalse(ofThis.take(message, 9), "not so much");
        assertTrue(ofThis.take(message, 4));
        assertFalse(ofThis.take(message, 4), "taken once");
        ofThis.offer(message);
        ofThis.withdraw();
        assertFalse(ofThis.take(message, 4), "written");
        message.release();
    }
}
