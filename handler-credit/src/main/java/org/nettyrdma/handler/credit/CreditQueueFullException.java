package org.nettyrdma.handler.credit;

import java.io.IOException;

/**
 * A request was not written because the greatest allowed number of requests already waits for credits. A caller that writes only
 * while the channel is writable does not see this exception.
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
