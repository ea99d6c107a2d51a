package org.nettyrdma.streamtests.frameworks;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.resolver.DefaultAddressResolverGroup;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;
import reactor.netty.resources.LoopResources;

class ReactorNettyTest extends Framework {

    @Test
    void shouldCarryHttp() {
        String serverName = "127.1"; // an address for the JDK, a name for the resolver of Reactor Netty
        LoopResources loops = new RdmaLoopResources(group);
        DisposableServer server = HttpServer.create()
                .runOn(loops)
                .bindAddress(() -> address)
                .handle((request, response) -> response.send(request.receive().retain()))
                .bindNow();
        HttpClient client = HttpClient.create()
                .runOn(loops)
                .resolver(DefaultAddressResolverGroup.INSTANCE)
                .host(serverName)
                .port(server.port());
        try {
            assertEquals(text, client.post().uri("/").send((request, out) -> out.sendString(Mono.just(text)))
                    .responseContent().aggregate().asString().block());
        } finally {
            server.disposeNow();
        }
    }
}
