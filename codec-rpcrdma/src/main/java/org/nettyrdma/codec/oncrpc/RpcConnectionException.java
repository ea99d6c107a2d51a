package org.nettyrdma.codec.oncrpc;

/**
 * The call could not be written, or the connection was lost before its reply came; the cause says why. In the second case
 * the server may have carried the call out, see {@link #mayHaveBeenSent}.
 */
public final class RpcConnectionException extends RpcException {

    private static final long serialVersionUID = 1L;

    /** Whether the server may have the call. */
    private final boolean maybeSent;

    /**
     * For clients.
     *
     * @param request   the call
     * @param reason    what happened to it, some words
     * @param maybeSent whether the server may have the call
     * @param cause     why
     */
    public RpcConnectionException(RpcRequest request, String reason, boolean maybeSent, Throwable cause) {
        super(request, reason + ": " + cause, cause);
        this.maybeSent = maybeSent;
    }

    /**
     * Whether the server may have the call, and may have carried it out. The write of the call tells: as long as its promise can
     * be cancelled ({@link io.netty.channel.ChannelPromise#setUncancellable}), no byte of it has left. A handler that passes the
     * call on with another promise has to make the promise of the call uncancellable before.
     *
     * @return {@code false} if no server can have seen any of it
     */
    public boolean mayHaveBeenSent() {
        return maybeSent;
    }
}
