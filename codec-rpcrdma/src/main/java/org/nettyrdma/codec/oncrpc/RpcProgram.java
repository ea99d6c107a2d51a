package org.nettyrdma.codec.oncrpc;

/**
 * A program that a server exports, in a range of its versions. One object serves all connections. It must be safe for use by
 * several threads at once: all event loops, or all threads of the executor that the handlers of the server have.
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
     * Whether the program accepts the credentials of the caller. Asked before each call, on the same thread.
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
     * How large the results of a call can get. A server with a {@link MemoryBudget} takes this size from the budget before the
     * call runs. Not asked over RDMA, where the call itself offers the room for its reply. Called on the event loop, so it must
     * not block.
     *
     * @param call the call; neither the content nor the indices of its arguments may be changed, and it must not be answered
     * @return bytes, 0 or more; the default 0 stands for no more than a few hundred, which need not be counted
     */
    default int maxResultBytes(RpcCall call) {
        return 0;
    }

    /**
     * Serves a call. The program has to answer the call once, here or later from any thread, with one of the {@code reply}
     * methods. Called on the event loop unless the handler has an executor. A program that blocks needs an executor.
     *
     * <p>An exception answers the call unless the program has answered it: {@link XdrException} with GARBAGE_ARGS, anything else
     * with SYSTEM_ERR.
     *
     * @param call the call; its arguments are released when this method returns
     * @throws Exception if the call cannot be served
     */
    void call(RpcCall call) throws Exception;
}
