package org.nettyrdma.verbs.iwarp;

import java.io.IOException;

/**
 * The peer ended the connection with a Terminate.
 */
final class PeerTerminatedException extends IOException {

    private static final long serialVersionUID = 1L;

    private final transient TerminateMessage message;

    PeerTerminatedException(TerminateMessage message) {
        super("the peer terminated the connection: " + message.describe());
        this.message = message;
    }

    TerminateMessage terminateMessage() {
        return message;
    }
}
