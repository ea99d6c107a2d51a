package org.nettyrdma.example.nfs.dump;

import io.netty.buffer.ByteBuf;
import org.nettyrdma.codec.oncrpc.RpcMessageType;
import org.nettyrdma.codec.oncrpc.RpcReplyHeader;
import org.nettyrdma.codec.oncrpc.XdrException;
import org.nettyrdma.example.nfs.protocol.Mount;
import org.nettyrdma.example.nfs.protocol.MountProcedure;
import org.nettyrdma.example.nfs.protocol.Nfs;
import org.nettyrdma.example.nfs.protocol.NfsProcedure;

/** The start of an RPC message in words: which procedure a call is for, and how a reply ended. */
final class RpcText {

    private static final int PROGRAM_OFFSET = 12;
    private static final int VERSION_OFFSET = 16;
    private static final int PROCEDURE_OFFSET = 20;
    private static final int CALL_LENGTH = 24;

    private RpcText() {
    }

    /** Describes the RPC message that is the rest of {@code message}, whose reader index stays. */
    static String of(ByteBuf message) {
        int start = message.readerIndex();
        return switch (RpcMessageType.peek(message)) {
            case CALL -> message.readableBytes() < CALL_LENGTH ? malformed("a call of " + message.readableBytes()
                    + " bytes, its first six words take " + CALL_LENGTH)
                    : "CALL " + procedure(message.getInt(start + PROGRAM_OFFSET), message.getInt(start + VERSION_OFFSET),
                            message.getInt(start + PROCEDURE_OFFSET));
            case REPLY -> reply(message.slice());
            case UNKNOWN -> message.readableBytes() < 2 * Integer.BYTES
                    ? malformed(message.readableBytes() + " bytes")
                    : malformed("message type " + Integer.toUnsignedString(message.getInt(start + Integer.BYTES)));
        };
    }

    private static String procedure(int program, int version, int procedure) {
        Enum<?> name = null;
        if (program == Nfs.PROGRAM && version == Nfs.VERSION) {
            name = NfsProcedure.of(procedure);
        } else if (program == Mount.PROGRAM && version == Mount.VERSION) {
            name = MountProcedure.of(procedure);
        }
        return switch (program) {
            case Nfs.PROGRAM -> "NFS";
            case Mount.PROGRAM -> "MOUNT";
            default -> "program " + Integer.toUnsignedString(program);
        } + " v" + Integer.toUnsignedString(version) + ' '
                + (name != null ? name.name() : "procedure " + Integer.toUnsignedString(procedure));
    }

    private static String reply(ByteBuf message) {
        try {
            RpcReplyHeader header = RpcReplyHeader.read(message);
            if (header instanceof RpcReplyHeader.Accepted accepted) {
                return "REPLY " + accepted.status();
            }
            if (header instanceof RpcReplyHeader.AuthError error) {
                return "REPLY denied, AUTH_ERROR " + error.status();
            }
            return "REPLY denied, RPC_MISMATCH";
        } catch (XdrException e) {
            return malformed(e.getMessage());
        }
    }

    private static String malformed(String what) {
        return "malformed RPC message: " + what;
    }
}
