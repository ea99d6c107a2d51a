package org.nettyrdma.streamtests.http;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoopGroup;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HexFormat;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.streamtests.StreamTransport;
import org.nettyrdma.streamtests.frameworks.RdmaLoopResources;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.HttpProtocol;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerRoutes;
import reactor.netty.resources.ConnectionProvider;
import reactor.netty.resources.LoopResources;

/**
 * Reactor Netty's HTTP/1.1 and HTTP/2, with much data each way. {@code -Dnettyrdma.streamTests.bytes=1073741824} makes it a GiB.
 */
@Timeout(240)
class HttpOverStreamTest {

    private static final long LENGTH = Long.getLong("nettyrdma.streamTests.bytes", 16 * 1024 * 1024) + 12345;

    private final TestData data = new TestData(LENGTH);
    private EventLoopGroup group;
    private LoopResources loops;
    private ConnectionProvider connections;
    private DisposableServer server;

    @BeforeEach
    void start() {
        group = StreamTransport.newGroup(2, "http-stream");
        loops = new RdmaLoopResources(group);
        connections = ConnectionProvider.create("http-stream", 1);
    }

    @AfterEach
    void stop() {
        server.disposeNow();
        connections.disposeLater().block();
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    @ParameterizedTest
    @EnumSource(names = {"HTTP11", "H2C"})
    void shouldServeWhatTheClientAsksFor(HttpProtocol protocol) {
        HttpClient client = serve(protocol);

        assertEquals(data.sum(), client.get().uri("/data").responseContent().as(HttpOverStreamTest::sum).block());
    }

    @ParameterizedTest
    @EnumSource(names = {"HTTP11", "H2C"})
    void shouldTakeWhatTheClientSends(HttpProtocol protocol) {
        HttpClient client = serve(protocol);

        assertEquals(data.sum(), client.post().uri("/sum")
                .send((request, out) -> out.send(data.pieces(out.alloc())))
                .responseContent().aggregate().asString().block());
    }

    @ParameterizedTest
    @EnumSource(names = {"HTTP11", "H2C"})
    void shouldEchoWhileTheClientSends(HttpProtocol protocol) {
        HttpClient client = serve(protocol);

        assertEquals(data.sum(), client.post().uri("/echo")
                .send((request, out) -> out.send(data.pieces(out.alloc())))
                .responseContent().as(HttpOverStreamTest::sum).block());
    }

    private HttpClient serve(HttpProtocol protocol) {
        server = HttpServer.create().runOn(loops).protocol(protocol)
                .bindAddress(() -> new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .route(this::routes).bindNow();
        return HttpClient.create(connections).runOn(loops).protocol(protocol).remoteAddress(server::address);
    }

    private void routes(HttpServerRoutes routes) {
        routes.get("/data", (request, response) -> response.send(data.pieces(response.alloc())))
                .post("/sum", (request, response) -> response.sendString(sum(request.receive())))
                .post("/echo", (request, response) -> response.send(request.receive().retain()));
    }

    private static Mono<String> sum(Flux<ByteBuf> pieces) {
        return pieces.collect(TestData::newDigest, (digest, piece) -> digest.update(piece.nioBuffer()))
                .map(digest -> HexFormat.of().formatHex(digest.digest()));
    }
}
