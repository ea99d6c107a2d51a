package org.nettyrdma.channel;

import io.netty.channel.DefaultMessageSizeEstimator;
import io.netty.channel.MessageSizeEstimator;

/**
 * Lets RDMA Reads count towards the water marks with the bytes that they fetch; Netty would count what is in the sink already.
 * Everything else counts as usual, with its readable bytes. Any thread.
 */
final class OperationSizeEstimator implements MessageSizeEstimator, MessageSizeEstimator.Handle {

    private final Handle others = DefaultMessageSizeEstimator.DEFAULT.newHandle();

    @Override
    public Handle newHandle() {
        return this;
    }

    @Override
    public int size(Object message) {
        return message instanceof RdmaRead read ? read.length() : others.size(message);
    }
}
