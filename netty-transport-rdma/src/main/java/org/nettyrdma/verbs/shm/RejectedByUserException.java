package org.nettyrdma.verbs.shm;

import java.net.ConnectException;

/** Whoever listens was reached, and does not want the connection. */
final class RejectedByUserException extends ConnectException {

    private static final long serialVersionUID = 1L;

    RejectedByUserException() {
        super("the peer rejected the connection");
    }
}
