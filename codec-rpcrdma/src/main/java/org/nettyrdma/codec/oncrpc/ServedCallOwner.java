package org.nettyrdma.codec.oncrpc;

import io.netty.channel.Channel;

/** What a call asks of the handler that has received it. Any thread may use it. */
interface ServedCallOwner {

    /** Where the call came from. */
    Channel channel();

    /** Answers the call without results. */
    void refuse(RpcCall call, RpcReplyHeader reply);

    /** Answers the call; the reference of the message passes to the channel. */
    void send(RpcCall call, Object message);

    /** Tells the log that the program has failed, or has not answered as it should. */
    void programFailed(RpcCallHeader header, Throwable cause);
}
