package org.nettyrdma.codec.rpcrdma.format;

import static org.nettyrdma.codec.rpcrdma.format.ChunkListReader.requireReadable;
import static org.nettyrdma.codec.rpcrdma.shared.RpcRdmaFailures.malformed;

import io.netty.buffer.ByteBuf;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException;
import org.nettyrdma.codec.rpcrdma.RpcRdmaLimits;
import org.nettyrdma.codec.rpcrdma.header.ChunkLists;
import org.nettyrdma.codec.rpcrdma.header.ConveyingMessage;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.ChunkError;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Done;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Msg;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.NoMsg;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.VersionError;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.WithChunks;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaVersion;
import org.nettyrdma.codec.rpcrdma.shared.RpcRdmaFailures;
import org.nettyrdma.handler.credit.CreditedMessage.Role;

/**
 * The header format of version 1, see {@link HeaderLayout}; also that of each answer to a version that is not spoken, and of
 * RDMA_ERRORs of any version that have the layout of version 1.
 */
final class VersionOneFormat implements HeaderFormat {

    private final ChunkListReader chunkLists;
    private final SpokenVersions spoken;
    private final boolean isSpoken;

    /**
     * @param spoken the versions that are not refused when they come; that this format can be written says nothing about it
     */
    VersionOneFormat(RpcRdmaLimits limits, SpokenVersions spoken) {
        this.chunkLists = new ChunkListReader(limits);
        this.spoken = spoken;
        this.isSpoken = spoken.includes(RpcRdmaVersion.ONE);
    }

    @Override
    public RpcRdmaVersion version() {
        return RpcRdmaVersion.ONE;
    }

    /** The header has no word for the direction; an RPC message that follows it may correct this. */
    @Override
    public Role roleOf(ByteBuf received, Role inboundRole) {
        int type = received.getInt(received.readerIndex() + HeaderLayout.TYPE_OFFSET);
        // An error is an answer, whatever it says and however wrong it is; to answer it could go on for ever.
        return type == MessageType.RDMA_ERROR.code() ? Role.RESPONSE : inboundRole;
    }

    @Override
    public RpcRdmaHeader read(ByteBuf in) throws RpcRdmaException {
        int start = in.readerIndex();
        int xid = in.getInt(start);
        long credits = in.getUnsignedInt(start + HeaderLayout.CREDITS_OFFSET);
        MessageType type = MessageType.of(in.getInt(start + HeaderLayout.TYPE_OFFSET));
        return switch (type) {
            // Of any version: whoever refuses a version may quote that version in its answer.
            case RDMA_ERROR -> readError(in, xid, in.getInt(start + HeaderLayout.VERSION_OFFSET), credits);
            case RDMA_MSG, RDMA_MSGP -> new Msg(xid, credits, readChunks(in, type.code()));
            case RDMA_NOMSG -> new NoMsg(xid, credits, readChunks(in, type.code()));
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

    @Override
    public boolean conveys(int type) {
        return type >= MessageType.RDMA_MSG.code() && type <= MessageType.RDMA_MSGP.code();
    }

    @Override
    public ChunkLists readChunks(ByteBuf in, int type) throws RpcRdmaException {
        skipFixed(in);
        if (type == MessageType.RDMA_MSGP.code()) {
            // Taken for RDMA_MSG, whatever its hint says (rfc5666bis-01, section 5.7.1), though RFC 8166, section 4.6.1 has
            // it refused.
            requireReadable(in, HeaderLayout.ALIGNMENT_HINT_LENGTH, "alignment hint");
            in.skipBytes(HeaderLayout.ALIGNMENT_HINT_LENGTH);
        }
        ChunkLists chunks = chunkLists.read(in, 0);
        if (type == MessageType.RDMA_NOMSG.code() && in.isReadable()) {
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
        RpcRdmaHeader header = switch (code) {
            case HeaderLayout.ERR_VERS -> {
                requireReadable(in, 2 * Integer.BYTES, "version range");
                yield new VersionError(xid, version, credits, in.readUnsignedInt(), in.readUnsignedInt());
            }
            case HeaderLayout.ERR_CHUNK -> new ChunkError(xid, version, credits);
            default -> throw malformed("RDMA_ERROR with code %s (expected: 1..2)", Integer.toUnsignedString(code));
        };
        if (in.isReadable()) {
            throw malformed("%d bytes after an RDMA_ERROR", in.readableBytes());
        }
        return header;
    }

    @Override
    public int flagsOf(ByteBuf in, int start) {
        return 0;
    }

    @Override
    public int lengthOf(RpcRdmaHeader header) {
        if (header instanceof WithChunks message) {
            return RpcRdmaVersion.ONE.headerLength(message.chunks());
        }
        if (header instanceof Done) {
            return HeaderLayout.FIXED_LENGTH;
        }
        return header instanceof VersionError ? HeaderLayout.ERR_VERS_LENGTH : HeaderLayout.ERR_CHUNK_LENGTH;
    }

    @Override
    public void write(RpcRdmaHeader header, Role role, ByteBuf out) {
        if (header instanceof WithChunks message) {
            writeFixed(header, message instanceof NoMsg ? MessageType.RDMA_NOMSG : MessageType.RDMA_MSG, out);
            ChunkListWriter.write(message.chunks(), out);
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

    @Override
    public void writeConveying(ConveyingMessage message, ByteBuf out) {
        writeFixed(message.xid(), message.version(), message.credits(),
                message.isNoMsg() ? MessageType.RDMA_NOMSG : MessageType.RDMA_MSG, out);
        ChunkListWriter.write(message.chunks(), out);
    }

    private static void writeFixed(RpcRdmaHeader header, MessageType type, ByteBuf out) {
        writeFixed(header.xid(), header.version(), header.credits(), type, out);
    }

    private static void writeFixed(int xid, int version, long credits, MessageType type, ByteBuf out) {
        out.writeLong((long) xid << 32 | version & 0xFFFF_FFFFL);
        out.writeLong(credits << 32 | type.code());
    }

    @Override
    public boolean isInline(ByteBuf in, boolean response) {
        if (!isSpoken || in.readableBytes() < HeaderLayout.CHUNK_FREE_LENGTH + HeaderLayout.RPC_PREFIX_LENGTH) {
            return false;
        }
        int start = in.readerIndex();
        long xidAndVersion = in.getLong(start);
        return (int) xidAndVersion == HeaderLayout.VERSION
                && in.getInt(start + HeaderLayout.TYPE_OFFSET) == MessageType.RDMA_MSG.code()
                && HeaderLayout.isChunkFree(in, start + HeaderLayout.BODY_OFFSET)
                && HeaderLayout.isRpcMessage(in, start + HeaderLayout.CHUNK_FREE_LENGTH, xidAndVersion, response);
    }

    @Override
    public void writeInline(int xid, int credits, boolean response, ByteBuf out) {
        out.writeLong((long) xid << Integer.SIZE | HeaderLayout.VERSION);
        out.writeLong((long) credits << Integer.SIZE | MessageType.RDMA_MSG.code());
        out.writeLong(0).writeInt(0); // three empty lists
    }
}
