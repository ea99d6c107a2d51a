package org.nettyrdma.example.nfs.server;

import java.io.IOException;

/**
 * The file of a handle is not where it is known to be, and has to be searched for. Ends what a call has begun, so that it holds
 * no lock meanwhile; then the call is made again.
 */
final class UnknownFileException extends IOException {

    private static final long serialVersionUID = 1L;

    private final transient FileId id;

    UnknownFileException(FileId id) {
        this.id = id;
    }

    FileId id() {
        return id;
    }

    @Override
    public synchronized Throwable fillInStackTrace() {
        return this;
    }
}
