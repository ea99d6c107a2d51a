package org.nettyrdma.verbs.shm;

import java.io.IOException;

/** The peer has broken the rules of the rings, or used memory that it may not. */
final class ShmProtocolException extends IOException {

    private static final long serialVersionUID = 1L;

    private final EndReason reason;

    ShmProtocolException(EndReason reason, String format, Object... arguments) {
        super(String.format(format, arguments));
        this.reason = reason;
    }

    EndReason reason() {
        return reason;
    }

    /** Peers can cause it as often as they like, and the trace tells nothing. */
    @Override
    public synchronized Throwable fillInStackTrace() {
        return this;
    }
}
