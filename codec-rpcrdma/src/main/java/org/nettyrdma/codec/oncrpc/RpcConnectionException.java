package org.nettyrdma.codec.oncrpc;

/**
 * The call could not be written, or the connection was lost before its reply came; the cause says why. In the second case
 * the server may have carried the call out.
 */
public final class RpcConnectionException extends RpcException {

    private static final long serialVersionUID = 1L;

    RpcConnectionException(RpcRequest request, String reason, Throwable cause) {
        super(request, reason + ": " + cause, cause);
    }
}
