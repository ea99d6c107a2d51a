package org.nettyrdma.codec.rpcrdma;

import io.netty.buffer.ByteBuf;
import org.nettyrdma.handler.credit.CreditedMessage.Role;

/** The header format of version 2, where a flag tells the direction (version-two-08, section 3.2). */
final class VersionTwoFormat implements HeaderFormat {

    private final VersionTwoHeaderReader reader;
    private final VersionTwoHeaderWriter writer;
    private final RpcRdmaExtensions extensions;

    VersionTwoFormat(RpcRdmaLimits limits, RpcRdmaExtensions extensions) {
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
        int type = received.getInt(start + RpcRdmaLayout.TYPE_OFFSET);
        if (type == VersionTwoLayout.RDMA2_ERROR) {
            return Role.RESPONSE; // also without the flag that it MUST have: to answer it could go on for ever
        }
        if (type == VersionTwoLayout.RDMA2_CONNPROP) {
            return Role.NEITHER;
        }
        if (received.readableBytes() < VersionTwoLayout.PREFIX_LENGTH) {
            return inboundRole;
        }
        boolean response = (received.getInt(start + VersionTwoLayout.FLAGS_OFFSET) & VersionTwoLayout.F_RESPONSE) != 0;
        HeaderType<?> extension = conveysCall(type) ? null : extensions.headerType(type);
        if (extension != null) {
            return extension.role(response);
        }
        // A request of a type that nobody knows is refused outside of the credits: its sender may not count it either.
        return response ? Role.RESPONSE : conveysCall(type) ? Role.REQUEST : Role.NEITHER;
    }

    private static boolean conveysCall(int type) {
        return type == VersionTwoLayout.RDMA2_MSG || type == VersionTwoLayout.RDMA2_NOMSG;
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
        writer.write(header, flags(header, role), out);
    }

    /** Without a role the sender of the message knows best what its credits mean. */
    private static int flags(RpcRdmaHeader header, Role role) {
        return switch (role) {
            case REQUEST -> header.flags() & ~VersionTwoLayout.F_RESPONSE;
            case RESPONSE -> header.flags() | VersionTwoLayout.F_RESPONSE;
            case NOTICE, CONTROL, NEITHER -> header.flags();
        };
    }
}
