package org.nettyrdma.codec.oncrpc;

/** No reply came in time. The server may have carried the call out. */
public final class RpcTimeoutException extends RpcException {

    private static final long serialVersionUID = 1L;

    RpcTimeoutException(RpcRequest request, long timeoutMillis) {
        this(request, timeoutMillis, null);
    }

    /**
     * For clients.
     *
     * @param request       the call
     * @param timeoutMillis how long it has waited, in milliseconds
     * @param cause         what kept it waiting, {@code null} if only the server is known to have
     */
    public RpcTimeoutException(RpcRequest request, long timeoutMillis, Throwable cause) {
        super(request, "no reply within " + timeoutMillis + " ms" + (cause == null ? "" : ": " + cause), cause);
    }
}
