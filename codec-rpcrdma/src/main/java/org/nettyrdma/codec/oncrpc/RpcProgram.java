package org.nettyrdma.codec.oncrpc;

/**
 * A program that a server exports, in a range of its versions. One object serves all connections; it must be safe for use
 * by as many threads as there are event loops, or threads of the executor that the server's handlers were given.
 */
public interface RpcProgram {

    /**
     * The number of the program.
     *
     * @return the number, constant
     */
    int program();

    /**
     * The lowest version that this object serves.
     *
     * @return an unsigned 32-bit number, constant
     */
    int lowestVersion();

    /**
     * The highest version that this object serves. Versions between the lowest and the highest are served too.
     *
     * @return an unsigned 32-bit number, constant
     */
    int highestVersion();

    /**
     * Whether the program takes the caller's word for who it is. Asked before each call, on the same thread.
     *
     * <p>The default takes AUTH_NONE, and AUTH_SYS with a well-formed body, and answers AUTH_BADCRED to all else, as the
     * servers of Linux and of libtirpc do.
     *
     * @param header the header of the call
     * @return {@link AuthStatus#AUTH_OK}, or what to answer
     */
    default AuthStatus authenticate(RpcCallHeader header) {
        return switch (AuthFlavor.of(header.credential().flavor())) {
            case AUTH_NONE -> AuthStatus.AUTH_OK;
            case AUTH_SYS -> AuthSys.isWellFormed(header.credential()) ? AuthStatus.AUTH_OK : AuthStatus.AUTH_BADCRED;
            default -> AuthStatus.AUTH_BADCRED;
        };
    }

    /**
     * Serves a call. It has to be answered once, here or later from any thread, with one of the {@code reply} methods. On
     * the event loop unless the handler has an executor; what blocks needs one.
     *
     * <p>An exception answers the call if it was not answered yet: {@link XdrException} with GARBAGE_ARGS, anything else
     * with SYSTEM_ERR.
     *
     * @param call the call; its arguments are released when this method returns
     * @throws Exception if the call cannot be served
     */
    void call(RpcCall call) throws Exception;
}
