package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nettyrdma.codec.rpcrdma.RpcRdmaPair.awaitValue;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.util.concurrent.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nettyrdma.channel.ExposedMemory;
import org.nettyrdma.channel.RdmaServerChannel;
import org.nettyrdma.channel.RemoteAccess;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.oncrpc.RpcConnectionException;
import org.nettyrdma.codec.oncrpc.RpcServerHandler;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;

/** Connections that are lost in the middle of a call, in every phase of it. That nothing leaks is checked by the build. */
@Timeout(120)
class RpcRdmaLossTest {

    private static final String NO_CHUNKS = " 00000000 00000000 00000000 ";
    private static final String CALL = " 00000000 00000002 20000099 00000001 ";
    private static final String NO_AUTH = " 00000000 00000000 00000000 00000000 ";

    private final BulkProgram program = new BulkProgram(true);
    private final BlockingQueue<Channel> children = new LinkedBlockingQueue<>();
    private final RpcRdma server = ShortSends.server().binding(BulkProgram.BINDING).handlers(pipeline -> {
        children.add(pipeline.channel());
        pipeline.addLast(new RpcServerHandler(program));
    }).resources(ResourceLimits.DEFAULT.withMaxConnectionBytes(1)).build();
    private final CountDownLatch released = new CountDownLatch(1);
    private Channel listener;
    private RawPeer peer;
    private Channel child;

    @BeforeEach
    void connect() throws Exception {
        listener = server.configure(new ServerBootstrap().group(RawPeer.GROUP).channel(RdmaServerChannel.class))
                .bind(RawPeer.loopback()).sync().channel();
        do {
            // The two ends need loops of their own, as one of them will be held up.
            if (peer != null) {
                peer.close();
            }
            peer = RawPeer.connect(listener, RawPeer.LINUX_CLIENT);
            child = children.poll(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS);
        } while (child.eventLoop() == peer.channel().eventLoop());
    }

    @AfterEach
    void disconnect() {
        released.countDown();
        peer.close();
        listener.close().syncUninterruptibly();
    }

    @Test
    void shouldGiveUpFetchThatIsNotAnswered() throws Exception {
        ByteBuf data = peer.registered(Bytes.pattern(100_000, 1));
        ExposedMemory memory = peer.expose(data, 0, 100_000, RemoteAccess.READ);
        peer.sendHex("00000008 00000001 00000020 00000000" + NO_CHUNKS + "00000008" + CALL + "00000000" + NO_AUTH);
        peer.receive().release(); // from here there is more than one credit
        String call = "00000009 00000001 00000020 00000000 00000001 00000030" + RawPeer.hex(memory.segment()) + NO_CHUNKS
                + "00000009" + CALL + "00000002" + NO_AUTH + "00000001 000186a0 00000002";
        peer.sendAndHoldUp(released, call, call, call); // one of them is being fetched, the others wait
        awaitCounted(Counter.CALLS_WITH_READ_CHUNK, 3);

        closeChild();
        released.countDown();
        peer.awaitClose();
        data.release();
    }

    @Test
    void shouldDropReplyThatComesAfterTheEnd() throws Exception {
        peer.sendHex("00000009 00000001 00000020 00000000" + NO_CHUNKS + "00000009" + CALL + "00000005" + NO_AUTH);
        RpcCall call = program.hanging.take();
        closeChild();

        ByteBuf results = call.alloc().buffer().writeInt(1);
        call.arguments().release();
        call.reply(results);
        child.eventLoop().submit(() -> { }).sync();
        assertEquals(0, results.refCnt());
    }

    @Test
    void shouldGiveUpReplyThatIsOnItsWay() throws Exception {
        ByteBuf sink = peer.registered(new byte[16 << 10]);
        ExposedMemory memory = peer.expose(sink, 0, 16 << 10, RemoteAccess.WRITE);
        peer.sendAndHoldUp(released, "00000009 00000001 00000020 00000000 00000000 00000001 00000001"
                + RawPeer.hex(memory.segment()) + "00000000 00000000 00000009" + CALL + "00000003" + NO_AUTH
                + "00004000 00000000");
        awaitCounted(Counter.REPLIES_WITH_WRITE_CHUNK, 1);

        closeChild();
        released.countDown();
        peer.awaitClose();
        sink.release();
    }

    @Test
    void shouldEndEveryCallOnceWhenTheServerGoesAwayUnderLoad() throws Exception {
        for (int round = 0; round < 5; round++) {
            BlockingQueue<Channel> loaded = new LinkedBlockingQueue<>();
            BulkProgram program = new BulkProgram(true);
            RpcRdmaBuilder builder = ShortSends.server().binding(BulkProgram.BINDING).handlers(pipeline -> {
                loaded.add(pipeline.channel());
                pipeline.addLast(new RpcServerHandler(program));
            });
            try (RpcRdmaPair pair = new RpcRdmaPair(builder, ShortSends.client().binding(BulkProgram.BINDING))) {
                List<Future<ByteBuf>> calls = new ArrayList<>();
                for (int i = 0; i < 200; i++) {
                    calls.add(switch (i % 4) {
                        case 0 -> pair.start(BulkProgram.LOAD, pair.words(200_000, 1));
                        case 1 -> pair.start(BulkProgram.STORE, pair.storeArguments(pair.registered(new byte[200_000])));
                        case 2 -> pair.start(BulkProgram.ECHO, RpcRdmaPair.opaque(new byte[20_000]));
                        default -> pair.start(BulkProgram.NULL, Unpooled.EMPTY_BUFFER);
                    });
                }
                calls.add(pair.start(BulkProgram.HANG, Unpooled.EMPTY_BUFFER)); // outstanding however fast the others are
                assertTrue(calls.get(20 * round).await(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS));
                loaded.take().close();
                int failed = 0;
                for (Future<ByteBuf> call : calls) {
                    assertTrue(call.await(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS));
                    if (call.isSuccess()) {
                        call.getNow().release();
                    } else {
                        assertInstanceOf(RpcConnectionException.class, call.cause());
                        failed++;
                    }
                }
                assertTrue(failed > 0, "the connection was lost before the end");
            }
            program.hanging.forEach(call -> call.arguments().release());
        }
    }

    private void awaitCounted(Counter counter, int expected) {
        awaitValue(() -> Math.min(expected, server.statistics().get(counter)), expected);
    }

    private void closeChild() throws Exception {
        assertTrue(child.close().await(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS));
    }
}
