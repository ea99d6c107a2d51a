package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nettyrdma.codec.rpcrdma.Bytes.digits;
import static org.nettyrdma.codec.rpcrdma.RpcRdmaPair.awaitValue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.concurrent.Future;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaEventLoopGroup;
import org.nettyrdma.channel.RdmaServerChannel;
import org.nettyrdma.channel.RemoteAccess;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.oncrpc.RpcServerHandler;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;

/**
 * A peer that exceeds a limit gets the error of that limit, and another one on the same server gets its answers before, while
 * and after it does. The calls of the first are written by hand; the second one is a well-behaved client.
 */
@Timeout(120)
class ServerLimitsTest {

    private static final String CALL = " 00000000 00000002 20000099 00000001 ";
    private static final String NO_AUTH = " 00000000 00000000 00000000 00000000 ";
    private static final String NO_CHUNKS = " 00000000 00000000 00000000 ";
    private static final String SUCCESS = " 00000001 00000000 00000000 00000000 00000000 ";
    private static final String SYSTEM_ERROR = " 00000001 00000000 00000000 00000000 00000005 ";
    /** Long enough for a well-behaved client on a busy machine. */
    private static final long STALL_MILLIS = 1000;

    private static final RdmaEventLoopGroup SERVERS = new RdmaEventLoopGroup(1);
    private static final RdmaEventLoopGroup CLIENTS = new RdmaEventLoopGroup(1);
    /** Has one event loop for each peer of a test, so that it can be held up. */
    private static final RdmaEventLoopGroup PEERS = new RdmaEventLoopGroup(2);

    private final BulkProgram program = new BulkProgram(true);
    private final BlockingQueue<RdmaChannel> children = new LinkedBlockingQueue<>();
    private final BlockingQueue<Throwable> causes = new LinkedBlockingQueue<>();
    private final CountDownLatch released = new CountDownLatch(1);
    private RpcRdma server;
    private Channel listener;
    private Channel client;
    private RawPeer peer;
    private RdmaChannel child;

    private void start(RpcRdmaLimits limits, ResourceLimits resources) throws Exception {
        server = ShortSends.server().binding(BulkProgram.BINDING).limits(limits).resources(resources).handlers(pipeline -> {
            children.add((RdmaChannel) pipeline.channel());
            pipeline.addLast(new ChannelInboundHandlerAdapter() {
                @Override
                public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                    causes.add(cause);
                }
            }, new RpcServerHandler(List.of(program), Runnable::run, RpcServerHandler.DEFAULT_MAX_BYTES_IN_PROGRESS,
                    resources.serveTimeoutMillis()));
        }).build();
        listener = server.configure(new ServerBootstrap().group(SERVERS).channel(RdmaServerChannel.class))
                .bind(RawPeer.loopback()).sync().channel();
        client = connectClient();
        children.take();
        peer = RawPeer.connect(listener, RawPeer.LINUX_CLIENT, PEERS);
        child = children.take();
        peer.sendHex(nullCall("0000cafe")); // from here it has more than one credit
        peer.receive().release();
        assertOthersAreServed();
    }

    private void start(ResourceLimits resources) throws Exception {
        start(RpcRdmaLimits.DEFAULT, resources);
    }

    private Channel connectClient() throws Exception {
        return ShortSends.client().binding(BulkProgram.BINDING).build()
                .configure(new Bootstrap().group(CLIENTS).channel(RdmaChannel.class)).connect(listener.localAddress()).sync()
                .channel();
    }

    @AfterEach
    void stop() {
        released.countDown();
        for (RpcCall call = program.hanging.poll(); call != null; call = program.hanging.poll()) {
            call.arguments().release();
        }
        peer.close();
        client.close().syncUninterruptibly();
        listener.close().syncUninterruptibly();
    }

    // --- Calls in progress

    @Test
    void shouldEndOnlyTheConnectionThatExceedsItsCredits() throws Exception {
        start(RpcRdmaLimits.DEFAULT.withCredits(4), ResourceLimits.DEFAULT);
        for (int i = 0; i < 4; i++) {
            peer.sendHex(hangingCall("0000000" + i));
        }
        awaitValue(() -> program.hanging.size(), 4);
        assertOthersAreServed();
        peer.sendHex(hangingCall("00000004"));
        peer.awaitClose();
        assertOthersAreServed();
        assertEquals(4, program.hanging.size(), "the fifth has not reached the program");
    }

    // --- Segments, chunks and their bytes, replies

    @ParameterizedTest
    @ValueSource(strings = {
        "00000000 00000001 00000041 SEGMENTS:65 00000000 00000000",                     // Write chunk of 65 segments
        "00000000 00000000 00000001 00000041 SEGMENTS:65",                              // Reply chunk of 65 segments
        "READ_SEGMENTS:65 00000000 00000000 00000000",                                  // Read chunk of 65 segments
        "READ_CHUNKS:9 00000000 00000000 00000000",                                     // 9 Read chunks
        "00000000 WRITE_CHUNKS:9 00000000 00000000",                                    // 9 Write chunks
        "00000001 00000030 00000bad 00110000 0000000000000000" + NO_CHUNKS,             // a Read chunk of 1 MiB + 64 KiB
    })
    void shouldRefuseOnlyTheCallWithMoreThanIsAccepted(String lists) throws Exception {
        start(ResourceLimits.DEFAULT);
        peer.sendHex("00000005 00000001 00000020 00000000" + expand(lists) + storeCall("00000005", 4));
        assertEquals(digits("00000005 00000001 00000020 00000004 00000002"), peer.receiveHex());
        assertAlive();
        assertOthersAreServed();
    }

    @Test
    void shouldRefuseReplyLargerThanAMessageMayBe() throws Exception {
        start(RpcRdmaLimits.DEFAULT.withMaxMessageBytes(100_000), ResourceLimits.DEFAULT);
        ByteBuf sink = peer.registered(new byte[200_000]);
        String segment = RawPeer.hex(peer.expose(sink, 0, 200_000, RemoteAccess.WRITE).segment());
        peer.sendHex("00000003 00000001 00000020 00000000 00000000 00000000 00000001 00000001" + segment
                + loadCall("00000003", 100_000));
        assertEquals(digits("00000003 00000001 00000020 00000004 00000002"), peer.receiveHex());
        assertAlive();
        assertOthersAreServed();
        sink.release();
    }

    // --- Memory

    @Test
    void shouldRefuseCallThatNeedsMoreThanAllMemory() throws Exception {
        start(ResourceLimits.DEFAULT.withMaxTotalBytes(100_000));
        peer.sendHex("00000005 00000001 00000020 00000000 00000001 00000030 00000bad 000186a4 0000000000000000" + NO_CHUNKS
                + storeCall("00000005", 100_004));
        assertEquals(digits("00000005 00000001 00000020 00000004 00000002"), peer.receiveHex());
        assertAlive();
        assertOthersAreServed();
    }

    @Test
    void shouldLetAConnectionTakeNoMoreThanItsShare() throws Exception {
        start(ResourceLimits.DEFAULT.withMaxTotalBytes(1_600_000).withMaxConnectionBytes(200_000));
        ByteBuf data = peer.registered(Bytes.pattern(100_000, 1));
        String[] calls = new String[6];
        for (int i = 0; i < calls.length; i++) {
            calls[i] = storeOf(data, 100_000); // a handle each, as each reply invalidates one
        }
        peer.sendAndHoldUp(released, calls);
        awaitCounted(Counter.CALLS_HELD_BACK, 4);
        assertEquals(200_000, server.memory().usedBytes());
        assertOthersAreServed(); // which needs memory too
        released.countDown();
        for (int i = 0; i < 6; i++) {
            assertStored(data);
        }
        awaitValue(server.memory()::usedBytes, 0);
        data.release();
    }

    @Test
    void shouldLetCallsWaitForMemoryThatOthersHaveAndFailNone() throws Exception {
        start(ResourceLimits.DEFAULT.withMaxTotalBytes(150_000));
        ByteBuf data = peer.registered(Bytes.pattern(100_000, 1));
        peer.sendAndHoldUp(released, storeOf(data, 100_000));
        awaitValue(server.memory()::usedBytes, 100_000);
        Future<ByteBuf> large = load(100_000);
        Future<ByteBuf> small = load(20_000); // would fit, but must not overtake for ever
        awaitCounted(Counter.CALLS_HELD_BACK, 2);
        assertEquals(1, server.memory().waiting(), "one place in the line for each connection");
        call(BulkProgram.NULL, 0).get(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS).release(); // needs no memory

        released.countDown();
        checkLoaded(large, 100_000);
        checkLoaded(small, 20_000);
        assertStored(data);
        awaitValue(server.memory()::usedBytes, 0);
        data.release();
    }

    /** Data of 32 bytes in 32 segments keeps the server as busy as data of 8 KiB, and takes as much memory. */
    @Test
    void shouldCountWhatItTakesToFetchDataInManyPieces() throws Exception {
        start(ResourceLimits.DEFAULT.withMaxTotalBytes(150_000));
        ByteBuf data = peer.registered(Bytes.pattern(32, 1));
        StringBuilder list = new StringBuilder();
        for (int i = 0; i < 32; i++) {
            list.append("00000001 00000030").append(RawPeer.hex(peer.expose(data, i, 1, RemoteAccess.READ).segment()));
        }
        peer.sendAndHoldUp(released, "00000009 00000001 00000020 00000000" + list + NO_CHUNKS + storeCall("00000009", 32));
        awaitValue(server.memory()::usedBytes, 32 + 31 * 256);
        released.countDown();
        assertStored(data);
        awaitValue(server.memory()::usedBytes, 0);
        data.release();
    }

    @Test
    void shouldKeepTheMemoryOfACallUntilItIsAnswered() throws Exception {
        start(ResourceLimits.DEFAULT.withMaxTotalBytes(150_000));
        peer.sendHex("00000005 00000001 00000020 00000000 00000000 00000000 00000001 00000001 00000bad 000186a0"
                + "0000000000000000 00000005" + CALL + "00000005" + NO_AUTH);
        RpcCall hanging = program.hanging.take();
        assertEquals(100_000, server.memory().usedBytes());
        Future<ByteBuf> waiting = load(100_000);
        awaitCounted(Counter.CALLS_HELD_BACK, 1);
        hanging.arguments().release();
        hanging.reply(hanging.alloc().buffer().writeInt(1));
        checkLoaded(waiting, 100_000);
    }

    @Test
    void shouldFreeTheMemoryOfAConnectionThatEnds() throws Exception {
        start(ResourceLimits.DEFAULT.withMaxTotalBytes(150_000));
        ByteBuf data = peer.registered(Bytes.pattern(100_000, 1));
        String call = storeOf(data, 100_000);
        peer.sendAndHoldUp(released, call, call, call); // the second of them stands in the line before the other connection
        awaitCounted(Counter.CALLS_HELD_BACK, 2);
        Future<ByteBuf> waiting = load(100_000);
        awaitCounted(Counter.CALLS_HELD_BACK, 3);
        child.close();
        checkLoaded(waiting, 100_000);
        awaitValue(server.memory()::usedBytes, 0);
        data.release();
    }

    // --- Time

    @Test
    void shouldEndAConnectionThatDoesNotDeliverItsChunks() throws Exception {
        start(ResourceLimits.DEFAULT.withTransferTimeoutMillis(STALL_MILLIS).withMaxTotalBytes(150_000));
        ByteBuf data = peer.registered(Bytes.pattern(100_000, 1));
        peer.sendAndHoldUp(released, storeOf(data, 100_000));
        awaitValue(server.memory()::usedBytes, 100_000);
        Future<ByteBuf> waiting = load(100_000);
        checkLoaded(waiting, 100_000); // once the memory is back
        assertStalled();
        assertOthersAreServed();
        data.release();
    }

    @Test
    void shouldEndAConnectionThatDoesNotTakeItsReplies() throws Exception {
        start(ResourceLimits.DEFAULT.withTransferTimeoutMillis(STALL_MILLIS));
        int length = 1 << 20;
        ByteBuf sink = peer.registered(new byte[length]);
        String segment = RawPeer.hex(peer.expose(sink, 0, length, RemoteAccess.WRITE).segment());
        String call = "00000009 00000001 00000020 00000000 00000000 00000001 00000001" + segment + "00000000 00000000"
                + loadCall("00000009", length);
        String[] calls = new String[32]; // more than what sockets buffer
        Arrays.fill(calls, call);
        peer.sendAndHoldUp(released, calls);
        awaitCounted(Counter.REPLIES_WITH_WRITE_CHUNK, 10);
        assertOthersAreServed();
        assertStalled();
        assertOthersAreServed();
        sink.release();
    }

    @Test
    void shouldNotTakeAConnectionForStalledThatHasNothingToTransfer() throws Exception {
        start(ResourceLimits.DEFAULT.withTransferTimeoutMillis(250));
        peer.sendHex(hangingCall("00000001"));
        RpcCall hanging = program.hanging.take();
        child.eventLoop().schedule(() -> { }, 1000, TimeUnit.MILLISECONDS).sync();
        hanging.arguments().release();
        hanging.reply(hanging.alloc().buffer());
        assertEquals(digits("00000001 00000001 00000020 00000000" + NO_CHUNKS + "00000001" + SUCCESS), peer.receiveHex());
        assertEquals(0, server.statistics().get(Counter.STALLED_CONNECTIONS));
    }

    @Test
    void shouldAnswerCallThatTheProgramDoesNot() throws Exception {
        start(ResourceLimits.DEFAULT.withServeTimeoutMillis(200));
        peer.sendHex(hangingCall("00000001"));
        assertOthersAreServed();
        assertEquals(digits("00000001 00000001 00000020 00000000" + NO_CHUNKS + "00000001" + SYSTEM_ERROR),
                peer.receiveHex());
        RpcCall late = program.hanging.take();
        ByteBuf results = late.alloc().buffer().writeInt(1);
        late.arguments().release();
        late.reply(results);
        assertEquals(0, results.refCnt());
        assertAlive(); // and what it answers is the next call
        assertOthersAreServed();
    }

    // --- AUTO_READ

    @Test
    void shouldDeliverNothingAndGrantLessWhileReadingIsOff() throws Exception {
        start(RpcRdmaLimits.DEFAULT.withCredits(8), ResourceLimits.DEFAULT);
        peer.sendHex(hangingCall("00000001"));
        peer.sendHex(hangingCall("00000002"));
        RpcCall first = program.hanging.take();
        RpcCall second = program.hanging.take();
        setAutoRead(false);
        for (int i = 3; i <= 8; i++) {
            peer.sendHex(hangingCall("0000000" + i));
        }
        awaitHeld(6);
        assertTrue(program.hanging.isEmpty(), "nothing is delivered");
        assertEquals(2, creditsOfReply(first), "of eight receives six are in use");
        peer.sendHex(hangingCall("00000009")); // may have been on its way when the grant fell
        awaitHeld(7);
        assertEquals(1, creditsOfReply(second));
        assertOthersAreServed();

        setAutoRead(true);
        for (int i = 3; i <= 9; i++) {
            RpcCall call = program.hanging.poll(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS);
            assertEquals(i, call.header().xid(), "nothing is lost");
            assertEquals(8, creditsOfReply(call));
        }
        assertTrue(child.isActive());
    }

    @Test
    void shouldServeEverythingThatACarefulClientSentWhileReadingWasOff() throws Exception {
        start(RpcRdmaLimits.DEFAULT.withCredits(8), ResourceLimits.DEFAULT);
        peer.close();
        client.close().sync();
        client = connectClient();
        child = children.take();
        setAutoRead(false);
        List<Future<ByteBuf>> calls = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            calls.add(load(1 + i));
        }
        awaitHeld(1); // before the first reply there is one credit
        setAutoRead(true);
        for (int i = 0; i < 10; i++) {
            checkLoaded(calls.get(i), 1 + i);
        }
        for (int pause = 0; pause < 20; pause++) {
            setAutoRead(false);
            setAutoRead(true);
        }
        for (int i = 10; i < 200; i++) {
            checkLoaded(calls.get(i), 1 + i);
        }
    }

    // --- The parts

    private void setAutoRead(boolean autoRead) throws Exception {
        child.eventLoop().submit(() -> child.config().setAutoRead(autoRead)).sync();
    }

    private void awaitHeld(int messages) {
        awaitValue(() -> child.eventLoop().submit(child::heldMessages).syncUninterruptibly().getNow(), messages);
    }

    /** Answers, and returns the credits in the answer's header. */
    private int creditsOfReply(RpcCall call) throws Exception {
        call.arguments().release();
        call.reply(call.alloc().buffer());
        ByteBuf reply = peer.receive();
        try {
            assertEquals(call.header().xid(), reply.getInt(0));
            return reply.getInt(8);
        } finally {
            reply.release();
        }
    }

    /** The well-behaved client gets a large and a small result. */
    private void assertOthersAreServed() throws Exception {
        checkLoaded(load(50_000), 50_000);
        checkLoaded(load(10), 10);
    }

    private Future<ByteBuf> load(int length) {
        return call(BulkProgram.LOAD, length);
    }

    private Future<ByteBuf> call(int procedure, int length) {
        return client.pipeline().get(RpcClient.class).call(new RpcRequest(BulkProgram.PROGRAM, 1, procedure,
                client.alloc().buffer().writeInt(length).writeInt(0)));
    }

    private static void checkLoaded(Future<ByteBuf> call, int length) throws Exception {
        ByteBuf results = RpcRdmaPair.result(call);
        assertEquals(0, results.readInt());
        assertArrayEquals(Bytes.pattern(length, 2), Xdr.readOpaque(results, length, "data"));
        results.release();
    }

    /** The server answers another call, and nothing before it. */
    private void assertAlive() throws Exception {
        peer.sendHex(nullCall("0000cafe"));
        assertEquals(digits("0000cafe 00000001 00000020 00000000" + NO_CHUNKS + "0000cafe" + SUCCESS), peer.receiveHex());
    }

    private void assertStored(ByteBuf data) throws Exception {
        assertEquals(digits("00000009 00000001 00000020 00000000" + NO_CHUNKS + "00000009" + SUCCESS
                + String.format("%08x%08x", data.readableBytes(), BulkProgram.sum(data)) + "00000002"), peer.receiveHex());
    }

    /** The server has ended the connection and says why. */
    private void assertStalled() throws Exception {
        assertTrue(child.closeFuture().await(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS));
        released.countDown();
        Throwable cause = causes.take();
        assertTrue(cause.getMessage().contains("transferTimeoutMillis"), cause.toString());
        assertEquals(1, server.statistics().get(Counter.STALLED_CONNECTIONS));
        assertTrue(client.isActive());
    }

    private void awaitCounted(Counter counter, long expected) {
        awaitValue(() -> Math.min(expected, server.statistics().get(counter)), expected);
    }

    private String storeOf(ByteBuf data, int length) throws Exception {
        return "00000009 00000001 00000020 00000000 00000001 00000030"
                + RawPeer.hex(peer.expose(data, 0, length, RemoteAccess.READ).segment()) + NO_CHUNKS
                + storeCall("00000009", length);
    }

    private static String nullCall(String xid) {
        return xid + "00000001 00000020 00000000" + NO_CHUNKS + xid + CALL + "00000000" + NO_AUTH;
    }

    private static String hangingCall(String xid) {
        return xid + "00000001 00000020 00000000" + NO_CHUNKS + xid + CALL + "00000005" + NO_AUTH;
    }

    /** A call of STORE whose data is not in the message. */
    private static String storeCall(String xid, int length) {
        return xid + CALL + "00000002" + NO_AUTH + "00000001" + String.format("%08x", length) + "00000002";
    }

    private static String loadCall(String xid, int length) {
        return xid + CALL + "00000003" + NO_AUTH + String.format("%08x", length) + "00000000";
    }

    /** Writes out what is repeated in a chunk list. */
    private static String expand(String lists) {
        String segment = " 00000bad 00000001 0000000000000000 ";
        StringBuilder expanded = new StringBuilder();
        for (String word : lists.trim().split("\\s+")) {
            String[] times = word.split(":");
            if (times.length == 1) {
                expanded.append(word);
            }
            for (int i = 0; times.length == 2 && i < Integer.parseInt(times[1]); i++) {
                expanded.append(switch (times[0]) {
                    case "SEGMENTS" -> segment;
                    case "READ_SEGMENTS" -> " 00000001 00000030 " + segment;
                    case "READ_CHUNKS" -> " 00000001 " + String.format("%08x", 0x30 + 4 * i) + segment;
                    case "WRITE_CHUNKS" -> " 00000001 00000001 " + segment;
                    default -> throw new IllegalArgumentException(word);
                });
            }
        }
        return expanded.toString();
    }
}
