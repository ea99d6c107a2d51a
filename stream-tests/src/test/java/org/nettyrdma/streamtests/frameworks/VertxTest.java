package org.nettyrdma.streamtests.frameworks;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.impl.VertxBuilder;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class VertxTest extends Framework {

    @Test
    void shouldCarryHttp() throws Exception {
        Vertx vertx = new VertxBuilder().init().findTransport(new RdmaTransport()).vertx();
        try {
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
