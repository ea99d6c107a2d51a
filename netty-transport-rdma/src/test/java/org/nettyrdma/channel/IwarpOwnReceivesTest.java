package org.nettyrdma.channel;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.EventLoopGroup;
import org.nettyrdma.testkit.MessagesContract;
import org.nettyrdma.verbs.VerbsProvider;

/** Messages of channels that have receives of their own, where the provider could share them. */
class IwarpOwnReceivesTest extends MessagesContract {

    @Override
    protected VerbsProvider provider() {
        return Rdma.provider("iwarp");
    }

    @Override
    protected ServerBootstrap serverBootstrap(EventLoopGroup loops) {
        return super.serverBootstrap(loops).childOption(RdmaChannelOption.SHARED_RECEIVES, false);
    }

    @Override
    protected Bootstrap bootstrap(EventLoopGroup loops) {
        return super.bootstrap(loops).option(RdmaChannelOption.SHARED_RECEIVES, false);
    }
}
