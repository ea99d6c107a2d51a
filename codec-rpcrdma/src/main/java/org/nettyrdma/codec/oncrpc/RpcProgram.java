package org.nettyrdma.codec.oncrpc;

import java.net.SocketAddress;
import org.nettyrdma.peer.PeerAddress;

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
     * @return {@link AuthStatus#AUTH_OK}, or what to answer; for {@code null}, {@link AuthStatus#UNKNOWN}, and what this method
     *         throws, that is SYSTEM_ERR
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
     * @return bytes, 0 or more; the default 0 stands for no more than a few hundred, which need not be counted. So does whatever
     *         this method throws: where it is for arguments that cannot be parsed, the call itself will find the same, and answer
     */
    default int maxResultBytes(RpcCall call) {
        return 0;
    }

    /**
     * Whether a call may be executed more than once when its client sends it again, with the same effect and a reply that is as
     * good. It may be executed late, too: what the first connection has left can be read behind later calls of the next one. So
     * writing the same bytes to the same place is not idempotent, as it would undo what was written there meanwhile. A
     * {@link DuplicateRequestCache} lets idempotent calls pass. The default says so of procedure 0, which does nothing
     * (RFC 5531, section 12.1), and of no other.
     *
     * @param version   the version of the program
     * @param procedure the procedure, an unsigned 32-bit number
     * @return {@code false} if a {@link DuplicateRequestCache} has to see that the call is executed once; constant
     */
    default boolean isIdempotent(int version, int procedure) {
        return procedure == 0;
    }

    /**
     * Who sends a call, for a {@link DuplicateRequestCache}. A program that knows its clients by other means than their address
     * says so here. The default is the address without the port, of IPv6 the first 64 bits: a client may come back from another
     * port. Clients over transports whose addresses name the connection are all another one each time.
     *
     * @param call the call; neither the content nor the indices of its arguments may be changed, and it must not be answered
     * @return an object with {@code equals} and {@code hashCode}; {@code null} if it cannot be known any more, as the connection
     *         has ended. Then the call is answered with SYSTEM_ERR and not executed
     */
    default Object clientOf(RpcCall call) {
        SocketAddress address = call.remoteAddress();
        return address == null ? null : PeerAddress.of(address);
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
