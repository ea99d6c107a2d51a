package org.nettyrdma.codec.oncrpc;

import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;

/**
 * The end of a connection whose peer has broken a rule or does not take what it is sent. Over TCP what was not sent is dropped
 * and the peer sees a reset. Otherwise the system would keep it, up to some megabytes for each connection, for minutes, and for
 * as long as the peer likes if that takes a little now and then; and nobody counts it.
 */
final class ResetClose {

    private ResetClose() {
    }

    /** Closes the channel. A transport that knows no {@code SO_LINGER} does so in its own way. */
    static void close(Channel channel) {
        channel.config().setOption(ChannelOption.SO_LINGER, 0);
        channel.close();
    }
}
