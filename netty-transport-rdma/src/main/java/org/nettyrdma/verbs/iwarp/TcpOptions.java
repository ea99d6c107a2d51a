package org.nettyrdma.verbs.iwarp;

import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;

/**
 * What every TCP connection of the provider is set to.
 */
final class TcpOptions {

    /**
     * Size of the send buffer in bytes; Linux doubles it. Bulk data passes through the processor's cache when little of it is
     * under way at a time: left to itself, Linux lets the buffer grow to megabytes, and a copy over loopback was measured at
     * 2 instead of 7.5 GB per second of processor time. At 512 KiB under way a round trip may take 0.1 ms before this limits
     * a connection to less than 5 GB/s. The receive buffer is best left to Linux: fixed at a size like this, it dropped
     * segments for lack of room.
     */
    private static final int SEND_BUFFER_BYTES = 256 * 1024;

    private TcpOptions() {
    }

    static void apply(SocketChannel channel) throws IOException {
        // Messages are gathered before they are written, so TCP has no reason to wait for more.
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.setOption(StandardSocketOptions.SO_SNDBUF, SEND_BUFFER_BYTES);
    }
}
