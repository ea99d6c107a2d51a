package org.nettyrdma.codec.rpcrdma.format;

import io.netty.buffer.ByteBuf;
import org.nettyrdma.codec.rpcrdma.header.ChunkLists;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.ChunkError;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Done;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.NoMsg;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.VersionError;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.WithChunks;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaVersion;

/** Writes version 1 headers as bytes. Stateless. */
final class VersionOneHeaderWriter {

    private VersionOneHeaderWriter() {
    }

    /** The length of the header in bytes, without the RPC message. */
    static int lengthOf(RpcRdmaHeader header) {
        if (header instanceof WithChunks message) {
            return RpcRdmaVersion.ONE.headerLength(message.chunks());
        }
        if (header instanceof Done) {
            return HeaderLayout.FIXED_LENGTH;
        }
        return header instanceof VersionError ? HeaderLayout.ERR_VERS_LENGTH : HeaderLayout.ERR_CHUNK_LENGTH;
    }

    /** Appends the header to {@code out}, which has room for {@link #lengthOf} bytes. */
    static void write(RpcRdmaHeader header, ByteBuf out) {
        if (header instanceof WithChunks message) {
            writeConveying(header.xid(), header.version(), header.credits(), message instanceof NoMsg, message.chunks(), out);
        } else if (header instanceof VersionError error) {
            writeFixed(header, MessageType.RDMA_ERROR, out);
            out.writeInt(HeaderLayout.ERR_VERS);
            out.writeInt((int) error.lowestVersion());
            out.writeInt((int) error.highestVersion());
        } else if (header instanceof ChunkError) {
            writeFixed(header, MessageType.RDMA_ERROR, out);
            out.writeInt(HeaderLayout.ERR_CHUNK);
        } else if (header instanceof Done) {
            writeFixed(header, MessageType.RDMA_DONE, out);
        } else {
            throw new IllegalArgumentException("not a header of version 1 that can be sent: " + header);
        }
    }

    /** Appends the header of a call or a reply, given by its fields. */
    static void writeConveying(int xid, int version, long credits, boolean noMsg, ChunkLists chunks, ByteBuf out) {
        writeFixed(xid, version, credits, noMsg ? MessageType.RDMA_NOMSG : MessageType.RDMA_MSG, out);
        ChunkListWriter.write(chunks, out);
    }

    private static void writeFixed(RpcRdmaHeader header, MessageType type, ByteBuf out) {
        writeFixed(header.xid(), header.version(), header.credits(), type, out);
    }

    private static void writeFixed(int xid, int version, long credits, MessageType type, ByteBuf out) {
        out.writeLong((long) xid << 32 | version & 0xFFFF_FFFFL);
        out.writeLong(credits << 32 | type.code());
    }
}
