package org.nettyrdma.codec.oncrpc.client;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.util.ReferenceCountUtil;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.atomic.AtomicInteger;

/** The first write of all connections meets the end of its connection, which the channel tells of only behind it. */
final class EndedConnection extends ChannelOutboundHandlerAdapter {

    private final AtomicInteger writes;

    EndedConnection(AtomicInteger writes) {
        this.writes = writes;
    }

    @Override
    public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
        if (writes.getAndIncrement() > 0) {
            ctx.write(message, promise);
            return;
        }
        ReferenceCountUtil.release(message);
        promise.setFailure(new ClosedChannelException());
        ctx.executor().execute(ctx::close);
    }
}
