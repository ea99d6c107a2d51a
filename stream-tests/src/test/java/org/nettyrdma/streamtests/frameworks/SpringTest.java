package org.nettyrdma.streamtests.frameworks;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.resolver.DefaultAddressResolverGroup;
import org.junit.jupiter.api.Test;
import org.springframework.http.client.ReactorResourceFactory;
import org.springframework.http.client.reactive.ReactorClientHttpConnector;
import org.springframework.http.server.reactive.HttpHandler;
import org.springframework.http.server.reactive.ReactorHttpHandlerAdapter;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

class SpringTest extends Framework {

    @Test
    void shouldCarryHttp() {
        ReactorResourceFactory resources = new ReactorResourceFactory();
        resources.setUseGlobalResources(false);
        resources.setLoopResources(new RdmaLoopResources(group));
        resources.start();
        HttpHandler handler = (request, response) -> response.writeWith(request.getBody());
        DisposableServer server = HttpServer.create()
                .runOn(resources.getLoopResources())
                .bindAddress(() -> address)
                .handle(new ReactorHttpHandlerAdapter(handler))
                .bindNow();
        WebClient.Builder builder = WebClient.builder()
                .clientConnector(new ReactorClientHttpConnector(resources,
                        http -> http.resolver(DefaultAddressResolverGroup.INSTANCE)));
        WebClient client = builder.baseUrl("http://" + address.getHostString() + ":" + server.port())
                .codecs(codecs -> codecs.defaultCodecs().maxInMemorySize(2 * text.length())).build();
        try {
            assertEquals(text, client.post().bodyValue(text).retrieve().bodyToMono(String.class).block());
        } finally {
            server.disposeNow();
            resources.stop();
        }
    }
}
