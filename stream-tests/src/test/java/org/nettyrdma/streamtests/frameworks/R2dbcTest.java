package org.nettyrdma.streamtests.frameworks;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.r2dbc.postgresql.PostgresqlConnectionConfiguration;
import io.r2dbc.postgresql.PostgresqlConnectionFactory;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;
import org.nettyrdma.channel.RdmaServerStreamChannel;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.resources.LoopResources;

class R2dbcTest extends Framework {

    @Test
    void shouldCarryRows() throws Exception {
        String serverName = "127.1"; // an address for the JDK, a name for the resolver of Reactor Netty
        Channel server = new ServerBootstrap().group(group).channel(RdmaServerStreamChannel.class)
                .childHandler(new PostgresServer()).bind(address).syncUninterruptibly().channel();
        int port = ((InetSocketAddress) server.localAddress()).getPort();
        LoopResources loops = new RdmaLoopResources(group);
        ConnectionFactory factory = new PostgresqlConnectionFactory(PostgresqlConnectionConfiguration.builder()
                .loopResources(loops)
                .host(InetAddress.getByName(serverName).getHostAddress())
                .port(port)
                .username("user")
                .build());
        Connection connection = Mono.from(factory.create()).block();
        try {
            assertEquals(text, Flux.from(connection.createStatement("SELECT '" + text + "'").execute())
                    .flatMap(result -> result.map((row, metadata) -> row.get(0, String.class))).blockLast());
        } finally {
            Mono.from(connection.close()).block();
            server.close().syncUninterruptibly();
        }
    }
}
