package org.nettyrdma.example.nfs.client;

import java.io.IOException;

/** The server cannot be reached. */
public final class NfsConnectException extends IOException {

    private static final long serialVersionUID = 1L;

    NfsConnectException(String message, Throwable cause) {
        super(message, cause);
    }
}
