package org.nettyrdma.codec.rpcrdma.requester;

import io.netty.channel.ChannelHandlerContext;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaMessage;

/** Fetches the replies with Read chunks that the requester of one connection gets, in version 1. Event loop only. */
public interface ReplyFetch {

    /** Makes the one of a connection. */
    interface Opener {

        /**
         * Called once, before the first reply.
         *
         * @param ctx what it reads and writes by
         */
        ReplyFetch open(ChannelHandlerContext ctx, Owner owner);
    }

    /** Gets what becomes of the calls; {@link RequesterChunkHandler}. */
    interface Owner {

        /**
         * A reply is complete, or known to be unusable.
         *
         * @param reply an RDMA_MSG with the whole stream and no Read list, or malformed; its reference passes to the owner
         */
        void replied(RequesterCall call, RpcRdmaMessage reply);

        /** There will be no reply, since the connection ends. */
        void lost(RequesterCall call);
    }

    /**
     * Fetches a reply with a Read list.
     *
     * @param reply its reference passes to this
     */
    void fetch(RequesterCall call, RpcRdmaMessage reply);

    /** The connection has ended. Reads that are under way end by themselves. */
    void close();
}
