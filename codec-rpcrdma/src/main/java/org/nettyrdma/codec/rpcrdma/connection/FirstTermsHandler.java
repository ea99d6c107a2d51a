package org.nettyrdma.codec.rpcrdma.connection;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import org.nettyrdma.codec.rpcrdma.ConnectionTerms;

/** Fires the {@link ConnectionTerms} of a connection ahead of {@code channelActive}, and leaves the pipeline. */
public final class FirstTermsHandler extends ChannelInboundHandlerAdapter {

    private final NegotiatedConnection connection;

    /**
     * @param connection knows the terms as soon as it stands, and fires those that come later
     */
    public FirstTermsHandler(NegotiatedConnection connection) {
        this.connection = connection;
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        ctx.fireUserEventTriggered(connection.terms());
        ctx.fireChannelActive();
        if (!ctx.isRemoved()) {
            ctx.pipeline().remove(this);
        }
    }
}
