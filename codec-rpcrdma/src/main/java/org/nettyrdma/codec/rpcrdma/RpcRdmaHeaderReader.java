package org.nettyrdma.codec.rpcrdma;

import static org.nettyrdma.codec.rpcrdma.ChunkListReader.requireReadable;
import static org.nettyrdma.codec.rpcrdma.RpcRdmaException.malformed;

import io.netty.buffer.ByteBuf;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.ChunkError;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.Done;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.Msg;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.NoMsg;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.VersionError;

/**
 * Reads version 1 headers from bytes, and RDMA_ERRORs of any version that have the layout of version 1. Stateless, so any
 * thread may use it.
 */
final class RpcRdmaHeaderReader {

    private final ChunkListReader chunkLists;
    private final SpokenVersions spoken;

    RpcRdmaHeaderReader(RpcRdmaLimits limits) {
        this(limits, SpokenVersions.ONE);
    }

    RpcRdmaHeaderReader(RpcRdmaLimits limits, SpokenVersions spoken) {
        this.chunkLists = new ChunkListReader(limits);
        this.spoken = spoken;
    }

    /**
     * Reads a header.
     *
     * @param in the received message, with at least the fixed words; afterwards its reader index stands behind the header
     * @return the header
     * @throws RpcRdmaException if it breaks a rule; then the reader index is undefined
     */
    RpcRdmaHeader read(ByteBuf in) throws RpcRdmaException {
        int xid = in.readInt();
        int version = in.readInt();
        long credits = in.readUnsignedInt();
        int typeCode = in.readInt();
        MessageType type = MessageType.of(typeCode);
        // The error types come before the version: whoever refuses a version may quote that version in its answer.
        if (type == MessageType.RDMA_ERROR) {
            return readError(in, xid, version, credits);
        }
        if (version != RpcRdmaLayout.VERSION || !spoken.includes(RpcRdmaVersion.ONE)) {
            throw RpcRdmaException.version(version, spoken);
        }
        switch (type) {
            case RDMA_MSG:
                return new Msg(xid, credits, chunkLists.read(in, 0));
            case RDMA_NOMSG:
                ChunkLists chunks = chunkLists.read(in, 0);
                if (in.isReadable()) {
                    throw malformed("%d bytes after an RDMA_NOMSG header", in.readableBytes());
                }
                return new NoMsg(xid, credits, chunks);
            case RDMA_MSGP:
                // The hint may be ignored, the message is to be treated as RDMA_MSG (rfc5666bis-01, section 5.7.1).
                requireReadable(in, RpcRdmaLayout.ALIGNMENT_HINT_LENGTH, "alignment hint");
                in.skipBytes(RpcRdmaLayout.ALIGNMENT_HINT_LENGTH);
                return new Msg(xid, credits, chunkLists.read(in, 0));
            case RDMA_DONE:
                if (in.isReadable()) {
                    throw malformed("%d bytes after an RDMA_DONE", in.readableBytes());
                }
                return new Done(xid, credits);
            default:
                throw malformed("message type %s (expected: 0..4)", Integer.toUnsignedString(typeCode));
        }
    }

    private static RpcRdmaHeader readError(ByteBuf in, int xid, int version, long credits) throws RpcRdmaException {
        requireReadable(in, Integer.BYTES, "error code");
        int code = in.readInt();
        RpcRdmaHeader header;
        switch (code) {
            case RpcRdmaLayout.ERR_VERS:
                requireReadable(in, 2 * Integer.BYTES, "version range");
                header = new VersionError(xid, version, credits, in.readUnsignedInt(), in.readUnsignedInt());
                break;
            case RpcRdmaLayout.ERR_CHUNK:
                header = new ChunkError(xid, version, credits);
                break;
            default:
                throw malformed("RDMA_ERROR with code %s (expected: 1..2)", Integer.toUnsignedString(code));
        }
        if (in.isReadable()) {
            throw malformed("%d bytes after an RDMA_ERROR", in.readableBytes());
        }
        return header;
    }
}
