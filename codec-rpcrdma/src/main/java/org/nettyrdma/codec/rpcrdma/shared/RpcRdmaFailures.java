package org.nettyrdma.codec.rpcrdma.shared;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException.Reason;
import org.nettyrdma.codec.rpcrdma.format.SpokenVersions;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaError;

/** Makes the exceptions, each with the answer that its reason has. The formats are those of {@link String#format}. */
public final class RpcRdmaFailures {

    private RpcRdmaFailures() {
    }

    public static RpcRdmaException version(int version, SpokenVersions spoken) {
        return new RpcRdmaException(Reason.VERSION,
                new RpcRdmaError.Versions(spoken.lowest().number(), spoken.highest().number()),
                "RPC-over-RDMA version " + Integer.toUnsignedString(version) + " (spoken: " + spoken + ')');
    }

    public static RpcRdmaException malformed(String format, Object... arguments) {
        return malformed(RpcRdmaError.BAD_XDR, format, arguments);
    }

    public static RpcRdmaException malformed(RpcRdmaError answer, String format, Object... arguments) {
        return new RpcRdmaException(Reason.MALFORMED, answer, String.format(format, arguments));
    }

    public static RpcRdmaException refused(String format, Object... arguments) {
        return new RpcRdmaException(Reason.REFUSED, null, String.format(format, arguments));
    }

    /** The peer has answered with {@code error}. */
    public static RpcRdmaException refused(RpcRdmaError error) {
        return new RpcRdmaException(Reason.REFUSED, error, "refused with " + error);
    }

    /** The peer has answered with ERR_VERS. */
    public static RpcRdmaException refusedVersion(long lowest, long highest) {
        return new RpcRdmaException(Reason.REFUSED, new RpcRdmaError.Versions(lowest, highest), String.format(
                "refused with ERR_VERS, the responder speaks versions %d to %d", lowest, highest));
    }

    public static RpcRdmaException tooLarge(String format, Object... arguments) {
        return tooLarge(RpcRdmaError.SYSTEM, format, arguments);
    }

    public static RpcRdmaException tooLarge(RpcRdmaError answer, String format, Object... arguments) {
        return new RpcRdmaException(Reason.TOO_LARGE, answer, String.format(format, arguments));
    }

    public static RpcRdmaException unsupported(String format, Object... arguments) {
        return new RpcRdmaException(Reason.UNSUPPORTED, null, String.format(format, arguments));
    }

    public static RpcRdmaException overloaded(String format, Object... arguments) {
        return new RpcRdmaException(Reason.OVERLOADED, null, String.format(format, arguments));
    }

    public static RpcRdmaException connection(String format, Object... arguments) {
        return new RpcRdmaException(Reason.CONNECTION, null, String.format(format, arguments));
    }

    /**
     * The only thing that can be said of a payload of another protocol.
     *
     * @param expected what it should have been
     */
    public static RpcRdmaException notRpc(String expected, ByteBuf payload) {
        int shownBytes = Math.min(payload.readableBytes(), 8);
        return new RpcRdmaException(Reason.NOT_RPC, RpcRdmaError.BAD_XDR,
                String.format("%d bytes that begin with %s are no ONC RPC %s, "
                + "and RpcRdma conveys nothing else: its handlers read and write one whole RPC message (RFC 5531) per ByteBuf, "
                + "and other protocols run on an RdmaChannel without it. The connection is closed", payload.readableBytes(),
                ByteBufUtil.hexDump(payload, payload.readerIndex(), shownBytes), expected));
    }

    /** Fails the write of a payload of another protocol, which it releases, and ends the connection. */
    public static void refusePayload(ChannelHandlerContext ctx, String expected, ByteBuf payload, ChannelPromise promise) {
        RpcRdmaException cause = notRpc(expected, payload);
        payload.release();
        promise.tryFailure(cause);
        ctx.fireExceptionCaught(cause);
        ctx.close();
    }
}
