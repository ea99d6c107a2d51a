package org.nettyrdma.codec.oncrpc;

/**
 * The transport could not convey the call or its reply. The connection lives. The cause says why. The server may have
 * carried the call out. The same call would fail again.
 */
public final class RpcTransportException extends RpcException {

    private static final long serialVersionUID = 1L;

    RpcTransportException(RpcRequest request, Throwable cause) {
        super(request, "not conveyed by the transport: " + cause.getMessage(), cause);
    }
}
