package org.nettyrdma.verbs.iwarp;

import org.nettyrdma.verbs.support.SendSlot;


/** The messages of RDMAP version 1 (RFC 5040, section 4.1) with their codes on the wire. */
enum RdmapOpcode {
    WRITE(0, true),
    READ_REQUEST(1, false),
    READ_RESPONSE(2, true),
    SEND(3, false),
    SEND_WITH_INVALIDATE(4, false),
    SEND_WITH_SOLICITED_EVENT(5, false),
    SEND_WITH_SOLICITED_EVENT_AND_INVALIDATE(6, false),
    TERMINATE(7, false);

    private static final RdmapOpcode[] BY_CODE = new RdmapOpcode[8];

    static {
        for (RdmapOpcode opcode : values()) {
            BY_CODE[opcode.code] = opcode;
        }
    }

    private final int code;
    private final boolean tagged;

    RdmapOpcode(int code, boolean tagged) {
        this.code = code;
        this.tagged = tagged;
    }

    int code() {
        return code;
    }

    /** Whether its segments name the memory they go to. */
    boolean isTagged() {
        return tagged;
    }

    boolean invalidates() {
        return this == SEND_WITH_INVALIDATE || this == SEND_WITH_SOLICITED_EVENT_AND_INVALIDATE;
    }

    /**
     * The opcode for a code from the wire, or {@code null} if version 1 has none.
     */
    static RdmapOpcode of(int code) {
        return code >= 0 && code < BY_CODE.length ? BY_CODE[code] : null;
    }

    /** The message that carries a work request. */
    static RdmapOpcode of(SendSlot request) {
        return switch (request.opcode()) {
            case SEND -> request.isSolicited() ? SEND_WITH_SOLICITED_EVENT : SEND;
            case SEND_WITH_INVALIDATE -> request.isSolicited() ? SEND_WITH_SOLICITED_EVENT_AND_INVALIDATE : SEND_WITH_INVALIDATE;
            case WRITE -> WRITE;
            case WRITE_WITH_IMMEDIATE -> throw new IllegalStateException("RFC 5040 has no immediate data"); // refused before
            case READ -> READ_REQUEST;
        };
    }
}
