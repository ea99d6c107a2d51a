package org.nettyrdma.codec.rpcrdma.responder;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.List;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaMessage;
import org.nettyrdma.codec.rpcrdma.shared.InlineThreshold;

/**
 * Sends the replies that neither fit inline nor into what their calls offered, in version 1, so that they need not be refused:
 * the requester fetches them. For the responder of one connection; event loop only.
 */
public interface UnplacedReplies {

    /**
     * Exposes a reply to the requester.
     *
     * @param reply the whole reply; its reference passes to the message returned and to what is exposed, unless this throws
     * @param items its eligible results
     * @return what to send
     * @throws IOException              if too much is exposed, or the memory cannot be
     * @throws IllegalArgumentException if the items are not within the reply or not in order
     */
    RpcRdmaMessage expose(ByteBuf reply, List<DataItem> items, InlineThreshold threshold) throws IOException;

    /** The requester has said by RDMA_DONE that it has fetched the reply with an XID. */
    void done(int xid);

    /** The connection has ended. */
    void close();
}
