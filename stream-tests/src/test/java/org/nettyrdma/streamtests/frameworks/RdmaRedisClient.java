package org.nettyrdma.streamtests.frameworks;

import io.lettuce.core.ConnectionBuilder;
import io.lettuce.core.ConnectionEvents;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.resource.ClientResources;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import java.net.SocketAddress;
import org.nettyrdma.channel.RdmaStreamChannel;
import reactor.core.publisher.Mono;

public final class RdmaRedisClient extends RedisClient {

    private final EventLoopGroup group;

    public RdmaRedisClient(ClientResources resources, RedisURI uri, EventLoopGroup group) {
        super(resources, uri);
        this.group = group;
    }

    @Override
    protected void connectionBuilder(Mono<SocketAddress> address, ConnectionBuilder builder,
            ConnectionEvents events, RedisURI uri) {
        super.connectionBuilder(address, builder, events, uri);
        int timeout = (int) getOptions().getSocketOptions().getConnectTimeout().toMillis();
        builder.bootstrap(new Bootstrap().group(group).channel(RdmaStreamChannel.class)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, timeout));
    }
}
