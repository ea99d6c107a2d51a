package org.nettyrdma.codec.oncrpc.transport;

import io.netty.channel.Channel;
import io.netty.util.AttributeKey;

/** Tells the transport of a connection that its server begins no further call, so that clients are granted no more than one. */
public final class ServerShutdown {

    private static final AttributeKey<Boolean> BEGUN = AttributeKey.valueOf(ServerShutdown.class, "BEGUN");

    private ServerShutdown() {
    }

    /**
     * The server begins no further call of a connection.
     *
     * @param channel the connection
     */
    public static void begin(Channel channel) {
        channel.attr(BEGUN).set(true);
    }

    /**
     * Whether {@link #begin} was called.
     *
     * @param channel the connection
     * @return {@code true} if so
     */
    public static boolean isBegun(Channel channel) {
        return channel.hasAttr(BEGUN);
    }
}
