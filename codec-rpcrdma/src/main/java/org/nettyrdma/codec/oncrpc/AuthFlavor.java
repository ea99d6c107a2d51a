package org.nettyrdma.codec.oncrpc;

/** Kinds of credentials and verifiers (RFC 5531, section 8.2, and its IANA registry). */
public enum AuthFlavor {
    /** No authentication. */
    AUTH_NONE(0),
    /** A user and groups that the caller claims to act for (RFC 5531, appendix A). */
    AUTH_SYS(1),
    /** A short hand for an earlier credential. */
    AUTH_SHORT(2),
    /** Diffie-Hellman, obsolete. */
    AUTH_DH(3),
    /** GSS-API (RFC 2203). */
    RPCSEC_GSS(6),
    /** Any other code. */
    UNKNOWN(-1);

    private final int code;

    AuthFlavor(int code) {
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
     * The flavor with a given code.
     *
     * @param code number from the wire
     * @return the flavor, {@link #UNKNOWN} if there is none
     */
    public static AuthFlavor of(int code) {
        return switch (code) {
            case 0 -> AUTH_NONE;
            case 1 -> AUTH_SYS;
            case 2 -> AUTH_SHORT;
            case 3 -> AUTH_DH;
            case 6 -> RPCSEC_GSS;
            default -> UNKNOWN;
        };
    }
}
