package org.nettyrdma.handler.credit;

import java.io.IOException;

/**
 * A message was not written because as many wait already as may: requests for credits, or control messages for a sign that
 * earlier ones have arrived. Whoever writes requests only while the channel is writable does not see this exception.
 */
public final class CreditQueueFullException extends IOException {

    private static final long serialVersionUID = 1L;

    CreditQueueFullException(int maxWaiting, CreditWindow window) {
        super(maxWaiting + " requests wait for credits, which is the limit; " + window.inUse() + " are in progress, "
                + window.limit() + " are granted");
    }

    CreditQueueFullException(int maxWaiting, int underWay) {
        super(maxWaiting + " messages without a request wait, which is the limit; " + underWay
                + " are not known to have arrived");
    }
}
