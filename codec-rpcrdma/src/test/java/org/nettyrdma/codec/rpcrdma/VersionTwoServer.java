package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.Future;
import java.util.ArrayList;
import java.util.List;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.codec.rpcrdma.format.HeaderDigits;

/** Our client, connected to a server of version 2 that is written by hand, when the version is settled. */
public final class VersionTwoServer implements AutoCloseable {

    static final String NO_LISTS = " 00000000 00000000 00000000 00000000 ";

    public final RawServer raw;

    public VersionTwoServer(RpcRdmaBuilder builder) throws Exception {
        this(builder, RawPeer.GROUP);
    }

    /** With a group for the client. */
    VersionTwoServer(RpcRdmaBuilder builder, EventLoopGroup group) throws Exception {
        raw = new RawServer(builder.binding(BulkProgram.BINDING).versions(VersionPolicy.V2_ONLY), group);
        Future<ByteBuf> call = raw.start(BulkProgram.NULL, Unpooled.EMPTY_BUFFER);
        String xid = receive().xid();
        raw.peer.sendHex(xid + plainReply(xid));
        RpcRdmaPair.result(call).release();
        String properties = raw.peer.receiveHex();
        assertTrue(properties.startsWith("0000000000000002") && properties.startsWith("00000005", 24), properties);
    }

    /** From the version on: a reply without chunks and without results. */
    static String plainReply(String xid) {
        return "00000002 00000020 00000000 00000001" + NO_LISTS + xid + RawServer.SUCCESS;
    }

    /** From the version on: an error; its credits mean nothing. */
    static String error(String codeAndBody) {
        return "00000002 00000000 00000004 00000001" + codeAndBody;
    }

    /** A call as it stands in a Send: version-two-08, sections 3.1 to 3.3, and what version 1 has of it. */
    public record Call(String xid, int type, int named, List<Integer> positions, List<RemoteSegment> reads,
                List<List<RemoteSegment>> writes, List<RemoteSegment> reply) {

        /** Parses a call of that version; of version 1 no handle is named. */
        public static Call parse(ByteBuf in, HeaderDigits version) {
            String xid = ByteBufUtil.hexDump(in, 0, 4);
            in.skipBytes(4);
            assertEquals(version.version(), in.readInt(), "version");
            in.skipBytes(4);
            int type = in.readInt();
            int named = 0;
            if (version == HeaderDigits.TWO) {
                assertEquals(0, in.readInt(), "flags");
                named = in.readInt();
            }
            List<Integer> positions = new ArrayList<>();
            List<RemoteSegment> reads = new ArrayList<>();
            while (in.readInt() == 1) {
                positions.add(in.readInt());
                reads.add(segment(in));
            }
            List<List<RemoteSegment>> writes = new ArrayList<>();
            while (in.readInt() == 1) {
                writes.add(segments(in));
            }
            List<RemoteSegment> reply = in.readInt() == 1 ? segments(in) : List.of();
            assertEquals(type == 1, !in.isReadable(), "RDMA_NOMSG has nothing behind it");
            return new Call(xid, type, named, positions, reads, writes, reply);
        }

        private static List<RemoteSegment> segments(ByteBuf in) {
            List<RemoteSegment> segments = new ArrayList<>();
            for (int left = in.readInt(); left > 0; left--) {
                segments.add(segment(in));
            }
            return segments;
        }

        private static RemoteSegment segment(ByteBuf in) {
            RemoteSegment segment = RawServer.segmentAt(in, in.readerIndex());
            in.skipBytes(16);
            return segment;
        }

        /** From the version on: a reply to LOAD that has placed nothing and has nothing inline either. */
        String emptyReply() {
            return "00000002 00000020 00000000 00000001 00000000 00000000 00000001 00000001"
                    + RawPeer.hex(writes.get(0).get(0).withLength(0)) + "00000000 00000000" + xid + RawServer.SUCCESS
                    + "00000000 00000000";
        }
    }

    public Call receive() throws Exception {
        ByteBuf sent = raw.peer.receive();
        try {
            return Call.parse(sent, HeaderDigits.TWO);
        } finally {
            sent.release();
        }
    }

    void refuse(Call call, String codeAndBody) throws Exception {
        raw.peer.sendHex(call.xid() + error(codeAndBody));
    }

    /** The client calls again, and has sent nothing before it. */
    public void requireAlive() throws Exception {
        Future<ByteBuf> call = raw.start(BulkProgram.ECHO, Unpooled.buffer().writeInt(0xa11e));
        ByteBuf sent = raw.peer.receive();
        String xid = ByteBufUtil.hexDump(sent, 0, 4);
        assertEquals(0xa11e, sent.getInt(sent.writerIndex() - 4), "an earlier call was sent again");
        sent.release();
        raw.peer.sendHex(xid + plainReply(xid));
        RpcRdmaPair.result(call).release();
    }

    @Override
    public void close() {
        raw.close();
    }
}
