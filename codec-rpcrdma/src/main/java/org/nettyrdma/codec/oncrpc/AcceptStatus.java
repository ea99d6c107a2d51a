package org.nettyrdma.codec.oncrpc;

/** How an accepted call ended ({@code accept_stat}, RFC 5531, section 9). */
public enum AcceptStatus {
    /** The procedure ran and its results follow. */
    SUCCESS(0),
    /** The server does not export the program. */
    PROG_UNAVAIL(1),
    /** The server exports the program in other versions only. */
    PROG_MISMATCH(2),
    /** The program has no such procedure. */
    PROC_UNAVAIL(3),
    /** The procedure could not decode its arguments. */
    GARBAGE_ARGS(4),
    /** The server failed, for instance for want of memory. */
    SYSTEM_ERR(5),
    /** Any other code. */
    UNKNOWN(-1);

    private final int code;

    AcceptStatus(int code) {
        this.code = code;
    }

    /**
     * The number on the wire.
     *
     * @return the code, -1 for {@link #UNKNOWN}
     */
    public int code() {
        return code;
    }

    /**
     * The status with a given code.
     *
     * @param code number from the wire
     * @return the status, {@link #UNKNOWN} if there is none
     */
    public static AcceptStatus of(int code) {
        return switch (code) {
            case 0 -> SUCCESS;
            case 1 -> PROG_UNAVAIL;
            case 2 -> PROG_MISMATCH;
            case 3 -> PROC_UNAVAIL;
            case 4 -> GARBAGE_ARGS;
            case 5 -> SYSTEM_ERR;
            default -> UNKNOWN;
        };
    }
}
