package org.nettyrdma.verbs.iwarp;

import java.io.IOException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import java.util.Map;

/** What every TCP connection of the provider is set to. */
final class TcpOptions {

    /**
     * Size of the send buffer in bytes; Linux doubles it. With little bulk data under way at a time, all of it
     * passes through the processor's cache. Left to itself, Linux lets the buffer grow to megabytes, and a copy over loopback was
     * measured at 2 instead of 7.5 GB per second of processor time. At 512 KiB under way a round trip may take 0.1 ms before this
     * limits a connection to less than 5 GB/s. The receive buffer is best left to Linux: fixed at a size like this, it dropped
     * segments for lack of room.
     */
    private static final int SEND_BUFFER_BYTES = 256 * 1024;

    /**
     * A peer whose machine or network has gone is found two minutes after it was heard last; left to themselves, systems ask
     * after two hours. The options are found by name, since the class that has them is in a module that not every runtime has.
     */
    private static final Map<String, Integer> KEEP_ALIVE =
            Map.of("TCP_KEEPIDLE", 60, "TCP_KEEPINTERVAL", 15, "TCP_KEEPCOUNT", 4); // seconds, seconds, questions

    private TcpOptions() {
    }

    static void apply(SocketChannel channel) throws IOException {
        // Messages are gathered before they are written, so TCP has no reason to wait for more.
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.setOption(StandardSocketOptions.SO_SNDBUF, SEND_BUFFER_BYTES);
        channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
        for (SocketOption<?> option : channel.supportedOptions()) {
            Integer value = KEEP_ALIVE.get(option.name());
            if (value != null) {
                setInteger(channel, option, value);
            }
        }
    }

    @SuppressWarnings("unchecked") // all of KEEP_ALIVE are integers
    private static void setInteger(SocketChannel channel, SocketOption<?> option, Integer value) throws IOException {
        channel.setOption((SocketOption<Integer>) option, value);
    }
}
