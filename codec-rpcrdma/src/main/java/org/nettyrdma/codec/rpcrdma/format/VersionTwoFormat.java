package org.nettyrdma.codec.rpcrdma.format;

import io.netty.buffer.ByteBuf;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException;
import org.nettyrdma.codec.rpcrdma.RpcRdmaLimits;
import org.nettyrdma.codec.rpcrdma.header.ChunkLists;
import org.nettyrdma.codec.rpcrdma.header.ConveyingMessage;
import org.nettyrdma.codec.rpcrdma.header.HeaderExtensions;
import org.nettyrdma.codec.rpcrdma.header.HeaderType;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaVersion;
import org.nettyrdma.handler.credit.CreditedMessage.Role;

/** The header format of version 2, where a flag tells the direction (version-two-08, section 3.2). */
final class VersionTwoFormat implements HeaderFormat {

    private final VersionTwoHeaderReader reader;
    private final VersionTwoHeaderWriter writer;
    private final HeaderExtensions extensions;

    VersionTwoFormat(RpcRdmaLimits limits, HeaderExtensions extensions) {
        this.reader = new VersionTwoHeaderReader(limits, extensions);
        this.writer = new VersionTwoHeaderWriter(extensions);
        this.extensions = extensions;
    }

    @Override
    public RpcRdmaVersion version() {
        return RpcRdmaVersion.TWO;
    }

    @Override
    public Role roleOf(ByteBuf received, Role inboundRole) {
        int start = received.readerIndex();
        int type = received.getInt(start + HeaderLayout.TYPE_OFFSET);
        if (type == VersionTwoLayout.RDMA2_ERROR) {
            return Role.RESPONSE; // also without the flag that it MUST have: to answer it could go on for ever
        }
        if (type == VersionTwoLayout.RDMA2_CONNPROP) {
            return Role.NEITHER;
        }
        if (received.readableBytes() < VersionTwoLayout.PREFIX_LENGTH) {
            return inboundRole;
        }
        boolean response = (flagsOf(received, start) & VersionTwoLayout.F_RESPONSE) != 0;
        HeaderType<?> extension = conveys(type) ? null : extensions.headerType(type);
        if (extension != null) {
            return extension.role(response);
        }
        // A request of a type that nobody knows is refused outside of the credits: its sender may not count it either.
        return response ? Role.RESPONSE : conveys(type) ? Role.REQUEST : Role.NEITHER;
    }

    @Override
    public boolean conveys(int type) {
        return type == VersionTwoLayout.RDMA2_MSG || type == VersionTwoLayout.RDMA2_NOMSG;
    }

    @Override
    public ChunkLists readChunks(ByteBuf in, int type) throws RpcRdmaException {
        return reader.readChunks(in, type);
    }

    @Override
    public int flagsOf(ByteBuf in, int start) {
        return in.getInt(start + VersionTwoLayout.FLAGS_OFFSET);
    }

    @Override
    public RpcRdmaHeader read(ByteBuf in) throws RpcRdmaException {
        return reader.read(in);
    }

    @Override
    public int lengthOf(RpcRdmaHeader header) {
        return writer.lengthOf(header);
    }

    @Override
    public void write(RpcRdmaHeader header, Role role, ByteBuf out) {
        writer.write(header, flags(header.flags(), role), out);
    }

    @Override
    public void writeConveying(ConveyingMessage message, ByteBuf out) {
        writer.writeConveying(message.xid(), message.credits(), message.isNoMsg(), flags(message.flags(), message.role()),
                message.chunks(), out);
    }

    @Override
    public boolean isInline(ByteBuf in, boolean response) {
        if (in.readableBytes() < VersionTwoLayout.CHUNK_FREE_LENGTH + HeaderLayout.RPC_PREFIX_LENGTH) {
            return false;
        }
        int start = in.readerIndex();
        long xidAndVersion = in.getLong(start);
        return (int) xidAndVersion == VersionTwoLayout.VERSION
                && in.getInt(start + HeaderLayout.TYPE_OFFSET) == VersionTwoLayout.RDMA2_MSG
                && in.getLong(start + VersionTwoLayout.FLAGS_OFFSET) == (long) flagsOfInline(response) << Integer.SIZE
                && in.getLong(start + VersionTwoLayout.PREFIX_LENGTH + Integer.BYTES) == 0
                && in.getInt(start + VersionTwoLayout.PREFIX_LENGTH + Integer.BYTES + Long.BYTES) == 0
                && HeaderLayout.isRpcMessage(in, start + VersionTwoLayout.CHUNK_FREE_LENGTH, xidAndVersion, response);
    }

    @Override
    public void writeInline(int xid, int credits, boolean response, ByteBuf out) {
        writer.writeConveying(xid, Integer.toUnsignedLong(credits), false, flagsOfInline(response), ChunkLists.EMPTY, out);
    }

    private static int flagsOfInline(boolean response) {
        return response ? VersionTwoLayout.F_RESPONSE : 0;
    }

    /** Without a role the sender of the message knows best what its credits mean. */
    private static int flags(int flags, Role role) {
        return switch (role) {
            case REQUEST -> flags & ~VersionTwoLayout.F_RESPONSE;
            case RESPONSE -> flags | VersionTwoLayout.F_RESPONSE;
            case NOTICE, CONTROL, NEITHER -> flags;
        };
    }
}
