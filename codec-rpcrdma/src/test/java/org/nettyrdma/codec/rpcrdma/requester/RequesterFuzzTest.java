package org.nettyrdma.codec.rpcrdma.requester;

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
import org.nettyrdma.codec.rpcrdma.BulkProgram;
import org.nettyrdma.codec.rpcrdma.RawPeer;
import org.nettyrdma.codec.rpcrdma.RawServer;
import org.nettyrdma.codec.rpcrdma.RpcRdma;
import org.nettyrdma.codec.rpcrdma.RpcRdmaBuilder;
import org.nettyrdma.codec.rpcrdma.RpcRdmaPair;
import org.nettyrdma.codec.rpcrdma.ShortSends;
import org.nettyrdma.codec.rpcrdma.VersionPolicy;
import org.nettyrdma.codec.rpcrdma.format.HeaderDigits;

/**
 * Whatever a server makes of calls of a real client over a real connection: replies with any lists, in any order, with and
 * without invalidation, RDMA Writes, errors, cut messages; in version 2 properties, unknown header types and calls of its own as
 * well. Each call ends, and afterwards the client holds no memory for any. The first byte says how the client is built.
 */
class RequesterFuzzTest {

    private static final int CALLS = 4;
    private static final int DATA_BYTES = 8000;
    private static final int MAX_STEPS = 12;
    private static final int LENGTH_UNIT = 32;
    /** Of the first byte. */
    private static final int VERSION_TWO = 1;
    private static final int REVERSE = 2;
    /** The first answer is one of those that the input makes. */
    private static final int UNSETTLED = 4;

    private final ByteBuf text = Unpooled.buffer();
    private HeaderDigits version;
    /** In version 2: of the message that is being made. */
    private int flags;
    private final List<ByteBuf> received = new ArrayList<>();

    @FuzzTest(maxDuration = "3s")
    void shouldEndEachCall(byte[] input) throws Exception {
        BugDetectors.allowNetworkConnections(); // which Jazzer takes for somebody else's wish
        List<Future<ByteBuf>> calls = new ArrayList<>();
        ByteBuffer in = ByteBuffer.wrap(input);
        int setting = next(in);
        version = (setting & VERSION_TWO) == 0 ? HeaderDigits.ONE : HeaderDigits.TWO;
        RpcRdma client;
        try (RawServer server = new RawServer(builder(setting))) {
            client = server.client;
            boolean settled = (setting & UNSETTLED) == 0;
            if (settled) {
                settle(server);
            }
            for (int i = 0; i < CALLS; i++) {
                calls.add(server.start(BulkProgram.LOAD, Unpooled.buffer().writeInt(DATA_BYTES).writeInt(0)));
                if (settled || i == 0) {
                    received.add(server.peer.receive());
                }
            }
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

    private static RpcRdmaBuilder builder(int setting) {
        RpcRdmaBuilder builder = ShortSends.client().binding(BulkProgram.BINDING)
                .versions((setting & VERSION_TWO) == 0 ? VersionPolicy.V1_ONLY : VersionPolicy.PREFER_V2);
        return (setting & REVERSE) == 0 ? builder : builder.reverse(CALLS).program(new BulkProgram(true));
    }

    /** A first call is answered, and from here on there is more than one credit. */
    private void settle(RawServer server) throws Exception {
        Future<ByteBuf> call = server.start(BulkProgram.NULL, Unpooled.EMPTY_BUFFER);
        int xid = Integer.parseUnsignedInt(server.peer.receiveHex().substring(0, 8), 16);
        server.peer.sendHex(version.message(xid, 32, HeaderDigits.MSG, HeaderDigits.RESPONSE, 0,
                HeaderDigits.NO_CHUNKS + HeaderDigits.words(xid) + RawServer.SUCCESS));
        RpcRdmaPair.result(call).release();
        if (version == HeaderDigits.TWO) {
            server.peer.receive().release(); // the properties of the client
        }
    }

    private static void awaitMemory(RpcRdma client) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(RpcRdmaPair.TIMEOUT_SECONDS);
        while (RpcRdmaPair.usedBytes(client) != 0) {
            assertTrue(System.nanoTime() - deadline < 0, "memory is still taken");
            Thread.onSpinWait();
        }
    }

    /** Not awaited: the client may have ended the connection. */
    private void happen(RawPeer peer, ByteBuffer in) {
        int special = version == HeaderDigits.ONE ? 0 : next(in);
        flags = (special & 0xf0) << 8 | ((special & 0x08) == 0 ? HeaderDigits.RESPONSE : 0);
        switch (special & 7) {
            case 1 -> send(peer, properties(in), next(in), 0);
            case 2 -> send(peer, unknownType(in), next(in), 0);
            case 3 -> send(peer, reverseCall(in), next(in), 0);
            default -> answer(peer, in);
        }
    }

    private void answer(RawPeer peer, ByteBuffer in) {
        int what = next(in);
        ByteBuf call = received.get(next(in) % received.size());
        RemoteSegment offered = RawServer.segmentAt(call, version.chunkFreeLength());
        switch (what & 3) {
            case 0 -> {
                ByteBuf data = peer.registered(new byte[next(in) * LENGTH_UNIT + 1]);
                peer.channel().writeAndFlush(new RdmaWrite(data, offered.withLength(data.readableBytes())));
                return;
            }
            case 1 -> writeError(call, in);
            default -> writeReply(call, offered, what, in);
        }
        send(peer, text, (what & 0x40) == 0 ? 0 : next(in), (what & 0x80) == 0 ? 0 : offered.steeringTag());
    }

    /** Without some bytes at its end. */
    private static void send(RawPeer peer, ByteBuf whole, int missing, int invalidated) {
        ByteBuf message = whole.copy(0, whole.readableBytes() - missing % (whole.readableBytes() + 1));
        peer.channel().writeAndFlush(invalidated == 0 ? message : new RdmaSend(message, invalidated));
    }

    private void writePrefix(int xid, int type, ByteBuffer in) {
        text.clear().writeInt(xid).writeInt(version.version()).writeInt(next(in)).writeInt(type);
        if (version == HeaderDigits.TWO) {
            text.writeInt(flags);
        }
    }

    private ByteBuf properties(ByteBuffer in) {
        writePrefix(0, 5, in);
        int count = next(in) & 3;
        text.writeInt(count);
        for (int i = 0; i < count; i++) {
            text.writeInt(next(in)).writeInt(Integer.BYTES).writeInt(next(in) * LENGTH_UNIT);
        }
        return text;
    }

    private ByteBuf unknownType(ByteBuffer in) {
        int xid = received.get(next(in) % received.size()).getInt(0);
        writePrefix(xid, next(in), in);
        return text.writeInt(next(in)).writeInt(next(in));
    }

    private ByteBuf reverseCall(ByteBuffer in) {
        flags &= ~HeaderDigits.RESPONSE;
        int shape = next(in);
        writePrefix(shape, shape & 1, in);
        text.writeInt(next(in)); // the handle that is named
        for (int i = 0; i < 3; i++) {
            boolean chunk = (shape >> 1 + i & 1) != 0;
            text.writeInt(chunk ? 1 : 0);
            if (chunk) {
                text.writeInt(i == 0 ? next(in) : 1).writeInt(0x0bad).writeInt(next(in)).writeLong(0);
                text.writeZero(i == 2 ? 0 : Integer.BYTES);
            }
        }
        return (shape & 1) != 0 ? text : text.writeInt(shape).writeInt(0).writeInt(2).writeInt(BulkProgram.PROGRAM).writeInt(1)
                .writeInt(next(in) & 1).writeZero(16);
    }

    private void writeError(ByteBuf call, ByteBuffer in) {
        int code = next(in);
        writePrefix(call.getInt(0), 4, in);
        text.writeInt(code);
        int words = code == 1 ? 2 : version == HeaderDigits.ONE || code < 4 || code > 8 ? 0 : code == 7 ? 2 : 1;
        for (int i = 0; i < words; i++) {
            text.writeInt(code < 7 || code == 7 && i == 0 ? next(in) : next(in) << 8);
        }
    }

    private void writeReply(ByteBuf call, RemoteSegment offered, int what, ByteBuffer in) {
        boolean noMessage = (what & 3) == 3;
        writePrefix(call.getInt(0), noMessage ? 1 : 0, in);
        if (version == HeaderDigits.TWO) {
            text.writeInt(0); // the handle to invalidate, which calls have
        }
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
            text.writeInt(offered.steeringTag()).writeInt(length == 0xff ? DATA_BYTES : length * LENGTH_UNIT)
                    .writeLong(offered.offset());
        }
    }

    private static int next(ByteBuffer in) {
        return in.hasRemaining() ? in.get() & 0xff : 0;
    }
}
