package org.nettyrdma.benchmarks;

import java.io.IOException;

/** A peer cannot be used on this machine. */
final class PeerUnavailableException extends IOException {

    private static final long serialVersionUID = 1;

    PeerUnavailableException(String message) {
        super(message);
    }
}
