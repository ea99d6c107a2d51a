package org.nettyrdma.codec.oncrpc.transport;

import io.netty.channel.ChannelHandlerContext;

/**
 * Where {@code AUTO_READ} is off, each read that the application asks for brings it one message. What a handler keeps to itself
 * must not take the place of that message, for which the application would wait without end.
 */
public final class DemandedRead {

    private DemandedRead() {
    }

    /**
     * The message that the channel passes on is not for the application: if that has asked for one, it is still to come.
     *
     * @param ctx of the handler that keeps the message
     */
    public static void restore(ChannelHandlerContext ctx) {
        if (!ctx.channel().config().isAutoRead()) {
            ctx.read();
        }
    }
}
