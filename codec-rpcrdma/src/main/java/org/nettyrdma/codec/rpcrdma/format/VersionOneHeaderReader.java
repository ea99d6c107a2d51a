package org.nettyrdma.codec.rpcrdma.format;

import static org.nettyrdma.codec.rpcrdma.format.ChunkListReader.requireReadable;
import static org.nettyrdma.codec.rpcrdma.shared.RpcRdmaFailures.malformed;

import io.netty.buffer.ByteBuf;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException;
import org.nettyrdma.codec.rpcrdma.RpcRdmaLimits;
import org.nettyrdma.codec.rpcrdma.header.ChunkLists;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.ChunkError;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Done;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Msg;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.NoMsg;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.VersionError;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaVersion;
import org.nettyrdma.codec.rpcrdma.shared.RpcRdmaFailures;

/**
 * Reads version 1 headers from bytes, and RDMA_ERRORs of any version that have the layout of version 1. Stateless, so any
 * thread may use it.
 */
final class VersionOneHeaderReader {

    private final ChunkListReader chunkLists;
    private final SpokenVersions spoken;
    private final boolean isSpoken;

    VersionOneHeaderReader(RpcRdmaLimits limits, SpokenVersions spoken) {
        this.chunkLists = new ChunkListReader(limits);
        this.spoken = spoken;
        this.isSpoken = spoken.includes(RpcRdmaVersion.ONE);
    }

    /**
     * Reads a header.
     *
     * @param in the received message, with at least the fixed words; afterwards its reader index stands behind the header
     * @return the header
     * @throws RpcRdmaException if it breaks a rule; then the reader index is undefined
     */
    RpcRdmaHeader read(ByteBuf in) throws RpcRdmaException {
        int start = in.readerIndex();
        int xid = in.getInt(start);
        long credits = in.getUnsignedInt(start + HeaderLayout.CREDITS_OFFSET);
        MessageType type = MessageType.of(in.getInt(start + HeaderLayout.TYPE_OFFSET));
        return switch (type) {
            // Of any version: whoever refuses a version may quote that version in its answer.
            case RDMA_ERROR -> readError(in, xid, in.getInt(start + HeaderLayout.VERSION_OFFSET), credits);
            case RDMA_MSG, RDMA_MSGP -> new Msg(xid, credits, readChunks(in, type));
            case RDMA_NOMSG -> new NoMsg(xid, credits, readChunks(in, type));
            case RDMA_DONE -> {
                skipFixed(in);
                if (in.isReadable()) {
                    throw malformed("%d bytes after an RDMA_DONE", in.readableBytes());
                }
                yield new Done(xid, credits);
            }
            case UNKNOWN -> {
                skipFixed(in);
                throw malformed("message type %s (expected: 0..4)",
                        Integer.toUnsignedString(in.getInt(start + HeaderLayout.TYPE_OFFSET)));
            }
        };
    }

    /**
     * Reads the chunks of a call or a reply.
     *
     * @param in   the received message, with at least the fixed words; afterwards its reader index stands behind the header
     * @param type RDMA_MSG, RDMA_NOMSG or RDMA_MSGP
     * @throws RpcRdmaException if the header breaks a rule; then the reader index is undefined
     */
    ChunkLists readChunks(ByteBuf in, MessageType type) throws RpcRdmaException {
        skipFixed(in);
        if (type == MessageType.RDMA_MSGP) {
            // Taken for RDMA_MSG, whatever its hint says (rfc5666bis-01, section 5.7.1). RFC 8166, section 4.6.1 reserves the
            // type.
            requireReadable(in, HeaderLayout.ALIGNMENT_HINT_LENGTH, "alignment hint");
            in.skipBytes(HeaderLayout.ALIGNMENT_HINT_LENGTH);
        }
        ChunkLists chunks = chunkLists.read(in, 0);
        if (type == MessageType.RDMA_NOMSG && in.isReadable()) {
            throw malformed("%d bytes after an RDMA_NOMSG header", in.readableBytes());
        }
        return chunks;
    }

    /** The fixed words of anything but an error. */
    private void skipFixed(ByteBuf in) throws RpcRdmaException {
        int version = in.getInt(in.readerIndex() + HeaderLayout.VERSION_OFFSET);
        if (version != HeaderLayout.VERSION || !isSpoken) {
            throw RpcRdmaFailures.version(version, spoken);
        }
        in.skipBytes(HeaderLayout.FIXED_LENGTH);
    }

    private static RpcRdmaHeader readError(ByteBuf in, int xid, int version, long credits) throws RpcRdmaException {
        in.skipBytes(HeaderLayout.FIXED_LENGTH);
        requireReadable(in, Integer.BYTES, "error code");
        int code = in.readInt();
        RpcRdmaHeader header;
        switch (code) {
            case HeaderLayout.ERR_VERS:
                requireReadable(in, 2 * Integer.BYTES, "version range");
                header = new VersionError(xid, version, credits, in.readUnsignedInt(), in.readUnsignedInt());
                break;
            case HeaderLayout.ERR_CHUNK:
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
