package org.nettyrdma.codec.oncrpc.client;

import java.net.SocketAddress;

/**
 * Is told how the connections of a {@link ReconnectingRpcClient} come and go. All methods run on the event loop that the state of
 * the client belongs to, and must not block. What they throw is logged.
 */
public interface ReconnectListener {

    /**
     * A connection stands. Calls that waited are about to be sent on it.
     *
     * @param server where it leads
     */
    default void connected(SocketAddress server) {
    }

    /**
     * A connection has ended, and not by {@link ReconnectingRpcClient#close()}. Its calls that may be made again are about to be
     * sent on another one.
     *
     * @param server where it led
     * @param cause  what failed at this end; a {@link java.nio.channels.ClosedChannelException} if nothing is known to
     */
    default void connectionLost(SocketAddress server, Throwable cause) {
    }

    /**
     * An attempt to connect has failed.
     *
     * @param server      where it led, {@code null} if there was no address
     * @param cause       why it has failed
     * @param retryMillis milliseconds until the next attempt
     */
    default void connectFailed(SocketAddress server, Throwable cause, long retryMillis) {
    }
}
