package org.nettyrdma.verbs.iwarp;

import java.io.IOException;

/**
 * The peer broke a rule of MPA, DDP or RDMAP. Its connection ends, after a Terminate with {@link #reason()}; no other does.
 */
final class ProtocolViolationException extends IOException {

    private static final long serialVersionUID = 1L;

    private final TerminateReason reason;

    ProtocolViolationException(TerminateReason reason, String format, Object... args) {
        super(reason + ": " + String.format(format, args));
        this.reason = reason;
    }

    TerminateReason reason() {
        return reason;
    }
}
