package org.nettyrdma.channel;

import io.netty.channel.Channel;

/**
 * The deregistration of channels that cannot move to another event loop, and so are closed by it. Netty would tell the end of
 * such a channel behind {@code channelUnregistered}, which removes all handlers of a closed channel: none would see
 * {@code channelInactive}. Event loop only.
 */
final class Deregistration {

    private Deregistration() {
    }

    /**
     * Closes a channel that is being deregistered, unless it is closed already.
     *
     * @param end what the close would do first; done once however often it is called
     */
    static void close(Channel channel, Runnable end) {
        boolean wasActive = channel.isActive();
        try {
            end.run(); // here, so that the close finds an inactive channel and does not tell its end a second time
        } finally {
            channel.unsafe().close(channel.unsafe().voidPromise());
            if (wasActive) {
                channel.pipeline().fireChannelInactive();
            }
        }
    }
}
