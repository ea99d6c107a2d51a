package org.nettyrdma.example.nfs.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Meter;
import io.netty.util.NetUtil;
import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.example.nfs.TestServer;
import org.nettyrdma.example.nfs.Transport;
import org.nettyrdma.example.nfs.client.NfsClientOptions;
import org.nettyrdma.example.nfs.client.NfsSession;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

class MetricsEndpointTest {

    private static final int TEXT_BYTES = 8 << 20;
    private static final Path DASHBOARD = Path.of("docker/grafana/rpc-over-rdma.json");
    private static final Path ALERTS = Path.of("docker/alerts.yml");
    private static final Pattern SAMPLE = Pattern.compile("(?m)^([a-z_]+)[{ ]");
    private static final Pattern METER = Pattern.compile("\\b(?:rpc|rdma|rpcrdma|nfs)_[a-z_]+");

    @Test
    void shouldShowEveryMeterThatTheDashboardAndTheAlertsName() throws Exception {
        Set<String> shown = SAMPLE.matcher(afterACallOverEachTransport()).results().map(sample -> sample.group(1))
                .collect(Collectors.toSet());
        Set<String> missing = new TreeSet<>(named(expressionsOfTheDashboard()));
        missing.addAll(named(expressionsOfTheAlerts()));
        assertTrue(missing.size() > 10, missing::toString);
        missing.removeAll(shown);

        assertEquals(Set.of(), missing);
    }

    @Test
    void shouldTellCallsOverEachTransportApart() throws Exception {
        String text = afterACallOverEachTransport();

        for (String transport : List.of("rdma", "tcp")) {
            assertTrue(text.lines().anyMatch(line -> line.startsWith("rpc_server_call_duration_seconds_count{")
                    && line.contains("outcome=\"success\"") && line.contains("program=\"100003\"")
                    && line.contains("transport=\"" + transport + '"')), text);
            assertTrue(text.contains("rpc_server_calls_active_calls{transport=\"" + transport + "\"} 0.0\n"), text);
        }
        assertTrue(text.contains("rpc_server_duplicates_"), text);
        assertTrue(text.contains("nfs_server_calls_seconds_count{procedure=\"GETATTR\"}"), text);
    }

    @Test
    void shouldGiveEveryMeterABaseUnit() throws Exception {
        try (MetricsEndpoint endpoint = MetricsEndpoint.start(new InetSocketAddress(NetUtil.LOCALHOST, 0));
                TestServer server = TestServer.start(endpoint.registry())) {
            for (Transport transport : Transport.values()) {
                try (NfsSession session = server.open(transport)) {
                    session.client().getAttributes(session.files().root().handle()).get(10, TimeUnit.SECONDS);
                }
            }
            List<Meter.Id> meters = endpoint.registry().getMeters().stream().map(Meter::getId).toList();
            assertTrue(meters.size() > 100, meters::toString);
            assertEquals(List.of(), meters.stream().filter(meter -> meter.getBaseUnit() == null).toList());
        }
    }

    @Test
    void shouldNameTheAddressThatIsTaken() throws IOException {
        InetSocketAddress any = new InetSocketAddress(NetUtil.LOCALHOST, 0);
        try (MetricsEndpoint first = MetricsEndpoint.start(any)) {
            IOException refused = assertThrows(IOException.class, () -> MetricsEndpoint.start(first.address()));
            assertEquals("cannot show metrics on " + NetUtil.toSocketAddressString(first.address()) + ": Address already in use",
                    refused.getMessage());
        }
    }

    /** However many there are, each of them would have a thread or a place for five seconds. */
    @ParameterizedTest
    @ValueSource(ints = {20, 100})
    void shouldAnswerWhileOthersDoNotEndTheirRequests(int count) throws Exception {
        List<Socket> slow = new ArrayList<>();
        try (MetricsEndpoint endpoint = MetricsEndpoint.start(new InetSocketAddress(NetUtil.LOCALHOST, 0))) {
            for (int i = 0; i < count; i++) {
                Socket socket = new Socket(NetUtil.LOCALHOST, endpoint.address().getPort());
                slow.add(socket);
                send(socket, "GET /metrics HTTP/1.1\r\n");
            }
            try (Socket socket = new Socket(NetUtil.LOCALHOST, endpoint.address().getPort())) {
                socket.setSoTimeout(3_000);
                send(socket, "GET /metrics HTTP/1.1\r\n\r\n");
                assertTrue(answer(socket).startsWith("HTTP/1.1 200 OK\r\n"));
            }
        } finally {
            for (Socket socket : slow) {
                socket.close();
            }
        }
    }

    /** They could take all descriptors of the process, which the clients of the server need, or keep Prometheus out. */
    @Test
    void shouldCloseTheOldestConnectionBeyondTheLimit() throws Exception {
        List<Socket> idle = new ArrayList<>();
        try (MetricsEndpoint endpoint = MetricsEndpoint.start(new InetSocketAddress(NetUtil.LOCALHOST, 0))) {
            for (int i = 0; i < 65; i++) {
                Socket socket = new Socket(NetUtil.LOCALHOST, endpoint.address().getPort());
                idle.add(socket);
                socket.setSoTimeout(3_000);
            }
            assertClosed(idle.get(0));

            for (Socket socket : List.of(idle.get(1), idle.get(64))) {
                send(socket, "GET /metrics HTTP/1.0\r\n\r\n");
                assertEquals('H', socket.getInputStream().read());
            }
        } finally {
            for (Socket socket : idle) {
                socket.close();
            }
        }
    }

    @Test
    void shouldCloseConnectionsOfThoseWhoAskForNothing() throws Exception {
        try (MetricsEndpoint endpoint = MetricsEndpoint.start(new InetSocketAddress(NetUtil.LOCALHOST, 0));
                Socket idle = new Socket(NetUtil.LOCALHOST, endpoint.address().getPort());
                Socket slow = new Socket(NetUtil.LOCALHOST, endpoint.address().getPort())) {
            send(slow, "GET /metrics HTTP/1.1\r\n");
            for (Socket socket : List.of(idle, slow)) {
                socket.setSoTimeout(10_000);
                assertClosed(socket);
            }
        }
    }

    /** Of an answer that nobody takes the system would keep some megabytes, for minutes and counted by nobody. */
    @ParameterizedTest
    @CsvSource({TEXT_BYTES + ",false", "65536,false", "65536,true"}) // more than the system takes at once, and less
    void shouldResetAConnectionThatDoesNotTakeItsAnswer(int textBytes, boolean endsOutput) throws Exception {
        List<Socket> later = new ArrayList<>();
        try (MetricsEndpoint endpoint = MetricsEndpoint.start(new InetSocketAddress(NetUtil.LOCALHOST, 0));
                Socket socket = new Socket()) {
            endpoint.registry().counter("calls", "long", "x".repeat(textBytes)).increment();
            socket.setReceiveBufferSize(4096);
            socket.setSoTimeout(3_000);
            socket.connect(endpoint.address());
            send(socket, "GET /metrics HTTP/1.1\r\n\r\n");
            if (endsOutput) {
                socket.shutdownOutput();
            }
            assertEquals('H', socket.getInputStream().read());

            for (int i = 0; i < 64; i++) {
                later.add(new Socket(NetUtil.LOCALHOST, endpoint.address().getPort()));
            }
            send(later.get(63), "GET /metrics HTTP/1.1\r\n\r\n");
            assertEquals('H', later.get(63).getInputStream().read());
            assertThrows(SocketException.class, () -> answer(socket));
        } finally {
            for (Socket each : later) {
                each.close();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"x\r\n\r\n", "GET /metrics\r\n\r\n", "GET /metrics HTTP/2.0\r\n\r\n"})
    void shouldRefuseWhatIsNoRequest(String request) throws Exception {
        try (MetricsEndpoint endpoint = MetricsEndpoint.start(new InetSocketAddress(NetUtil.LOCALHOST, 0));
                Socket socket = new Socket(NetUtil.LOCALHOST, endpoint.address().getPort())) {
            socket.setSoTimeout(3_000);
            send(socket, request);
            assertTrue(answer(socket).startsWith("HTTP/1.1 400 Bad Request\r\n"));
        }
    }

    @Test
    void shouldRefuseARequestWhoseLineHasNoEnd() throws Exception {
        try (MetricsEndpoint endpoint = MetricsEndpoint.start(new InetSocketAddress(NetUtil.LOCALHOST, 0));
                Socket socket = new Socket(NetUtil.LOCALHOST, endpoint.address().getPort())) {
            socket.setSoTimeout(3_000);
            send(socket, "x".repeat(4097));
            assertTrue(answer(socket).startsWith("HTTP/1.1 400 Bad Request\r\n"));
        }
    }

    @Test
    void shouldCloseAConnectionBehindItsAnswer() throws Exception {
        try (MetricsEndpoint endpoint = MetricsEndpoint.start(new InetSocketAddress(NetUtil.LOCALHOST, 0));
                Socket socket = new Socket(NetUtil.LOCALHOST, endpoint.address().getPort())) {
            socket.setSoTimeout(3_000);
            send(socket, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
            String answer = answer(socket);
            assertTrue(answer.startsWith("HTTP/1.1 200 OK\r\n"), answer);
        }
    }

    /** It would overtake the answer on its way. */
    @Test
    void shouldNotResetAConnectionWhosePeerSendsMoreThanARequest() throws Exception {
        try (MetricsEndpoint endpoint = MetricsEndpoint.start(new InetSocketAddress(NetUtil.LOCALHOST, 0));
                Socket socket = new Socket(NetUtil.LOCALHOST, endpoint.address().getPort())) {
            socket.setSoTimeout(3_000);
            send(socket, "GET /metrics HTTP/1.1\r\n\r\n".repeat(1000));
            assertTrue(answer(socket).startsWith("HTTP/1.1 200 OK\r\n"));

            send(socket, "GET /metrics HTTP/1.1\r\n\r\n".repeat(1000));
            socket.shutdownOutput();
            assertEquals(-1, socket.getInputStream().read());
        }
    }

    @Test
    void shouldAnswerAPeerThatEndsItsOutputBehindItsRequest() throws Exception {
        try (MetricsEndpoint endpoint = MetricsEndpoint.start(new InetSocketAddress(NetUtil.LOCALHOST, 0));
                Socket socket = new Socket(NetUtil.LOCALHOST, endpoint.address().getPort())) {
            endpoint.registry().counter("calls", "long", "x".repeat(TEXT_BYTES)).increment();
            socket.setSoTimeout(3_000);
            send(socket, "GET /metrics HTTP/1.0\r\n\r\n");
            socket.shutdownOutput();
            assertTrue(answer(socket).length() > TEXT_BYTES);
        }
    }

    @Test
    void shouldCloseAConnectionWhosePeerEndsItsOutputWithoutARequest() throws Exception {
        try (MetricsEndpoint endpoint = MetricsEndpoint.start(new InetSocketAddress(NetUtil.LOCALHOST, 0));
                Socket socket = new Socket(NetUtil.LOCALHOST, endpoint.address().getPort())) {
            socket.setSoTimeout(3_000);
            socket.shutdownOutput();
            assertEquals(-1, socket.getInputStream().read());
        }
    }

    @ParameterizedTest
    @CsvSource({"http://127.0.0.1/metrics, 200", "HTTP://[::1]:9464/metrics?name=x, 200", "http://x/, 404", "http://x, 404",
        "/http://x/metrics, 404"})
    void shouldTakeAWholeAddressInPlaceOfThePath(String target, int status) throws Exception {
        try (MetricsEndpoint endpoint = MetricsEndpoint.start(new InetSocketAddress(NetUtil.LOCALHOST, 0));
                Socket socket = new Socket(NetUtil.LOCALHOST, endpoint.address().getPort())) {
            socket.setSoTimeout(3_000);
            send(socket, "GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n");
            String answer = answer(socket);
            assertTrue(answer.startsWith("HTTP/1.1 " + status + ' '), answer);
        }
    }

    @ParameterizedTest
    @CsvSource({"GET, /metrics, 200", "GET, /metrics?name=x, 200", "HEAD, /metrics, 200", "GET, /metricsx, 404",
        "GET, /metrics/, 404", "GET, /metrics/x, 404", "GET, /, 404", "POST, /metrics/x, 404", "POST, /metrics, 405",
        "DELETE, /metrics, 405"})
    void shouldAnswerOnePathAndTwoMethods(String method, String path, int status) throws Exception {
        try (MetricsEndpoint endpoint = MetricsEndpoint.start(new InetSocketAddress(NetUtil.LOCALHOST, 0))) {
            HttpResponse<String> response = ask(endpoint, method, path);
            assertEquals(status, response.statusCode());
            assertEquals(status == 405 ? "GET, HEAD" : "", response.headers().firstValue("Allow").orElse(""));
        }
    }

    @Test
    void shouldAnswerHeadWithoutTheText() throws Exception {
        try (MetricsEndpoint endpoint = MetricsEndpoint.start(new InetSocketAddress(NetUtil.LOCALHOST, 0));
                Socket socket = new Socket(NetUtil.LOCALHOST, endpoint.address().getPort())) {
            endpoint.registry().counter("calls").increment();
            int bytes = get(endpoint).body().length();
            assertTrue(bytes > 0);

            socket.setSoTimeout(3_000);
            send(socket, "HEAD /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
            String answer = answer(socket);
            assertTrue(answer.contains("\r\ncontent-length: " + bytes + "\r\n"), answer);
            assertTrue(answer.endsWith("\r\n\r\n"), answer);
        }
    }

    /** Whoever asks as often as he can would take a processor, and each text its memory. */
    @Test
    void shouldMakeTheTextOnceForThoseWhoAskAtOnce() throws Exception {
        try (MetricsEndpoint endpoint = MetricsEndpoint.start(new InetSocketAddress(NetUtil.LOCALHOST, 0));
                Socket second = new Socket(NetUtil.LOCALHOST, endpoint.address().getPort())) {
            AtomicInteger made = new AtomicInteger();
            FunctionCounter.builder("calls", made, count -> {
                if (count.incrementAndGet() == 1) {
                    askFor(second);
                }
                return count.get();
            }).register(endpoint.registry());

            String first = get(endpoint).body();
            assertTrue(first.contains("calls_total 1.0"), first);
            assertTrue(answer(second).endsWith(first));
        }
    }

    private static void askFor(Socket socket) {
        try {
            socket.setSoTimeout(10_000);
            send(socket, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** The calls of clients may have used up the direct memory; then there were no meters. */
    @Test
    void shouldAnswerWithoutDirectMemoryForTheWholeText() throws Exception {
        BufferPoolMXBean direct = ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(pool -> pool.getName().equals("direct")).findFirst().orElseThrow();
        try (MetricsEndpoint endpoint = MetricsEndpoint.start(new InetSocketAddress(NetUtil.LOCALHOST, 0))) {
            endpoint.registry().counter("calls", "long", "x".repeat(TEXT_BYTES)).increment();
            long beforeBytes = direct.getMemoryUsed();

            assertTrue(get(endpoint).body().length() > TEXT_BYTES);
            long moreBytes = direct.getMemoryUsed() - beforeBytes; // threads keep what they have used
            assertTrue(moreBytes < TEXT_BYTES / 2, () -> moreBytes + " bytes");
        }
    }

    /** With a stack trace of each failure whoever asks could fill the disk with the log. */
    @Test
    void shouldLeaveNoErrorToTheThreadWhereThereIsNoMemory() throws Exception {
        AtomicReference<Throwable> uncaught = new AtomicReference<>();
        Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
        Thread.setDefaultUncaughtExceptionHandler((thread, error) -> uncaught.set(error));
        try {
            for (Thread thread : threadsAfterAFailure()) { // they end with their endpoint
                thread.join(10_000);
            }
            assertNull(uncaught.get());
        } finally {
            Thread.setDefaultUncaughtExceptionHandler(before);
        }
    }

    private static List<Thread> threadsAfterAFailure() throws IOException {
        try (MetricsEndpoint endpoint = MetricsEndpoint.start(new InetSocketAddress(NetUtil.LOCALHOST, 0))) {
            CountDownLatch asked = new CountDownLatch(1);
            FunctionCounter.builder("calls", asked, latch -> {
                latch.countDown();
                throw new OutOfMemoryError("of the test");
            }).register(endpoint.registry());

            assertThrows(IOException.class, () -> get(endpoint));
            assertEquals(0, asked.getCount());
            return Thread.getAllStackTraces().keySet().stream()
                    .filter(thread -> thread.getName().startsWith("nfs-metrics-")).toList();
        }
    }

    private static void send(Socket socket, String request) throws IOException {
        socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
    }

    private static String answer(Socket socket) throws IOException {
        return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
    }

    /** In whichever way. */
    private static void assertClosed(Socket socket) throws IOException {
        try {
            assertEquals(-1, socket.getInputStream().read());
        } catch (SocketException e) {
            assertEquals("Connection reset", e.getMessage());
        }
    }

    private static HttpResponse<String> get(MetricsEndpoint endpoint) throws Exception {
        return ask(endpoint, "GET", "/metrics");
    }

    private static HttpResponse<String> ask(MetricsEndpoint endpoint, String method, String path) throws Exception {
        URI uri = URI.create("http://" + NetUtil.toSocketAddressString(endpoint.address()) + path);
        HttpRequest request = HttpRequest.newBuilder(uri).timeout(Duration.ofSeconds(20))
                .method(method, HttpRequest.BodyPublishers.noBody()).build();
        return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    }

    private static String afterACallOverEachTransport() throws Exception {
        try (MetricsEndpoint endpoint = MetricsEndpoint.start(new InetSocketAddress(NetUtil.LOCALHOST, 0));
                TestServer server = TestServer.start(endpoint.registry())) {
            for (Transport transport : Transport.values()) {
                NfsClientOptions client = new NfsClientOptions().setMeterRegistry(endpoint.registry());
                try (NfsSession session = NfsSession.open(server.endpoint(transport), client)) {
                    session.client().getAttributes(session.files().root().handle()).get(10, TimeUnit.SECONDS);
                }
            }
            HttpResponse<String> response = get(endpoint);
            assertEquals(200, response.statusCode());
            return response.body();
        }
    }

    private static Set<String> named(List<String> expressions) {
        return expressions.stream().flatMap(expression -> METER.matcher(expression).results()).map(MatchResult::group)
                .collect(Collectors.toSet());
    }

    private static List<String> expressionsOfTheDashboard() throws IOException {
        List<String> expressions = new ArrayList<>();
        JsonObject dashboard = JsonParser.parseString(Files.readString(DASHBOARD)).getAsJsonObject();
        for (JsonElement panel : dashboard.getAsJsonArray("panels")) {
            for (JsonElement target : panel.getAsJsonObject().getAsJsonArray("targets")) {
                expressions.add(target.getAsJsonObject().get("expr").getAsString());
            }
        }
        return expressions;
    }

    private static List<String> expressionsOfTheAlerts() throws IOException {
        List<String> expressions = new ArrayList<>();
        Map<?, ?> file = (Map<?, ?>) new Load(LoadSettings.builder().build()).loadFromString(Files.readString(ALERTS));
        for (Object group : (List<?>) file.get("groups")) {
            for (Object rule : (List<?>) ((Map<?, ?>) group).get("rules")) {
                expressions.add((String) ((Map<?, ?>) rule).get("expr"));
            }
        }
        return expressions;
    }
}
