package org.nettyrdma.streamtests.frameworks;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.resolver.DefaultAddressResolverGroup;
import io.rsocket.RSocket;
import io.rsocket.SocketAcceptor;
import io.rsocket.core.RSocketConnector;
import io.rsocket.core.RSocketServer;
import io.rsocket.transport.netty.client.TcpClientTransport;
import io.rsocket.transport.netty.server.CloseableChannel;
import io.rsocket.transport.netty.server.TcpServerTransport;
import io.rsocket.util.DefaultPayload;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.netty.resources.LoopResources;
import reactor.netty.tcp.TcpClient;
import reactor.netty.tcp.TcpServer;

class RsocketTest extends Framework {

    @Test
    void shouldCarryPayloads() {
        String serverName = "127.1"; // an address for the JDK, a name for the resolver of Reactor Netty
        SocketAcceptor acceptor = SocketAcceptor.forRequestResponse(Mono::just);
        LoopResources loops = new RdmaLoopResources(group);
        CloseableChannel server = RSocketServer.create(acceptor)
                .bindNow(TcpServerTransport.create(TcpServer.create()
                        .runOn(loops)
                        .bindAddress(() -> address)));
        RSocket client = RSocketConnector.create()
                .connect(TcpClientTransport.create(TcpClient.create()
                        .runOn(loops)
                        .resolver(DefaultAddressResolverGroup.INSTANCE)
                        .host(serverName)
                        .port(server.address().getPort())))
                .block();
        try {
            assertEquals(text, client.requestResponse(DefaultPayload.create(text)).block().getDataUtf8());
        } finally {
            client.dispose();
            server.dispose();
        }
    }
}
