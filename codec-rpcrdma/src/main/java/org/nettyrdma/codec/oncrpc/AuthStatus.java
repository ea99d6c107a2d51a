package org.nettyrdma.codec.oncrpc;

/** Why authentication failed ({@code auth_stat}, RFC 5531, section 9). */
public enum AuthStatus {
    /** It did not fail. */
    AUTH_OK(0),
    /** The credential is broken. */
    AUTH_BADCRED(1),
    /** The client must begin a new session. */
    AUTH_REJECTEDCRED(2),
    /** The verifier is broken. */
    AUTH_BADVERF(3),
    /** The verifier has expired or was replayed. */
    AUTH_REJECTEDVERF(4),
    /** The flavor is too weak for what was asked. */
    AUTH_TOOWEAK(5),
    /** The server's verifier is wrong; found by the client. */
    AUTH_INVALIDRESP(6),
    /** Some other reason; found by the client. */
    AUTH_FAILED(7),
    /** Kerberos version 4: some failure. */
    AUTH_KERB_GENERIC(8),
    /** Kerberos version 4: the credential has expired. */
    AUTH_TIMEEXPIRE(9),
    /** Kerberos version 4: a problem with the ticket file. */
    AUTH_TKT_FILE(10),
    /** Kerberos version 4: the authenticator cannot be decoded. */
    AUTH_DECODE(11),
    /** Kerberos version 4: a wrong network address in the ticket. */
    AUTH_NET_ADDR(12),
    /** GSS: no credentials for the user (RFC 2203). */
    RPCSEC_GSS_CREDPROBLEM(13),
    /** GSS: a problem with the context (RFC 2203). */
    RPCSEC_GSS_CTXPROBLEM(14),
    /** Any other code. */
    UNKNOWN(-1);

    private static final AuthStatus[] BY_CODE = values();

    private final int code;

    AuthStatus(int code) {
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
    public static AuthStatus of(int code) {
        for (AuthStatus status : BY_CODE) {
            if (status.code == code) {
                return status;
            }
        }
        return UNKNOWN;
    }
}
