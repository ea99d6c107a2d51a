package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.Future;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.nettyrdma.channel.IdleStrategy;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaEventLoopGroup;
import org.nettyrdma.channel.RdmaRead;
import org.nettyrdma.channel.RdmaSend;
import org.nettyrdma.channel.RdmaServerChannel;
import org.nettyrdma.channel.RdmaWrite;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.oncrpc.RpcTimeoutException;
import org.nettyrdma.verbs.VerbsProvider;
import org.nettyrdma.verbs.iwarp.IwarpProvider;

/**
 * Servers that go on using the memory of a call which has ended: none gets through, while other connections of the same client
 * are served from the same memory. A refused access ends its connection, so that every attempt has a connection of its own.
 * How many is the system property {@code late.attempts}.
 */
class LateAccessTest {

    private static final int ATTEMPTS = Integer.getInteger("late.attempts", 1200);
    private static final int THREADS = 12;
    private static final int LENGTH = 5000;
    private static final byte SENTINEL = 0x5a;
    private static final byte[] PLACED = Bytes.pattern(LENGTH, 3);
    private static final byte[] LATE = new byte[16384];

    static {
        Arrays.fill(LATE, (byte) 0xee);
    }

    /** What the server kept the handle of. */
    private enum Kept { WRITE_CHUNK, REPLY_CHUNK, READ_CHUNK }

    /** What has ended the call. */
    private enum End { REPLY, REPLY_WITH_INVALIDATION, TIMEOUT, CANCELLATION }

    private final VerbsProvider clientProvider = newProvider();
    private final VerbsProvider serverProvider = newProvider();
    private RdmaEventLoopGroup clientGroup;
    private RdmaEventLoopGroup serverGroup;
    private RpcRdma client;

    VerbsProvider newProvider() {
        return new IwarpProvider();
    }

    /** How many connections a provider has ended because of what the peer did. */
    long violations(VerbsProvider provider) {
        return ((IwarpProvider) provider).statistics().violations();
    }

    /** How many connections the peers of a provider have ended, and said why. */
    long terminatesReceived(VerbsProvider provider) {
        return ((IwarpProvider) provider).statistics().terminatesReceived();
    }

    @BeforeEach
    void open() {
        clientGroup = group(clientProvider);
        serverGroup = group(serverProvider);
        client = ShortSends.client().binding(BulkProgram.BINDING).build();
    }

    private static RdmaEventLoopGroup group(VerbsProvider provider) {
        return new RdmaEventLoopGroup(1, new DefaultThreadFactory(LateAccessTest.class), provider, IdleStrategy.ADAPTIVE);
    }

    @AfterEach
    void close() {
        clientGroup.shutdownGracefully(0, RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS).syncUninterruptibly();
        serverGroup.shutdownGracefully(0, RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS).syncUninterruptibly();
        assertEquals(0, client.memory().usedBytes());
    }

    @Test
    void shouldRefuseEveryAccessToTheMemoryOfACallThatHasEnded() throws Exception {
        AtomicInteger next = new AtomicInteger();
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try (HonestLoad load = new HonestLoad()) {
            List<java.util.concurrent.Future<Void>> attackers = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                attackers.add(threads.submit((Callable<Void>) () -> attack(next)));
            }
            for (java.util.concurrent.Future<Void> attacker : attackers) {
                attacker.get();
            }
            assertTrue(load.stop() > 0, "no other calls meanwhile");
        } finally {
            threads.shutdownNow();
        }
        assertEquals(ATTEMPTS, violations(clientProvider), "refused");
        assertEquals(ATTEMPTS, terminatesReceived(serverProvider), "ended by a Terminate");
    }

    /** One thread's attempts, one after the other. */
    private Void attack(AtomicInteger next) throws Exception {
        BlockingQueue<RawPeer> accepted = new LinkedBlockingQueue<>();
        Channel listener = RawPeer.listen(RawPeer.LINUX_CLIENT, accepted, serverGroup);
        try {
            for (int number = next.getAndIncrement(); number < ATTEMPTS; number = next.getAndIncrement()) {
                RdmaChannel channel = connect(listener);
                RawPeer peer = accepted.poll(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS);
                int kinds = Kept.values().length;
                int ends = End.values().length;
                new Attempt(channel, peer, Kept.values()[number % kinds], End.values()[number / kinds % ends],
                        number / kinds / ends % 2 == 0).run();
            }
        } finally {
            listener.close().sync();
        }
        return null;
    }

    private RdmaChannel connect(Channel listener) throws InterruptedException {
        return (RdmaChannel) client.configure(new Bootstrap().group(clientGroup).channel(RdmaChannel.class))
                .connect(listener.localAddress()).sync().channel();
    }

    /** One call, its end, and one late access. */
    private static final class Attempt {

        private final RdmaChannel channel;
        private final RawPeer peer;
        private final Kept kept;
        private final End end;
        /** Whether the caller keeps the results, or releases their memory before the late access. */
        private final boolean resultsKept;

        Attempt(RdmaChannel channel, RawPeer peer, Kept kept, End end, boolean resultsKept) {
            this.channel = channel;
            this.peer = peer;
            this.kept = kept;
            this.end = end;
            this.resultsKept = resultsKept;
        }

        void run() throws Exception {
            Future<ByteBuf> call = channel.pipeline().get(RpcClient.class).call(request());
            ByteBuf sent = peer.receive();
            String xid = ByteBufUtil.hexDump(sent, 0, 4);
            RemoteSegment segment = RawServer.segmentAt(sent, switch (kept) {
                case WRITE_CHUNK -> 28;
                case REPLY_CHUNK -> 24 + 16 + 4 + 4 + 4 + 4;
                case READ_CHUNK -> 24;
            });
            sent.release();
            ByteBuf results = end(call, xid, segment);
            byte[] seen = results == null ? null : ByteBufUtil.getBytes(results);
            if (results != null && !resultsKept) {
                results.release();
            }
            List<ByteBuf> sentinels = List.of(sentinel(segment), sentinel(segment));

            access(segment);
            for (ByteBuf sentinel : sentinels) {
                for (byte value : ByteBufUtil.getBytes(sentinel)) {
                    assertEquals(SENTINEL, value, () -> kept + " after " + end);
                }
                sentinel.release();
            }
            if (results != null && resultsKept) {
                assertArrayEquals(seen, ByteBufUtil.getBytes(results), () -> kept + " after " + end);
                results.release();
            }
            channel.close().sync();
            peer.close();
        }

        private RpcRequest request() {
            RpcRequest request = new RpcRequest(BulkProgram.PROGRAM, 1,
                    kept == Kept.WRITE_CHUNK ? BulkProgram.LOAD : BulkProgram.ECHO,
                    kept == Kept.WRITE_CHUNK ? Unpooled.buffer().writeInt(LENGTH).writeInt(0) : RpcRdmaPair.opaque(PLACED));
            return end == End.TIMEOUT ? request.setTimeoutMillis(1) : request;
        }

        /** A piece of memory that the pool gives to somebody else. */
        private ByteBuf sentinel(RemoteSegment segment) {
            byte[] bytes = new byte[(int) segment.length()];
            Arrays.fill(bytes, SENTINEL);
            return channel.alloc().directBuffer(bytes.length).writeBytes(bytes);
        }

        /** Ends the call, and returns its results if there are any. */
        private ByteBuf end(Future<ByteBuf> call, String xid, RemoteSegment segment) throws Exception {
            switch (end) {
                case TIMEOUT -> {
                    assertInstanceOf(RpcTimeoutException.class, RpcRdmaPair.failure(call));
                    return null;
                }
                case CANCELLATION -> {
                    assertTrue(call.cancel(false));
                    channel.eventLoop().submit(() -> { }).get(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS);
                    return null;
                }
                default -> {
                    ByteBuf reply = Bytes.hex(reply(xid, segment));
                    peer.send(end == End.REPLY ? reply : new RdmaSend(reply, segment.steeringTag()));
                    ByteBuf results = RpcRdmaPair.result(call);
                    assertPlaced(results);
                    return results;
                }
            }
        }

        /** Places the results, and returns the reply. */
        private String reply(String xid, RemoteSegment segment) throws Exception {
            return xid + "00000001 00000020" + switch (kept) {
                case WRITE_CHUNK -> {
                    peer.send(new RdmaWrite(Unpooled.wrappedBuffer(PLACED), segment));
                    yield "00000000 00000000 00000001 00000001" + RawPeer.hex(segment.withLength(LENGTH)) + "00000000 00000000"
                            + xid + RawServer.SUCCESS + "00000000" + String.format("%08x", LENGTH);
                }
                case REPLY_CHUNK -> {
                    ByteBuf whole = Unpooled.wrappedBuffer(Bytes.hex(xid + RawServer.SUCCESS), RpcRdmaPair.opaque(PLACED));
                    int length = whole.readableBytes();
                    peer.send(new RdmaWrite(whole, segment.withLength(length)));
                    yield "00000001 00000000 00000000 00000001 00000001" + RawPeer.hex(segment.withLength(length));
                }
                case READ_CHUNK -> "00000000" + RawServer.NO_CHUNKS + xid + RawServer.SUCCESS;
            };
        }

        private void assertPlaced(ByteBuf results) {
            if (kept != Kept.READ_CHUNK) {
                byte[] all = ByteBufUtil.getBytes(results);
                assertArrayEquals(PLACED, Arrays.copyOfRange(all, all.length - LENGTH, all.length));
            }
        }

        private void access(RemoteSegment segment) throws Exception {
            if (kept != Kept.READ_CHUNK) {
                peer.channel().writeAndFlush(new RdmaWrite(
                        Unpooled.wrappedBuffer(LATE, 0, (int) segment.length()), segment));
                peer.awaitClose();
                return;
            }
            ByteBuf sink = peer.channel().alloc().directBuffer((int) segment.length());
            sink.setZero(0, sink.capacity());
            ChannelFuture read = peer.channel().writeAndFlush(new RdmaRead(segment, sink.retain()));
            peer.awaitClose();
            assertTrue(read.await(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS));
            assertInstanceOf(Exception.class, read.cause(), "an RDMA Read came too late and succeeded");
            assertArrayEquals(new byte[sink.capacity()], ByteBufUtil.getBytes(sink, 0, sink.capacity()));
            sink.release();
        }
    }

    /** Calls of the same size on another connection of the same client, whose results are looked at. */
    private final class HonestLoad implements AutoCloseable {

        private static final int CALLS_IN_PROGRESS = 4;

        private final Channel listener;
        private final RdmaChannel channel;
        private final ExecutorService thread = Executors.newSingleThreadExecutor();
        private final java.util.concurrent.Future<Integer> calls;
        private volatile boolean stopped;

        HonestLoad() throws Exception {
            RpcRdma server = ShortSends.server().program(new BulkProgram(true)).binding(BulkProgram.BINDING).build();
            listener = server.configure(new ServerBootstrap().group(serverGroup).channel(RdmaServerChannel.class))
                    .bind(RawPeer.loopback()).sync().channel();
            channel = connect(listener);
            calls = thread.submit(this::call);
        }

        private int call() throws Exception {
            int count = 0;
            byte[] expected = Bytes.pattern(LENGTH, 2);
            while (!stopped) {
                List<Future<ByteBuf>> batch = new ArrayList<>();
                for (int i = 0; i < CALLS_IN_PROGRESS; i++) {
                    batch.add(channel.pipeline().get(RpcClient.class).call(new RpcRequest(BulkProgram.PROGRAM, 1,
                            BulkProgram.LOAD, Unpooled.buffer().writeInt(LENGTH).writeInt(0))));
                }
                for (Future<ByteBuf> call : batch) {
                    ByteBuf results = RpcRdmaPair.result(call);
                    assertArrayEquals(expected, ByteBufUtil.getBytes(results.skipBytes(8)));
                    results.release();
                    count++;
                }
            }
            return count;
        }

        /** Returns how many calls there were, all of them with the results that they should have. */
        int stop() throws Exception {
            stopped = true;
            return calls.get();
        }

        @Override
        public void close() {
            stopped = true;
            thread.shutdown();
            channel.close().syncUninterruptibly();
            listener.close().syncUninterruptibly();
        }
    }
}
