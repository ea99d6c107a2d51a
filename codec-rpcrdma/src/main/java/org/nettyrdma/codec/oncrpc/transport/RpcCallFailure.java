package org.nettyrdma.codec.oncrpc.transport;

import java.util.Objects;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcTransportException;

/**
 * A user event by which a transport tells {@link RpcClient} that one call has failed while the connection lives: the peer's
 * transport refused it, or its reply could not be understood below RPC. Or its reply came with the end of the connection, and
 * the device has kept the peer's access to the memory that it is in. The client fails that call with
 * {@link RpcTransportException}. No reply to the call will come.
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
