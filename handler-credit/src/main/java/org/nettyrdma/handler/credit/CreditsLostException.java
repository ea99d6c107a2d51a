package org.nettyrdma.handler.credit;

import java.io.IOException;

/**
 * No further request can be sent. The peer has left as many requests unanswered as it grants. All these requests were given up,
 * and the peer has answered nothing else meanwhile. The connection is closed, because only its end gives the credits back.
 */
public final class CreditsLostException extends IOException {

    private static final long serialVersionUID = 1L;

    CreditsLostException(int lost, long silenceMillis) {
        super("All credits are lost: the peer has not answered " + lost + " requests that were given up, and nothing else for "
                + silenceMillis + " ms");
    }
}
