package org.nettyrdma.codec.oncrpc;

import java.util.Objects;

/**
 * A user event by which a transport tells {@link RpcClient} that one call has failed while the connection lives: the peer's
 * transport refused it, or its reply could not be understood below RPC. The client fails that call with
 * {@link RpcTransportException}; no reply will come for it.
 *
 * @param xid   number of the call
 * @param cause what went wrong
 */
public record RpcCallFailure(int xid, Throwable cause) {

    /**
     * Creates an event.
     *
     * @param xid   number of the call
     * @param cause what went wrong
     * @throws NullPointerException if there is no cause
     */
    public RpcCallFailure {
        Objects.requireNonNull(cause, "cause");
    }
}
