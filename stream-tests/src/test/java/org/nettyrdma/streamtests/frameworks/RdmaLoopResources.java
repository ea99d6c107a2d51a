package org.nettyrdma.streamtests.frameworks;

import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.ServerSocketChannel;
import org.nettyrdma.channel.RdmaServerStreamChannel;
import org.nettyrdma.channel.RdmaStreamChannel;
import reactor.netty.resources.LoopResources;

public final class RdmaLoopResources implements LoopResources {

    private final EventLoopGroup group;

    public RdmaLoopResources(EventLoopGroup group) {
        this.group = group;
    }

    @Override
    public EventLoopGroup onServer(boolean useNative) {
        return group;
    }

    @Override
    public <C extends Channel> Class<? extends C> onChannelClass(Class<C> type, EventLoopGroup loops) {
        boolean isServer = type.equals(ServerSocketChannel.class);
        return (isServer ? RdmaServerStreamChannel.class : RdmaStreamChannel.class).asSubclass(type);
    }

    @Override
    public <C extends Channel> C onChannel(Class<C> type, EventLoopGroup loops) {
        boolean isServer = type.equals(ServerSocketChannel.class);
        return type.cast(isServer ? new RdmaServerStreamChannel() : new RdmaStreamChannel());
    }
}
