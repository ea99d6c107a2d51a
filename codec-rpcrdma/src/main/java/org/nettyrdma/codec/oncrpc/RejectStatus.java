package org.nettyrdma.codec.oncrpc;

/** Why a call was denied ({@code reject_stat}, RFC 5531, section 9). */
enum RejectStatus {
    /** The server does not speak the call's version of RPC. */
    RPC_MISMATCH(0),
    /** The server does not trust the caller's identity. */
    AUTH_ERROR(1),
    /** Any other code. */
    UNKNOWN(-1);

    private final int code;

    RejectStatus(int code) {
        this.code = code;
    }

    /** The number on the wire, -1 for {@link #UNKNOWN}. */
    int code() {
        return code;
    }

    /** The status with a code from the wire, {@link #UNKNOWN} if there is none. */
    static RejectStatus of(int code) {
        return switch (code) {
            case 0 -> RPC_MISMATCH;
            case 1 -> AUTH_ERROR;
            default -> UNKNOWN;
        };
    }
}
