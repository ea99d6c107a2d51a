package org.nettyrdma.codec.rpcrdma.responder;

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
import org.nettyrdma.codec.rpcrdma.BulkProgram;
import org.nettyrdma.codec.rpcrdma.RawClient;
import org.nettyrdma.codec.rpcrdma.RawPeer;
import org.nettyrdma.codec.rpcrdma.RpcRdmaBuilder;
import org.nettyrdma.codec.rpcrdma.RpcRdmaPair;
import org.nettyrdma.codec.rpcrdma.ShortSends;
import org.nettyrdma.codec.rpcrdma.VersionPolicy;
import org.nettyrdma.codec.rpcrdma.format.HeaderDigits;
import org.nettyrdma.codec.rpcrdma.format.HeaderLayout;
import org.nettyrdma.codec.rpcrdma.format.RpcRdmaDecoder;
import org.nettyrdma.codec.rpcrdma.format.VersionTwoLayout;

/**
 * Calls with any chunk lists to a real server over a real connection, several at once; in version 2 with properties, unknown
 * header types and errors between them. Each call is answered once, or the connection ends; afterwards the server holds no memory
 * for it, and serves the next connection. The first byte says how the server is built.
 */
class ResponderFuzzTest {

    private static final int MAX_CALLS = 8;
    private static final int MEMORY_BYTES = 8192;
    private static final int LENGTH_UNIT = 16;
    /** The one before HANG and those that try the requester. */
    private static final int PROCEDURES = BulkProgram.LOAD_TWO + 1;

    /** Of the first byte. */
    private static final int VERSION_TWO = 1;
    private static final int REVERSE = 2;
    /** XIDs from here on are of what is no call, and may be answered or not, but not twice. */
    private static final int NO_CALL = 0x1000;

    private static final RawClient[] SHARED = new RawClient[VERSION_TWO + REVERSE + 1];

    private final ByteBuf text = Unpooled.buffer();
    private boolean versionTwo;

    private static RawClient server(int setting) throws Exception {
        if (SHARED[setting] == null) {
            BugDetectors.allowNetworkConnections(); // which Jazzer takes for somebody else's wish
            RpcRdmaBuilder builder = ShortSends.server().program(new BulkProgram(true)).binding(BulkProgram.BINDING)
                    .versions((setting & VERSION_TWO) == 0 ? VersionPolicy.V1_ONLY : VersionPolicy.PREFER_V2);
            SHARED[setting] = new RawClient((setting & REVERSE) == 0 ? builder : builder.reverse(MAX_CALLS));
        }
        return SHARED[setting];
    }

    @FuzzTest(maxDuration = "3s")
    void shouldAnswerOnceOrEndTheConnection(byte[] input) throws Exception {
        ByteBuffer in = ByteBuffer.wrap(input);
        int setting = next(in) & (VERSION_TWO | REVERSE);
        versionTwo = (setting & VERSION_TWO) != 0;
        RawClient server = server(setting);
        try (RawPeer peer = RawPeer.connect(server.listener, RawPeer.LINUX_CLIENT)) {
            ByteBuf memory = peer.registered(new byte[MEMORY_BYTES]);
            try {
                RemoteSegment readable = peer.expose(memory, 0, MEMORY_BYTES / 2, RemoteAccess.READ).segment();
                RemoteSegment writable = peer.expose(memory, MEMORY_BYTES / 2, MEMORY_BYTES / 2, RemoteAccess.WRITE).segment();
                requireAnswer(peer); // and more than one credit from here
                int calls = 0;
                for (int i = 0; in.hasRemaining() && i < 2 * MAX_CALLS && calls < MAX_CALLS; i++) {
                    int special = versionTwo ? next(in) : 0;
                    if (isCall(special)) {
                        writeCall(calls + 1, special, in, readable, writable);
                        if (needsAnswer(setting)) {
                            calls++;
                        } else {
                            text.setInt(0, NO_CALL + i);
                        }
                    } else {
                        writeOther(NO_CALL + i, special, in);
                    }
                    peer.channel().writeAndFlush(text.copy());
                }
                requireEachOnce(peer, calls);
            } finally {
                memory.release();
            }
        }
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(RpcRdmaPair.TIMEOUT_SECONDS);
        while (server.usedBytes() != 0) {
            assertTrue(System.nanoTime() - deadline < 0, "memory is still taken");
            Thread.onSpinWait();
        }
    }

    private void requireAnswer(RawPeer peer) throws Exception {
        writeCall(0, 0, ByteBuffer.allocate(0), null, null);
        peer.send(text.copy());
        for (int i = versionTwo ? 2 : 1; i > 0; i--) { // behind the properties of the server
            ByteBuf answer = peer.receiveUnlessClosed();
            assertNotNull(answer);
            answer.release();
        }
    }

    private static void requireEachOnce(RawPeer peer, int calls) throws InterruptedException {
        Set<Integer> answered = new HashSet<>();
        int left = calls;
        while (left > 0) {
            ByteBuf answer = peer.receiveUnlessClosed();
            if (answer == null) {
                return;
            }
            int xid = answer.getInt(0);
            answer.release();
            assertTrue((xid >= 1 && xid <= calls || xid >= NO_CALL) && answered.add(xid),
                    () -> "a second answer, or one to nothing: " + xid);
            left -= xid < NO_CALL ? 1 : 0;
        }
    }

    /** Where calls go both ways, what is too short to tell which way it goes is dropped in version 1. */
    private boolean needsAnswer(int setting) {
        return versionTwo || (setting & REVERSE) == 0 || text.readableBytes() >= RpcRdmaDecoder.LEAST_LENGTH_WITH_DIRECTION;
    }

    private static boolean isCall(int special) {
        return (special & 3) == 0;
    }

    /** Properties, a header type that nobody knows, or an error, which a requester must not send. */
    private void writeOther(int xid, int special, ByteBuffer in) {
        int type = (special & 3) == 1 ? 5 : (special & 3) == 2 ? next(in) | 8 : 4;
        text.clear().writeInt(xid).writeInt(VersionTwoLayout.VERSION).writeInt(next(in)).writeInt(type).writeInt(special >> 2);
        int count = next(in) & 3;
        text.writeInt(count);
        for (int i = 0; i < count; i++) {
            text.writeInt(next(in)).writeInt(Integer.BYTES).writeInt(next(in) * LENGTH_UNIT);
        }
        text.writerIndex(text.writerIndex() - (next(in) & 7));
    }

    /** What is missing at the end of the input is zero, which makes a NULL call without chunks. */
    private void writeCall(int xid, int special, ByteBuffer in, RemoteSegment readable, RemoteSegment writable) {
        int shape = next(in);
        boolean noMessage = (shape & 0x80) != 0;
        text.clear().writeInt(xid).writeInt(versionTwo ? VersionTwoLayout.VERSION : HeaderLayout.VERSION).writeInt(32)
                .writeInt(noMessage ? 1 : 0);
        if (versionTwo) {
            int named = next(in) & 3;
            text.writeInt(special & ~HeaderDigits.RESPONSE);
            text.writeInt(named < 2 || readable == null ? named : (named == 2 ? readable : writable).steeringTag());
        }
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
