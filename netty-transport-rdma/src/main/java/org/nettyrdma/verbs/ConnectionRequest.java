package org.nettyrdma.verbs;

import java.net.SocketAddress;
import java.nio.ByteBuffer;

/**
 * A peer's wish to connect, not yet answered. It may be passed from one event loop to another, but is used by one thread
 * at a time.
 */
public interface ConnectionRequest {

    /**
     * Where the peer's request arrived.
     *
     * @return this side's address
     */
    SocketAddress localAddress();

    /**
     * Where the peer is.
     *
     * @return the peer's address
     */
    SocketAddress remoteAddress();

    /**
     * What the peer sent with its request.
     *
     * @return the private data from position to limit, read-only, empty if there is none; InfiniBand and RoCE send it with one
     *         length only, and fill up with zeros
     */
    ByteBuffer privateData();

    /**
     * Refuses the connection and drops it. Does nothing if the request was rejected before or has become a queue pair.
     *
     * @param privateData sent to the peer from position to limit; at most {@link Capabilities#maxPrivateDataBytes()}
     */
    void reject(ByteBuffer privateData);
}
