package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.code_intelligence.jazzer.api.BugDetectors;
import com.code_intelligence.jazzer.junit.FuzzTest;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.concurrent.Future;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.channel.RdmaSend;
import org.nettyrdma.channel.RdmaWrite;
import org.nettyrdma.channel.RemoteSegment;

/**
 * Whatever a server makes of calls of a real client over a real connection: replies with any lists, in any order, with and without
 * invalidation, RDMA Writes, errors, cut messages. Each call ends, and afterwards the client holds no memory for any.
 */
class RequesterFuzzTest {

    private static final int CALLS = 4;
    private static final int DATA_BYTES = 8000;
    private static final int MAX_STEPS = 12;
    private static final int LENGTH_UNIT = 32;

    private final ByteBuf text = Unpooled.buffer();
    private final List<ByteBuf> received = new ArrayList<>();

    @FuzzTest(maxDuration = "3s")
    void shouldEndEachCall(byte[] input) throws Exception {
        BugDetectors.allowNetworkConnections(); // which Jazzer takes for somebody else's wish
        List<Future<ByteBuf>> calls = new ArrayList<>();
        RpcRdma client;
        try (RawServer server = new RawServer(RpcRdma.client().binding(BulkProgram.BINDING))) {
            client = server.client;
            server.requireAlive(); // and more than one credit from here
            for (int i = 0; i < CALLS; i++) {
                calls.add(server.start(BulkProgram.LOAD, Unpooled.buffer().writeInt(DATA_BYTES).writeInt(0)));
                received.add(server.peer.receive());
            }
            ByteBuffer in = ByteBuffer.wrap(input);
            for (int step = 0; in.hasRemaining() && step < MAX_STEPS; step++) {
                happen(server.peer, in);
            }
        } finally {
            received.forEach(ByteBuf::release);
            received.clear();
        }
        for (Future<ByteBuf> call : calls) {
            assertTrue(call.await(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS), "a call has not ended");
            if (call.isSuccess()) {
                call.getNow().release();
            }
        }
        awaitMemory(client);
    }

    private static void awaitMemory(RpcRdma client) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(RpcRdmaPair.TIMEOUT_SECONDS);
        while (client.memory().usedBytes() != 0) {
            assertTrue(System.nanoTime() - deadline < 0, "memory is still taken");
            Thread.onSpinWait();
        }
    }

    /** Not awaited: the client may have ended the connection. */
    private void happen(RawPeer peer, ByteBuffer in) {
        int what = next(in);
        ByteBuf call = received.get(next(in) % CALLS);
        RemoteSegment offered = RawServer.segmentAt(call, 28);
        switch (what & 3) {
            case 0 -> {
                ByteBuf data = peer.registered(new byte[next(in) * LENGTH_UNIT + 1]);
                peer.channel().writeAndFlush(new RdmaWrite(data, offered.withLength(data.readableBytes())));
            }
            case 1 -> writeError(call, in);
            default -> writeReply(call, offered, what, in);
        }
        if ((what & 3) == 0) {
            return;
        }
        int cut = (what & 0x40) == 0 ? 0 : next(in) % (text.readableBytes() + 1);
        ByteBuf message = text.copy(0, text.readableBytes() - cut);
        peer.channel().writeAndFlush((what & 0x80) == 0 ? message : new RdmaSend(message, offered.steeringTag()));
    }

    private void writeError(ByteBuf call, ByteBuffer in) {
        int code = next(in);
        text.clear().writeInt(call.getInt(0)).writeInt(1).writeInt(next(in)).writeInt(4).writeInt(code);
        if (code == 1) {
            text.writeInt(next(in)).writeInt(next(in));
        }
    }

    private void writeReply(ByteBuf call, RemoteSegment offered, int what, ByteBuffer in) {
        boolean noMessage = (what & 3) == 3;
        text.clear().writeInt(call.getInt(0)).writeInt(1).writeInt(next(in)).writeInt(noMessage ? 1 : 0);
        text.writeInt(0);
        for (int i = what >> 2 & 3; i > 0; i--) {
            text.writeInt(1);
            writeChunk(offered, in);
        }
        text.writeInt(0);
        boolean replyChunk = (what & 0x10) != 0;
        text.writeInt(replyChunk ? 1 : 0);
        if (replyChunk) {
            writeChunk(offered, in);
        }
        if (!noMessage) {
            text.writeInt(call.getInt(0)).writeInt(1).writeZero(16);
            text.writeInt((what & 0x20) == 0 ? DATA_BYTES : next(in) * LENGTH_UNIT).writeZero(next(in) & 0x0c);
        }
    }

    private void writeChunk(RemoteSegment offered, ByteBuffer in) {
        int segments = next(in) & 3;
        text.writeInt(segments);
        for (int i = 0; i < segments; i++) {
            int length = next(in);
            text.writeInt(offered.steeringTag()).writeInt(length == 0xff ? DATA_BYTES : length * LENGTH_UNIT).writeLong(offered.offset());
        }
    }

    private static int next(ByteBuffer in) {
        return in.hasRemaining() ? in.get() & 0xff : 0;
    }
}
