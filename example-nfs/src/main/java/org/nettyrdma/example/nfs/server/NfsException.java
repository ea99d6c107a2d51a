package org.nettyrdma.example.nfs.server;

import java.io.IOException;
import org.nettyrdma.example.nfs.protocol.NfsStatus;

/** A call fails with a status that the client is told. Carries no stack trace: this is an answer, not a fault. */
final class NfsException extends IOException {

    private static final long serialVersionUID = 1L;

    private final transient NfsStatus status;

    NfsException(NfsStatus status) {
        super(status.name());
        this.status = status;
    }

    NfsStatus status() {
        return status;
    }

    @Override
    public synchronized Throwable fillInStackTrace() {
        return this;
    }
}
