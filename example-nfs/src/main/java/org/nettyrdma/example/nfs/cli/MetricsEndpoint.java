package org.nettyrdma.example.nfs.cli;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Shows the meters of this process to Prometheus, at {@code http://ADDRESS:PORT/metrics}. */
final class MetricsEndpoint implements AutoCloseable {

    private static final String PATH = "/metrics";
    private static final String CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";
    /** Whoever is slower than these seconds, or asks for nothing, loses the connection to who comes next. */
    private static final String MAX_SECONDS = "5";
    /** How often the server looks for connections of those who ask for nothing. */
    private static final String IDLE_CHECK_MILLIS = "1000";
    /** So many are read from and answered at once: a slow one holds up its thread. */
    private static final int MAX_THREADS = 16;
    /** Further ones are closed at once, so that whoever connects here leaves file descriptors to the clients of the server. */
    private static final String MAX_CONNECTIONS = "64";
    private static final int IDLE_THREAD_SECONDS = 10;
    /**
     * Java copies what is written at once to direct memory, which the calls of clients may have used up, and keeps as much for
     * the thread.
     */
    private static final int PIECE_BYTES = 4096;

    /** What was asked for meanwhile gets the same text: making it costs far more than asking for it. */
    private static final long MAX_AGE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final HttpServer server;
    private final ThreadPoolExecutor threads = new ThreadPoolExecutor(MAX_THREADS, MAX_THREADS, IDLE_THREAD_SECONDS,
            TimeUnit.SECONDS, new LinkedBlockingQueue<>(), new DefaultThreadFactory("nfs-metrics", true));

    /** What was shown last, not changed any more; guarded by this, as when that was made. */
    private byte[] text;
    private long textNanos;

    private MetricsEndpoint(HttpServer server) {
        this.server = server;
        threads.allowCoreThreadTimeOut(true);
        server.setExecutor(threads);
    }

    static MetricsEndpoint start(InetSocketAddress address) throws IOException {
        Map<String, String> limits = Map.of("sun.net.httpserver.maxReqTime", MAX_SECONDS,
                "sun.net.httpserver.maxRspTime", MAX_SECONDS, "sun.net.httpserver.idleInterval", MAX_SECONDS,
                "sun.net.httpserver.clockTick", IDLE_CHECK_MILLIS, "jdk.httpserver.maxConnections", MAX_CONNECTIONS);
        limits.forEach((name, limit) -> {
            if (System.getProperty(name) == null) {
                System.setProperty(name, limit);
            }
        });
        HttpServer server;
        try {
            server = HttpServer.create(address, 0);
        } catch (IOException e) {
            throw new IOException("cannot show metrics on " + NetUtil.toSocketAddressString(address) + ": " + e.getMessage(), e);
        }
        MetricsEndpoint endpoint = new MetricsEndpoint(server);
        server.createContext(PATH, endpoint::answer); // and all that begins with it
        server.start();
        return endpoint;
    }

    PrometheusMeterRegistry registry() {
        return registry;
    }

    InetSocketAddress address() {
        return server.getAddress();
    }

    /** Each answer is the last of its connection: nobody keeps a place between two. */
    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            exchange.getResponseHeaders().set("Connection", "close");
            boolean isHead = exchange.getRequestMethod().equals("HEAD");
            if (!exchange.getRequestURI().getPath().equals(PATH)) {
                exchange.sendResponseHeaders(HttpURLConnection.HTTP_NOT_FOUND, -1);
            } else if (!isHead && !exchange.getRequestMethod().equals("GET")) {
                exchange.getResponseHeaders().set("Allow", "GET, HEAD");
                exchange.sendResponseHeaders(HttpURLConnection.HTTP_BAD_METHOD, -1);
            } else {
                showMeters(exchange, isHead);
            }
        } catch (OutOfMemoryError e) { // the thread would write a stack trace, as often as somebody asks
            throw new IOException("no memory to show the meters", e);
        }
    }

    private synchronized byte[] text() {
        if (text == null || System.nanoTime() - textNanos > MAX_AGE_NANOS) {
            text = registry.scrape().getBytes(StandardCharsets.UTF_8);
            textNanos = System.nanoTime();
        }
        return text;
    }

    private void showMeters(HttpExchange exchange, boolean isHead) throws IOException {
        byte[] text = text();
        exchange.getResponseHeaders().set("Content-Type", CONTENT_TYPE);
        if (isHead) {
            exchange.getResponseHeaders().set("Content-Length", String.valueOf(text.length));
            exchange.sendResponseHeaders(HttpURLConnection.HTTP_OK, -1); // with a length it would log a warning, each time
        } else {
            exchange.sendResponseHeaders(HttpURLConnection.HTTP_OK, text.length);
            OutputStream body = exchange.getResponseBody();
            for (int from = 0; from < text.length; from += PIECE_BYTES) {
                body.write(text, from, Math.min(PIECE_BYTES, text.length - from));
            }
        }
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdown();
        registry.close();
    }
}
