package org.nettyrdma.codec.oncrpc;

/** The server's reply cannot be understood; the cause says which part of it. */
public final class RpcReplyException extends RpcException {

    private static final long serialVersionUID = 1L;

    RpcReplyException(RpcRequest request, XdrException cause) {
        super(request, "malformed reply: " + cause.getMessage(), cause);
    }
}
