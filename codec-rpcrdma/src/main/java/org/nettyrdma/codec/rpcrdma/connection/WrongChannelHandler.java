package org.nettyrdma.codec.rpcrdma.connection;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import java.net.SocketAddress;
import org.nettyrdma.codec.rpcrdma.RpcRdma;

/** Stands in the pipeline of a channel that {@link RpcRdma} cannot serve, and tells whoever wants to use it why. */
public final class WrongChannelHandler extends ChannelOutboundHandlerAdapter {

    private final Throwable reason;

    public WrongChannelHandler(Throwable reason) {
        this.reason = reason;
    }

    @Override
    public void bind(ChannelHandlerContext ctx, SocketAddress localAddress, ChannelPromise promise) {
        promise.tryFailure(reason);
    }

    @Override
    public void connect(ChannelHandlerContext ctx, SocketAddress remoteAddress, SocketAddress localAddress,
            ChannelPromise promise) {
        promise.tryFailure(reason);
    }
}
