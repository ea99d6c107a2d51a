package org.nettyrdma.codec.rpcrdma.format;

import io.netty.buffer.ByteBuf;

/**
 * Takes calls or replies without chunks from the {@link RpcRdmaCodec} of one channel, past the handlers that stand between the
 * two. Event loop only.
 */
public interface InlineReceiver {

    /** The format of what it takes, {@code null} as long as it takes nothing. */
    HeaderFormat format();

    /**
     * Takes a message.
     *
     * @param xid     its transaction id
     * @param credits its credit word
     * @param message the RPC message; its reference passes to this, unless it returns {@code false}
     * @return {@code false} if the message has to go through the pipeline; nothing has changed then
     */
    boolean receive(int xid, long credits, ByteBuf message);

    /** The codec leaves the pipeline. */
    void shut();
}
