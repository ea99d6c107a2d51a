package org.nettyrdma.codec.oncrpc;

/** No reply came in time. The server may have carried the call out. */
public final class RpcTimeoutException extends RpcException {

    private static final long serialVersionUID = 1L;

    RpcTimeoutException(RpcRequest request, long timeoutMillis) {
        super(request, "no reply within " + timeoutMillis + " ms", null);
    }
}
