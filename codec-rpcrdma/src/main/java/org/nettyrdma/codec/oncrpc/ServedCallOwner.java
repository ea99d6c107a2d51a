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

    /** Another owner of a call, between its program and the first one. */
    abstract class Relay implements ServedCallOwner {

        private final ServedCallOwner first;

        Relay(RpcCall call) {
            first = call.owner();
        }

        @Override
        public final Channel channel() {
            return first.channel();
        }

        @Override
        public final void programFailed(RpcCallHeader header, Throwable cause) {
            first.programFailed(header, cause);
        }
    }
}
