package org.nettyrdma.verbs.shm;

import org.nettyrdma.verbs.SendWorkRequest;

/** What an entry of a ring asks for, or grants. */
enum Operation {
    /** The other side takes the pieces into its next receive. */
    SEND,
    /** The same, and withdraws one of its own steering tags. */
    SEND_WITH_INVALIDATE,
    /** The other side copies the pieces into its own exposed memory. */
    WRITE,
    /** This side wants to copy what the other side has exposed. */
    READ,
    /** The answer to READ: where the bytes are. They stay there until the entry is consumed. */
    GRANT;

    private static final Operation[] ALL = values();

    int code() {
        return ordinal() + 1;
    }

    /** What carries out a work request. */
    static Operation of(SendWorkRequest.Opcode opcode) {
        return switch (opcode) {
            case SEND -> SEND;
            case SEND_WITH_INVALIDATE -> SEND_WITH_INVALIDATE;
            case WRITE -> WRITE;
            case READ -> READ;
            case WRITE_WITH_IMMEDIATE -> throw new IllegalStateException("shared memory has no immediate data"); // refused before
        };
    }

    /** The operation for a number from a peer, {@code null} for one that is none. */
    static Operation of(int code) {
        return code >= 1 && code <= ALL.length ? ALL[code - 1] : null;
    }
}
