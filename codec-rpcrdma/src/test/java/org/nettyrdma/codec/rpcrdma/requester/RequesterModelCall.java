package org.nettyrdma.codec.rpcrdma.requester;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.concurrent.Future;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.nettyrdma.channel.RdmaRead;
import org.nettyrdma.channel.RdmaWrite;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.codec.rpcrdma.BulkProgram;
import org.nettyrdma.codec.rpcrdma.Bytes;
import org.nettyrdma.codec.rpcrdma.RawPeer;
import org.nettyrdma.codec.rpcrdma.RawServer;
import org.nettyrdma.codec.rpcrdma.RpcRdmaPair;
import org.nettyrdma.codec.rpcrdma.VersionTwoServer;
import org.nettyrdma.codec.rpcrdma.format.HeaderDigits;
import org.nettyrdma.codec.rpcrdma.format.HeaderLayout;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaError;

/** A call of {@link RequesterModel}, as client and server know it, and the server's half of serving it. */
final class RequesterModelCall {

    /** The procedures, each with another shape of chunks. */
    enum Procedure {
        NULL(BulkProgram.NULL, 0), LOAD(BulkProgram.LOAD, 1), LOAD_TWO(BulkProgram.LOAD_TWO, 2), STORE(BulkProgram.STORE, 0);

        final int number;
        final int writeChunks;

        Procedure(int number, int writeChunks) {
            this.number = number;
            this.writeChunks = writeChunks;
        }
    }

    static final int DATA_BYTES = 5000;
    static final int STORED_BYTES = 9000;
    private static final int STORED_PIECES = 3;
    /** From the XID to the data of STORE. */
    private static final int STORED_POSITION = 48;

    final int xid;
    final Procedure procedure;
    final AtomicInteger completions = new AtomicInteger();
    Future<ByteBuf> future;
    /** What the client knew when it planned the call; the size is 0 before. */
    int plannedBytes;
    ResponderLimits plannedWithin = ResponderLimits.UNKNOWN;
    /** As the server has received it last. */
    VersionTwoServer.Call sent;
    /** What the server has said when it refused it. */
    RpcRdmaError refusal;

    RequesterModelCall(int xid, Procedure procedure) {
        this.xid = xid;
        this.procedure = procedure;
    }

    ByteBuf arguments(ByteBufAllocator alloc) {
        return switch (procedure) {
            case NULL -> Unpooled.EMPTY_BUFFER;
            case LOAD -> Unpooled.buffer().writeInt(DATA_BYTES).writeInt(0);
            case LOAD_TWO -> Unpooled.buffer().writeInt(DATA_BYTES).writeInt(DATA_BYTES);
            case STORE -> inPieces(alloc);
        };
    }

    private static ByteBuf inPieces(ByteBufAllocator alloc) {
        CompositeByteBuf arguments = alloc.compositeBuffer()
                .addComponent(true, alloc.buffer().writeInt(BulkProgram.MARK).writeInt(STORED_BYTES));
        int length = STORED_BYTES / STORED_PIECES;
        for (int i = 0; i < STORED_PIECES; i++) {
            arguments.addComponent(true, alloc.directBuffer(length).writeBytes(Bytes.pattern(length, i)));
        }
        return arguments.addComponent(true, alloc.buffer().writeInt(BulkProgram.MARK));
    }

    /** The smallest Send in which the call, with what it offers, can travel at all; then it goes into a Read chunk. */
    int leastBytes(HeaderDigits version, ResponderLimits limits) {
        int offer = procedure.writeChunks == 0 ? 0
                : procedure.writeChunks > limits.maxWriteChunks() ? 20 : 24 * procedure.writeChunks;
        return version.chunkFreeLength() + offer + HeaderLayout.READ_ENTRY_LENGTH;
    }

    void started(Future<ByteBuf> call) {
        future = call;
        call.addListener(done -> completions.incrementAndGet());
    }

    boolean isCancelled() {
        return future.isCancelled();
    }

    boolean hasChunks() {
        return !sent.reads().isEmpty() || !sent.writes().isEmpty() || !sent.reply().isEmpty();
    }

    /** The server has received the call; what it requires of it goes for each call, the first time and again. */
    void received(VersionTwoServer.Call call, int length, HeaderDigits version) {
        assertEquals(HeaderDigits.words(xid), call.xid(), "calls come in their order");
        assertTrue(length <= plannedBytes, "message of " + length + " bytes");
        assertTrue(call.writes().size() <= plannedWithin.maxWriteChunks(), "Write chunks");
        assertTrue(plannedWithin.maxReadChunks() > 0 || call.positions().stream().allMatch(at -> at == 0), "Read chunks");
        assertTrue(call.reads().size() <= plannedWithin.maxSegments(), "segments");
        if (refusal == null) {
            boolean loads = procedure.writeChunks > 0;
            boolean fallsBack = procedure.writeChunks > plannedWithin.maxWriteChunks();
            assertEquals(loads && !fallsBack ? procedure.writeChunks : 0, call.writes().size());
            assertEquals(loads && fallsBack, !call.reply().isEmpty());
        } else {
            requireRemedy(call);
        }
        long exposed = call.reads().stream().mapToLong(RemoteSegment::length).sum();
        assertEquals(0, version == HeaderDigits.ONE ? call.named() : 0);
        assertEquals(version == HeaderDigits.TWO && hasAny(call), call.named() != 0, "the handle that is named");
        assertTrue(procedure != Procedure.STORE || exposed >= STORED_BYTES);
        sent = call;
    }

    private static boolean hasAny(VersionTwoServer.Call call) {
        return !call.reads().isEmpty() || !call.writes().isEmpty() || !call.reply().isEmpty();
    }

    private void requireRemedy(VersionTwoServer.Call again) {
        if (refusal instanceof RpcRdmaError.WriteResource needed) {
            assertTrue(again.writes().isEmpty() || needed.lengthNeededBytes()
                    <= again.writes().get((int) needed.chunkIndex() - 1).get(0).length(), "Write chunk");
        } else if (refusal instanceof RpcRdmaError.ReplyResource needed) {
            assertEquals(List.of(), again.writes());
            assertTrue(needed.lengthNeededBytes() <= again.reply().get(0).length(), "Reply chunk");
        }
        long offered = again.reply().stream().mapToLong(RemoteSegment::length).sum();
        for (List<RemoteSegment> chunk : again.writes()) {
            offered += chunk.stream().mapToLong(RemoteSegment::length).sum();
        }
        assertTrue(offered <= RequesterModel.MAX_MESSAGE_BYTES, "memory offered");
    }

    /** Whether the client has to send the call again, {@code null} if that depends on what has changed in the meantime. */
    Boolean remedy(RpcRdmaError error, int sendBytes, ResponderLimits limits) {
        if (Math.min(sendBytes, plannedBytes) < RequesterModel.FIRST_MESSAGE_BYTES || !plannedWithin.equals(limits)) {
            return null;
        }
        if (error instanceof RpcRdmaError.ReadChunks read) {
            return sent.type() == HeaderDigits.MSG && !sent.reads().isEmpty() && read.max() == 0;
        } else if (error instanceof RpcRdmaError.WriteChunks write) {
            return sent.writes().size() > write.max();
        } else if (error instanceof RpcRdmaError.Segments segments) {
            return segments.max() == 0 || sent.reads().isEmpty() ? Boolean.FALSE
                    : sent.reads().size() > segments.max() ? Boolean.TRUE : null;
        } else if (error instanceof RpcRdmaError.WriteResource write) {
            if (write.chunkIndex() < 1 || write.chunkIndex() > sent.writes().size()) {
                return false;
            }
            long offered = sent.writes().get((int) write.chunkIndex() - 1).get(0).length();
            long all = sent.writes().stream().mapToLong(chunk -> chunk.get(0).length()).sum();
            return write.lengthNeededBytes() > offered && all - offered
                    + write.lengthNeededBytes() <= RequesterModel.MAX_MESSAGE_BYTES;
        } else if (error instanceof RpcRdmaError.ReplyResource reply) {
            long offered = sent.reply().isEmpty() ? 0 : sent.reply().get(0).length();
            return reply.lengthNeededBytes() > 0 && reply.lengthNeededBytes() <= RequesterModel.MAX_MESSAGE_BYTES
                    && (!sent.writes().isEmpty() || reply.lengthNeededBytes() > offered);
        }
        return false;
    }

    /** Reads what the call lets the server read, if anything. */
    void requireReadable(RawPeer peer) throws Exception {
        if (procedure != Procedure.STORE) {
            return;
        }
        ByteBuf all = Unpooled.buffer();
        for (RemoteSegment segment : sent.reads()) {
            int length = (int) segment.length();
            ByteBuf part = peer.channel().alloc().directBuffer(length, length);
            peer.send(new RdmaRead(segment, part.retain()));
            all.writeBytes(part);
            part.release();
        }
        int start = sent.type() == HeaderDigits.NOMSG ? STORED_POSITION : 0;
        byte[] piece = ByteBufUtil.getBytes(all, start + 2 * STORED_BYTES / STORED_PIECES, STORED_BYTES / STORED_PIECES);
        assertArrayEquals(Bytes.pattern(piece.length, 2), piece);
    }

    /** Writes the results that go by RDMA Write, and returns the message that goes behind them. */
    String reply(RawPeer peer, HeaderDigits version, int credits, int flags, int named, int seed, boolean touch) {
        String rpc = HeaderDigits.words(xid) + RawServer.SUCCESS;
        byte[] data = Bytes.pattern(DATA_BYTES, seed);
        if (!sent.writes().isEmpty()) {
            StringBuilder lists = new StringBuilder("00000000");
            for (List<RemoteSegment> chunk : sent.writes()) {
                if (touch) {
                    peer.channel().write(new RdmaWrite(Unpooled.wrappedBuffer(data), chunk.get(0)));
                }
                lists.append("00000001 00000001").append(RawPeer.hex(chunk.get(0).withLength(DATA_BYTES)));
            }
            String reduced = HeaderDigits.words(procedure == Procedure.LOAD ? new int[] {0, DATA_BYTES}
                    : new int[] {DATA_BYTES, BulkProgram.MARK, DATA_BYTES, BulkProgram.MARK});
            return version.message(xid, credits, HeaderDigits.MSG, flags, named, lists + "00000000 00000000" + rpc + reduced);
        }
        ByteBuf whole = Unpooled.buffer().writeBytes(Bytes.hex(rpc));
        try {
            whole.writeBytes(results(seed));
            if (sent.reply().isEmpty()) {
                return version.message(xid, credits, HeaderDigits.MSG, flags, named, HeaderDigits.NO_CHUNKS + Bytes.hex(whole));
            }
            RemoteSegment target = sent.reply().get(0).withLength(whole.readableBytes());
            if (touch) {
                peer.channel().write(new RdmaWrite(whole.copy(), target));
            }
            return version.message(xid, credits, HeaderDigits.NOMSG, flags, named,
                    "00000000 00000000 00000001 00000001" + RawPeer.hex(target));
        } finally {
            whole.release();
        }
    }

    void requireResult(int seed) throws Exception {
        ByteBuf result = RpcRdmaPair.result(future);
        byte[] received = ByteBufUtil.getBytes(result);
        result.release();
        assertTrue(Arrays.equals(results(seed), received), "the results of " + procedure);
    }

    private byte[] results(int seed) {
        ByteBuf expected = Unpooled.buffer();
        byte[] data = Bytes.pattern(DATA_BYTES, seed);
        switch (procedure) {
            case NULL -> { }
            case LOAD -> {
                expected.writeInt(0);
                Xdr.writeOpaque(expected, data);
            }
            case LOAD_TWO -> {
                Xdr.writeOpaque(expected, data);
                expected.writeInt(BulkProgram.MARK);
                Xdr.writeOpaque(expected, data);
                expected.writeInt(BulkProgram.MARK);
            }
            case STORE -> expected.writeInt(STORED_BYTES).writeInt(seed).writeInt(BulkProgram.MARK);
        }
        return ByteBufUtil.getBytes(expected);
    }
}
