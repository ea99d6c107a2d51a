package org.nettyrdma.verbs;

import java.net.SocketAddress;
import java.nio.ByteBuffer;

/**
 * The request of a peer to connect, not yet answered. It may pass from one event loop to another. Only one thread at a time may
 * use it.
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
     * The private data that the peer sent with its request.
     *
     * @return the private data from position to limit, read-only, empty if there is none; InfiniBand and RoCE have one fixed
     *         length for it and fill the rest with zeros
     */
    ByteBuffer privateData();

    /**
     * Refuses the connection and drops it. Does nothing if the request was rejected before or has become a queue pair.
     *
     * @param privateData sent to the peer from position to limit; at most {@link Capabilities#maxPrivateDataBytes()}
     * @throws IllegalArgumentException if it is too long; then nothing has happened
     */
    void reject(ByteBuffer privateData);
}
