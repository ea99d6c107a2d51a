package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.code_intelligence.jazzer.api.BugDetectors;
import com.code_intelligence.jazzer.junit.FuzzTest;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.channel.RemoteAccess;
import org.nettyrdma.channel.RemoteSegment;

/**
 * Calls with any chunk lists to a real server over a real connection, several at once. Each is answered once, or the connection
 * ends; afterwards the server holds no memory for it, and serves the next connection.
 */
class ResponderFuzzTest {

    private static final int MAX_CALLS = 8;
    private static final int MEMORY_BYTES = 8192;
    private static final int LENGTH_UNIT = 16;
    /** The one before HANG and those that try the requester. */
    private static final int PROCEDURES = BulkProgram.LOAD_TWO + 1;

    private static RawClient shared;

    private final ByteBuf text = Unpooled.buffer();

    private static RawClient server() throws Exception {
        if (shared == null) {
            BugDetectors.allowNetworkConnections(); // which Jazzer takes for somebody else's wish
            shared = new RawClient(RpcRdma.server().program(new BulkProgram(true)).binding(BulkProgram.BINDING));
        }
        return shared;
    }

    @FuzzTest(maxDuration = "3s")
    void shouldAnswerOnceOrEndTheConnection(byte[] input) throws Exception {
        RawClient server = server();
        try (RawPeer peer = RawPeer.connect(server.listener, RawPeer.LINUX_CLIENT)) {
            ByteBuf memory = peer.registered(new byte[MEMORY_BYTES]);
            try {
                RemoteSegment readable = peer.expose(memory, 0, MEMORY_BYTES / 2, RemoteAccess.READ).segment();
                RemoteSegment writable = peer.expose(memory, MEMORY_BYTES / 2, MEMORY_BYTES / 2, RemoteAccess.WRITE).segment();
                requireAnswer(peer); // and more than one credit from here
                int calls = 0;
                for (ByteBuffer in = ByteBuffer.wrap(input); in.hasRemaining() && calls < MAX_CALLS; calls++) {
                    writeCall(calls + 1, in, readable, writable);
                    peer.channel().writeAndFlush(text.copy());
                }
                requireEachOnce(peer, calls);
            } finally {
                memory.release();
            }
        }
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(RpcRdmaPair.TIMEOUT_SECONDS);
        while (server.server.memory().usedBytes() != 0) {
            assertTrue(System.nanoTime() - deadline < 0, "memory is still taken");
            Thread.onSpinWait();
        }
    }

    private void requireAnswer(RawPeer peer) throws Exception {
        writeCall(0, ByteBuffer.allocate(0), null, null);
        peer.send(text.copy());
        ByteBuf answer = peer.receiveUnlessClosed();
        assertNotNull(answer);
        answer.release();
    }

    private static void requireEachOnce(RawPeer peer, int calls) throws InterruptedException {
        Set<Integer> answered = new HashSet<>();
        while (answered.size() < calls) {
            ByteBuf answer = peer.receiveUnlessClosed();
            if (answer == null) {
                return;
            }
            int xid = answer.getInt(0);
            answer.release();
            assertTrue(xid >= 1 && xid <= calls && answered.add(xid), () -> "a second answer, or one to nothing: " + xid);
        }
        assertEquals(calls, answered.size());
    }

    /** What is missing at the end of the input is zero, which makes a NULL call without chunks. */
    private void writeCall(int xid, ByteBuffer in, RemoteSegment readable, RemoteSegment writable) {
        int shape = next(in);
        boolean noMessage = (shape & 0x80) != 0;
        text.clear().writeInt(xid).writeInt(RpcRdmaLayout.VERSION).writeInt(32).writeInt(noMessage ? 1 : 0);
        for (int i = shape & 3; i > 0; i--) {
            text.writeInt(1).writeInt(next(in) * Integer.BYTES);
            writeSegment(in, readable);
        }
        text.writeInt(0);
        for (int i = shape >> 2 & 3; i > 0; i--) {
            text.writeInt(1);
            writeChunk(in, writable);
        }
        text.writeInt(0);
        boolean reply = (shape & 0x10) != 0;
        text.writeInt(reply ? 1 : 0);
        if (reply) {
            writeChunk(in, writable);
        }
        if (!noMessage) {
            writeRpcCall(xid, next(in) % PROCEDURES, in);
        }
    }

    private void writeRpcCall(int xid, int procedure, ByteBuffer in) {
        text.writeInt(xid).writeInt(0).writeInt(2).writeInt(BulkProgram.PROGRAM).writeInt(1).writeInt(procedure).writeZero(16);
        if (procedure == BulkProgram.STORE) {
            text.writeInt(BulkProgram.MARK).writeInt(next(in) * LENGTH_UNIT).writeInt(BulkProgram.MARK);
        } else if (procedure != BulkProgram.NULL) {
            text.writeInt(next(in) * LENGTH_UNIT).writeInt(next(in));
        }
    }

    private void writeChunk(ByteBuffer in, RemoteSegment target) {
        int segments = next(in) & 3;
        text.writeInt(segments);
        for (int i = 0; i < segments; i++) {
            writeSegment(in, target);
        }
    }

    private void writeSegment(ByteBuffer in, RemoteSegment whole) {
        int length = next(in) * LENGTH_UNIT;
        int kind = next(in);
        int tag = whole == null || kind == 0xff ? 0x0bad : whole.steeringTag();
        text.writeInt(tag).writeInt(kind == 0xfe ? -1 : length).writeLong(whole == null ? 0 : whole.offset() + (kind & 3));
    }

    private static int next(ByteBuffer in) {
        return in.hasRemaining() ? in.get() & 0xff : 0;
    }
}
