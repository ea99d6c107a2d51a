package org.nettyrdma.codec.oncrpc;

/** The server denied the call: the server does not speak this version of RPC, or does not trust the identity of the caller. */
public final class RpcDeniedException extends RpcException {

    private static final long serialVersionUID = 1L;

    private final transient RpcReplyHeader.Denied reply;

    RpcDeniedException(RpcRequest request, RpcReplyHeader.Denied reply) {
        super(request, reason(reply), null);
        this.reply = reply;
    }

    private static String reason(RpcReplyHeader.Denied reply) {
        if (reply instanceof RpcReplyHeader.RpcMismatch mismatch) {
            return "RPC_MISMATCH, the server speaks RPC versions " + mismatch.versions();
        }
        return "AUTH_ERROR " + ((RpcReplyHeader.AuthError) reply).status();
    }

    /**
     * What the server says.
     *
     * @return the reply
     */
    public RpcReplyHeader.Denied reply() {
        return reply;
    }
}
