package org.nettyrdma.codec.rpcrdma;

import io.netty.buffer.ByteBuf;
import org.nettyrdma.handler.credit.CreditedMessage.Role;

/** The header format of version 1; also that of each answer to a version that is not spoken. */
final class VersionOneFormat implements HeaderFormat {

    private final RpcRdmaHeaderReader reader;

    /**
     * @param spoken the versions that are not refused when they come; that this format can be written says nothing about it
     */
    VersionOneFormat(RpcRdmaLimits limits, SpokenVersions spoken) {
        reader = new RpcRdmaHeaderReader(limits, spoken);
    }

    @Override
    public RpcRdmaVersion version() {
        return RpcRdmaVersion.ONE;
    }

    /** The header has no word for the direction; an RPC message that follows it may correct this. */
    @Override
    public Role roleOf(ByteBuf received, Role inboundRole) {
        int type = received.getInt(received.readerIndex() + RpcRdmaLayout.TYPE_OFFSET);
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
        return RpcRdmaHeaderWriter.lengthOf(header);
    }

    @Override
    public void write(RpcRdmaHeader header, Role role, ByteBuf out) {
        RpcRdmaHeaderWriter.write(header, out);
    }

    @Override
    public void writeConveying(ConveyingMessage message, ByteBuf out) {
        RpcRdmaHeaderWriter.writeConveying(message.xid(), message.version(), message.credits(), message.isNoMsg(), message.chunks(), out);
    }
}
