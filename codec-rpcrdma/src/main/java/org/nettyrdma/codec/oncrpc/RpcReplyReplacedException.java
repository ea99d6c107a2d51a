package org.nettyrdma.codec.oncrpc;

import io.netty.channel.ChannelPromise;
import io.netty.channel.VoidChannelPromise;
import java.io.IOException;

/**
 * Fails the write of a reply that the transport could not convey. The transport has sent an error in its place: the call is
 * answered, and the connection lives. The message says what is wrong with the reply, for example how much room it needs.
 */
public final class RpcReplyReplacedException extends IOException {

    private static final long serialVersionUID = 1L;

    /**
     * For transports.
     *
     * @param cause why the reply could not be conveyed
     */
    public RpcReplyReplacedException(Throwable cause) {
        super("the caller got an error instead of the reply: " + cause.getMessage(), cause);
    }

    /**
     * For transports: the promise for the write of the error. When the error is written, the promise of the reply fails with this
     * exception. When the error cannot be written, the promise of the reply fails with the cause of that failure.
     *
     * @param reply the promise that the reply was written with
     * @param cause why the reply could not be conveyed
     * @return a new promise; {@code reply} itself if that is Netty's void promise, which nobody can ask
     */
    public static ChannelPromise fail(ChannelPromise reply, Throwable cause) {
        if (reply instanceof VoidChannelPromise) {
            return reply;
        }
        ChannelPromise error = reply.channel().newPromise();
        error.addListener(written -> reply.tryFailure(
                written.isSuccess() ? new RpcReplyReplacedException(cause) : written.cause()));
        return error;
    }
}
