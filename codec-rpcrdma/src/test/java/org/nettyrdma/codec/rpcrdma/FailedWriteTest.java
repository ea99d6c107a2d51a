package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nettyrdma.channel.RdmaWrite;
import org.nettyrdma.codec.oncrpc.RpcConnectionException;
import org.nettyrdma.codec.oncrpc.RpcServerHandler;

/** RDMA Writes of a responder that fail before they come to the device. */
@Timeout(60)
class FailedWriteTest {

    private static final class Refusal extends ChannelOutboundHandlerAdapter {

        @Override
        public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
            if (msg instanceof RdmaWrite write) {
                write.release();
                promise.setFailure(new IOException("no memory to copy into"));
            } else {
                ctx.write(msg, promise);
            }
        }
    }

    /** The reply says that the data is in the client's memory, where something else is. */
    @Test
    void shouldEndTheConnectionInsteadOfReplyingWithoutTheData() throws Exception {
        RpcRdmaBuilder server = ShortSends.server().binding(BulkProgram.BINDING).handlers(pipeline ->
                pipeline.addFirst(new Refusal()).addLast(new RpcServerHandler(new BulkProgram(true))));
        try (RpcRdmaPair pair = new RpcRdmaPair(server, ShortSends.client().binding(BulkProgram.BINDING))) {
            ByteBuf arguments = pair.words(5000, 0);
            assertInstanceOf(RpcConnectionException.class, RpcRdmaPair.failure(pair.start(BulkProgram.LOAD, arguments)));
        }
    }
}
