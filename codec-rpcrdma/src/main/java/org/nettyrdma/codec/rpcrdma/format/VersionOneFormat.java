package org.nettyrdma.codec.rpcrdma.format;

import io.netty.buffer.ByteBuf;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException;
import org.nettyrdma.codec.rpcrdma.RpcRdmaLimits;
import org.nettyrdma.codec.rpcrdma.header.ChunkLists;
import org.nettyrdma.codec.rpcrdma.header.ConveyingMessage;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaVersion;
import org.nettyrdma.handler.credit.CreditedMessage.Role;

/** The header format of version 1; also that of each answer to a version that is not spoken. */
final class VersionOneFormat implements HeaderFormat {

    private final VersionOneHeaderReader reader;
    private final boolean isSpoken;

    /**
     * @param spoken the versions that are not refused when they come; that this format can be written says nothing about it
     */
    VersionOneFormat(RpcRdmaLimits limits, SpokenVersions spoken) {
        reader = new VersionOneHeaderReader(limits, spoken);
        isSpoken = spoken.includes(RpcRdmaVersion.ONE);
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
        return reader.read(in);
    }

    @Override
    public boolean conveys(int type) {
        return type >= MessageType.RDMA_MSG.code() && type <= MessageType.RDMA_MSGP.code();
    }

    @Override
    public ChunkLists readChunks(ByteBuf in, int type) throws RpcRdmaException {
        return reader.readChunks(in, MessageType.of(type));
    }

    @Override
    public int flagsOf(ByteBuf in, int start) {
        return 0;
    }

    @Override
    public int lengthOf(RpcRdmaHeader header) {
        return VersionOneHeaderWriter.lengthOf(header);
    }

    @Override
    public void write(RpcRdmaHeader header, Role role, ByteBuf out) {
        VersionOneHeaderWriter.write(header, out);
    }

    @Override
    public void writeConveying(ConveyingMessage message, ByteBuf out) {
        if (message.chunks() != ChunkLists.EMPTY || message.isNoMsg()) {
            VersionOneHeaderWriter.writeConveying(message.xid(), message.version(), message.credits(), message.isNoMsg(),
                    message.chunks(), out);
            return;
        }
        writeInline(message.xid(), (int) message.credits(), message.role() == Role.RESPONSE, out);
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
