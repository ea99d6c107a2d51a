package org.nettyrdma.codec.rpcrdma.format;

import static org.nettyrdma.codec.rpcrdma.format.ChunkListReader.requireReadable;
import static org.nettyrdma.codec.rpcrdma.shared.RpcRdmaFailures.malformed;

import io.netty.buffer.ByteBuf;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException;
import org.nettyrdma.codec.rpcrdma.RpcRdmaLimits;
import org.nettyrdma.codec.rpcrdma.header.ChunkLists;
import org.nettyrdma.codec.rpcrdma.header.ErrorType;
import org.nettyrdma.codec.rpcrdma.header.HeaderExtensions;
import org.nettyrdma.codec.rpcrdma.header.HeaderType;
import org.nettyrdma.codec.rpcrdma.header.PropertySet;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaError;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.ConnectionProperties;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Extension;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Msg;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.NoMsg;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.TransportError;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.VersionError;
import org.nettyrdma.codec.rpcrdma.header.XdrType;

/** Reads version 2 headers from bytes (version-two-08, section 5). Stateless, so any thread may use it. */
final class VersionTwoHeaderReader {

    private final ChunkListReader chunkLists;
    private final HeaderExtensions extensions;

    VersionTwoHeaderReader(RpcRdmaLimits limits, HeaderExtensions extensions) {
        this.chunkLists = new ChunkListReader(limits);
        this.extensions = extensions;
    }

    /**
     * Reads a header of any type.
     *
     * @param in the received message of version 2, with at least the words that every version has; afterwards its reader index
     *           stands behind the header
     * @return the header
     * @throws RpcRdmaException if it breaks a rule; then the reader index is undefined
     */
    RpcRdmaHeader read(ByteBuf in) throws RpcRdmaException {
        int start = in.readerIndex();
        int xid = in.getInt(start); // the version is why this reader was chosen
        long credits = in.getUnsignedInt(start + HeaderLayout.CREDITS_OFFSET);
        int type = in.getInt(start + HeaderLayout.TYPE_OFFSET);
        switch (type) {
            case VersionTwoLayout.RDMA2_MSG: {
                ChunkLists chunks = readChunks(in, type);
                return new Msg(xid, VersionTwoLayout.VERSION, credits, in.getInt(start + VersionTwoLayout.FLAGS_OFFSET), chunks);
            }
            case VersionTwoLayout.RDMA2_NOMSG: {
                ChunkLists chunks = readChunks(in, type);
                return new NoMsg(xid, VersionTwoLayout.VERSION, credits, in.getInt(start + VersionTwoLayout.FLAGS_OFFSET),
                        chunks);
            }
            case VersionTwoLayout.RDMA2_ERROR:
                return readError(in, xid, credits, readFlags(in));
            case VersionTwoLayout.RDMA2_CONNPROP: {
                int flags = readFlags(in);
                PropertySet properties = readBody(in, extensions.propertySets(), "RDMA2_CONNPROP");
                requireEnd(in, "RDMA2_CONNPROP");
                return new ConnectionProperties(xid, credits, flags, properties);
            }
            default:
                HeaderType<?> extension = extensions.headerType(type);
                // Before anything else is looked at: nobody knows what else such a header would have to be like.
                if (extension == null) {
                    throw malformed(RpcRdmaError.INVALID_HEADER_TYPE, "header type %s is not supported",
                            Integer.toUnsignedString(type));
                }
                return readExtension(in, xid, credits, readFlags(in), extension);
        }
    }

    /**
     * Reads the chunks of a call or a reply.
     *
     * @param in   the received message, with at least the words that every version has; afterwards its reader index stands behind
     *             the header
     * @param type RDMA2_MSG or RDMA2_NOMSG
     * @throws RpcRdmaException if the header breaks a rule; then the reader index is undefined
     */
    ChunkLists readChunks(ByteBuf in, int type) throws RpcRdmaException {
        readFlags(in);
        requireReadable(in, Integer.BYTES, "handle to invalidate");
        ChunkLists chunks = chunkLists.read(in, in.readInt());
        if (type == VersionTwoLayout.RDMA2_NOMSG) {
            requireEnd(in, "RDMA2_NOMSG");
        }
        return chunks;
    }

    private RpcRdmaHeader readError(ByteBuf in, int xid, long credits, int flags) throws RpcRdmaException {
        requireReadable(in, Integer.BYTES, "error code");
        int code = in.readInt();
        RpcRdmaError error = switch (code) {
            case VersionTwoLayout.ERR_VERS -> new RpcRdmaError.Versions(readUint32(in, "lowest version"),
                    readUint32(in, "highest version"));
            case VersionTwoLayout.ERR_BAD_XDR -> RpcRdmaError.BAD_XDR;
            case VersionTwoLayout.ERR_INVAL_HTYPE -> RpcRdmaError.INVALID_HEADER_TYPE;
            case VersionTwoLayout.ERR_READ_CHUNKS -> new RpcRdmaError.ReadChunks(readUint32(in, "rdma_max_chunks"));
            case VersionTwoLayout.ERR_WRITE_CHUNKS -> new RpcRdmaError.WriteChunks(readUint32(in, "rdma_max_chunks"));
            case VersionTwoLayout.ERR_SEGMENTS -> new RpcRdmaError.Segments(readUint32(in, "rdma_max_segments"));
            case VersionTwoLayout.ERR_WRITE_RESOURCE -> new RpcRdmaError.WriteResource(readUint32(in, "rdma_chunk_index"),
                    readUint32(in, "rdma_length_needed"));
            case VersionTwoLayout.ERR_REPLY_RESOURCE -> new RpcRdmaError.ReplyResource(readUint32(in, "rdma_length_needed"));
            case VersionTwoLayout.ERR_SYSTEM -> RpcRdmaError.SYSTEM;
            default -> readOtherError(in, code);
        };
        requireEnd(in, "RDMA2_ERROR");
        if (error instanceof RpcRdmaError.Versions versions) {
            return new VersionError(xid, VersionTwoLayout.VERSION, credits, versions.lowest(), versions.highest());
        }
        return new TransportError(xid, credits, flags, error);
    }

    private RpcRdmaError readOtherError(ByteBuf in, int code) throws RpcRdmaException {
        ErrorType<?> type = extensions.error(code);
        return type == null ? new RpcRdmaError.Unknown(code) : readRegistered(in, type);
    }

    private static <T> RpcRdmaError readRegistered(ByteBuf in, ErrorType<T> type) throws RpcRdmaException {
        return new RpcRdmaError.Registered<>(type, readBody(in, type.body(), type.name()));
    }

    private static <T> RpcRdmaHeader readExtension(ByteBuf in, int xid, long credits, int flags, HeaderType<T> type)
            throws RpcRdmaException {
        T value = readBody(in, type.body(), type.name());
        if (!type.conveysMessage()) {
            requireEnd(in, type.name());
        }
        return new Extension<>(xid, credits, flags, type, value);
    }

    private static <T> T readBody(ByteBuf in, XdrType<T> type, String name) throws RpcRdmaException {
        try {
            return type.read(in);
        } catch (RuntimeException | Error e) { // of whatever kind: it may be somebody else's code that has read this
            throw malformed("%s: %s", name, e.getMessage());
        }
    }

    /** Reads all that stands in front of what depends on the type. */
    private static int readFlags(ByteBuf in) throws RpcRdmaException {
        in.skipBytes(HeaderLayout.FIXED_LENGTH);
        requireReadable(in, Integer.BYTES, "flags");
        return in.readInt();
    }

    private static long readUint32(ByteBuf in, String field) throws RpcRdmaException {
        requireReadable(in, Integer.BYTES, field);
        return in.readUnsignedInt();
    }

    private static void requireEnd(ByteBuf in, String what) throws RpcRdmaException {
        if (in.isReadable()) {
            throw malformed("%d bytes after the header of %s", in.readableBytes(), what);
        }
    }
}
