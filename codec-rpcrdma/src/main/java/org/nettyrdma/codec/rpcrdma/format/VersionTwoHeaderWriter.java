package org.nettyrdma.codec.rpcrdma.format;

import io.netty.buffer.ByteBuf;
import org.nettyrdma.codec.rpcrdma.header.ChunkLists;
import org.nettyrdma.codec.rpcrdma.header.HeaderExtensions;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaError;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.ConnectionProperties;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Extension;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.NoMsg;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.TransportError;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.WithChunks;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaVersion;

/** Writes version 2 headers as bytes (version-two-08, section 5). Stateless. */
final class VersionTwoHeaderWriter {

    private final HeaderExtensions extensions;

    VersionTwoHeaderWriter(HeaderExtensions extensions) {
        this.extensions = extensions;
    }

    /** The length of the header in bytes, without what follows it. */
    int lengthOf(RpcRdmaHeader header) {
        if (header instanceof WithChunks message) {
            return RpcRdmaVersion.TWO.headerLength(message.chunks());
        }
        if (header instanceof TransportError error) {
            return VersionTwoLayout.PREFIX_LENGTH + Integer.BYTES + bodyLength(error.error());
        }
        if (header instanceof ConnectionProperties message) {
            return VersionTwoLayout.PREFIX_LENGTH + extensions.propertySets().lengthOf(message.properties());
        }
        if (header instanceof Extension<?> message) {
            return VersionTwoLayout.PREFIX_LENGTH + bodyLength(message);
        }
        throw new IllegalArgumentException("not a header of version 2 that can be sent: " + header);
    }

    /**
     * Appends the header to {@code out}, which has room for {@link #lengthOf} bytes.
     *
     * @param flags the flag word, with RPCRDMA2_F_RESPONSE where it belongs
     */
    void write(RpcRdmaHeader header, int flags, ByteBuf out) {
        requireRegistered(flags);
        if (header instanceof WithChunks message) {
            writeConveying(header.xid(), header.credits(), message instanceof NoMsg, flags, message.chunks(), out);
        } else if (header instanceof TransportError error) {
            writePrefix(header, VersionTwoLayout.RDMA2_ERROR, flags, out);
            out.writeInt(error.error().code());
            writeBody(error.error(), out);
        } else if (header instanceof ConnectionProperties message) {
            writePrefix(header, VersionTwoLayout.RDMA2_CONNPROP, flags, out);
            extensions.propertySets().write(message.properties(), out);
        } else if (header instanceof Extension<?> message) {
            writePrefix(header, message.type().code(), flags, out);
            writeBody(message, out);
        } else {
            throw new IllegalArgumentException("not a header of version 2 that can be sent: " + header);
        }
    }

    /** Appends the header of a call or a reply, given by its fields. */
    void writeConveying(int xid, long credits, boolean noMsg, int flags, ChunkLists chunks, ByteBuf out) {
        requireRegistered(flags);
        writeCommon(xid, credits, noMsg ? VersionTwoLayout.RDMA2_NOMSG : VersionTwoLayout.RDMA2_MSG, out);
        writeFlagsAndChunks(flags, chunks, out);
    }

    /** Reserved bits MUST be sent as zero (version-two-08, section 3.2). */
    private void requireRegistered(int flags) {
        if ((flags & ~extensions.flagMask()) != 0) {
            throw new IllegalArgumentException("flags: " + extensions.flagNames(flags) + " (expected: registered ones only)");
        }
    }

    private static void writePrefix(RpcRdmaHeader header, int type, int flags, ByteBuf out) {
        writeCommon(header.xid(), header.credits(), type, out);
        out.writeInt(flags);
    }

    /** What stands in front of the flags, as in version 1. */
    private static void writeCommon(int xid, long credits, int type, ByteBuf out) {
        out.writeLong((long) xid << 32 | VersionTwoLayout.VERSION);
        out.writeLong(credits << 32 | type & 0xFFFF_FFFFL);
    }

    /** The flags come along, as the prefix and what follows it are not a whole number of 64-bit words each. */
    private static void writeFlagsAndChunks(int flags, ChunkLists chunks, ByteBuf out) {
        if (chunks == ChunkLists.EMPTY) {
            // What most messages have; in this way it takes as many checks of the bounds as in version 1.
            out.writeInt(flags).writeZero(VersionTwoLayout.NO_CHUNKS_LENGTH);
        } else {
            out.writeLong((long) flags << 32 | chunks.invalidateHandle() & 0xFFFF_FFFFL);
            ChunkListWriter.write(chunks, out);
        }
    }

    private static int bodyLength(RpcRdmaError error) {
        if (error instanceof RpcRdmaError.Registered<?> registered) {
            return registeredLength(registered);
        }
        return switch (error.code()) {
            case VersionTwoLayout.ERR_READ_CHUNKS, VersionTwoLayout.ERR_WRITE_CHUNKS, VersionTwoLayout.ERR_SEGMENTS,
                    VersionTwoLayout.ERR_REPLY_RESOURCE -> Integer.BYTES;
            case VersionTwoLayout.ERR_WRITE_RESOURCE -> 2 * Integer.BYTES;
            default -> 0;
        };
    }

    private static void writeBody(RpcRdmaError error, ByteBuf out) {
        if (error instanceof RpcRdmaError.ReadChunks chunks) {
            out.writeInt((int) chunks.max());
        } else if (error instanceof RpcRdmaError.WriteChunks chunks) {
            out.writeInt((int) chunks.max());
        } else if (error instanceof RpcRdmaError.Segments segments) {
            out.writeInt((int) segments.max());
        } else if (error instanceof RpcRdmaError.WriteResource resource) {
            out.writeInt((int) resource.chunkIndex()).writeInt((int) resource.lengthNeededBytes());
        } else if (error instanceof RpcRdmaError.ReplyResource resource) {
            out.writeInt((int) resource.lengthNeededBytes());
        } else if (error instanceof RpcRdmaError.Registered<?> registered) {
            writeRegistered(registered, out);
        } // the others say nothing but their code
    }

    private static <T> int registeredLength(RpcRdmaError.Registered<T> error) {
        return error.type().body().lengthOf(error.value());
    }

    private static <T> void writeRegistered(RpcRdmaError.Registered<T> error, ByteBuf out) {
        error.type().body().write(error.value(), out);
    }

    private static <T> int bodyLength(Extension<T> message) {
        return message.type().body().lengthOf(message.value());
    }

    private static <T> void writeBody(Extension<T> message, ByteBuf out) {
        message.type().body().write(message.value(), out);
    }
}
