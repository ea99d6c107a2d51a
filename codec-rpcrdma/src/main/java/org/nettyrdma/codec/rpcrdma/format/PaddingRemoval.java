package org.nettyrdma.codec.rpcrdma.format;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException;

/** Takes out what a call of the obsolete type RDMA_MSGP has besides its RPC message. Event loop only. */
public interface PaddingRemoval {

    /**
     * Takes the padding out. Nothing is copied.
     *
     * @param received a received RDMA_MSGP without Read chunks, its reader index at the RPC message
     * @param start    the index of the first byte of its header
     * @return the RPC message; the reference of {@code received} passes to it, unless this throws
     * @throws RpcRdmaException if the arguments end within the padding or cannot be parsed
     */
    ByteBuf remove(ByteBufAllocator alloc, ByteBuf received, int start) throws RpcRdmaException;
}
