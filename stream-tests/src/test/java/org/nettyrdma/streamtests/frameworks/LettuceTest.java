package org.nettyrdma.streamtests.frameworks;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.resource.ClientResources;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.nettyrdma.channel.RdmaServerStreamChannel;

class LettuceTest extends Framework {

    @Test
    void shouldCarryValues() {
        Channel server = new ServerBootstrap().group(group).channel(RdmaServerStreamChannel.class)
                .childHandler(new RedisServer()).bind(address).syncUninterruptibly().channel();
        RedisURI uri = RedisURI.create(address.getHostString(), ((InetSocketAddress) server.localAddress()).getPort());
        ClientResources resources = ClientResources.create();
        try (RdmaRedisClient client = new RdmaRedisClient(resources, uri, group);
                StatefulRedisConnection<String, String> connection = client.connect()) {
            connection.sync().set("key", text);

            assertEquals(text, connection.sync().get("key"));
        } finally {
            resources.shutdown(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
            server.close().syncUninterruptibly();
        }
    }
}
