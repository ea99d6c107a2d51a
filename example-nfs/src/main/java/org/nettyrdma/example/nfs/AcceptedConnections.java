package org.nettyrdma.example.nfs;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.ImmediateEventExecutor;

/**
 * The connections that server channels have accepted and that have not ended. A server closes them itself before it shuts its
 * event loops down: loops of Netty 4.2 without a quiet period may end without closing the channels that are theirs.
 */
@Sharable
final class AcceptedConnections extends ChannelInboundHandlerAdapter {

    private final ChannelGroup connections = new DefaultChannelGroup(ImmediateEventExecutor.INSTANCE);

    /** Comes behind the handler that the bootstrap has for its server channel, if it has one. */
    void collect(ServerBootstrap bootstrap) {
        ChannelHandler first = bootstrap.config().handler();
        bootstrap.handler(new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel server) {
                if (first != null) {
                    server.pipeline().addLast(first);
                }
                server.pipeline().addLast(AcceptedConnections.this);
            }
        });
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        if (message instanceof Channel accepted) {
            connections.add(accepted);
        }
        ctx.fireChannelRead(message);
    }

    /** Closes all, and waits for that. After the server channels are closed; not on an event loop. */
    void close(long timeoutMillis) {
        connections.close().awaitUninterruptibly(timeoutMillis);
    }
}
