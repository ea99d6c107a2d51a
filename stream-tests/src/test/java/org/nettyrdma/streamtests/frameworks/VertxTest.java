package org.nettyrdma.streamtests.frameworks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.impl.VertxBuilder;
import io.vertx.core.impl.VertxInternal;
import io.vertx.core.spi.VertxServiceProvider;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nettyrdma.channel.RdmaEventLoopGroup;

class VertxTest extends Framework {

    @Test
    void shouldCarryHttp() throws Exception {
        Vertx vertx = new VertxBuilder().init().findTransport(new RdmaTransport()).vertx();
        carryHttp(vertx);
    }

    @Test
    void shouldCarryHttpWhereTheProgramMakesItsVertx(@TempDir Path directory) throws Exception {
        Path services = Files.createDirectories(directory.resolve("META-INF").resolve("services"));
        Files.writeString(services.resolve(VertxServiceProvider.class.getName()), RdmaVertx.class.getName());
        Thread thread = Thread.currentThread();
        ClassLoader loader = thread.getContextClassLoader();
        try (URLClassLoader withService = new URLClassLoader(new URL[] {directory.toUri().toURL()}, loader)) {
            thread.setContextClassLoader(withService);
            carryHttp(Vertx.vertx());
        } finally {
            thread.setContextClassLoader(loader);
        }
    }

    private void carryHttp(Vertx vertx) throws Exception {
        try {
            assertInstanceOf(RdmaEventLoopGroup.class, ((VertxInternal) vertx).getEventLoopGroup());
            HttpServer server = await(vertx.createHttpServer()
                    .requestHandler(request -> request.body().onSuccess(request.response()::end))
                    .listen(0, address.getHostString()));

            assertEquals(text, await(vertx.createHttpClient()
                    .request(HttpMethod.POST, server.actualPort(), address.getHostString(), "/")
                    .compose(request -> request.send(text)).compose(HttpClientResponse::body)).toString());
        } finally {
            await(vertx.close());
        }
    }

    private static <T> T await(Future<T> future) throws Exception {
        return future.toCompletionStage().toCompletableFuture().get(20, TimeUnit.SECONDS);
    }
}
