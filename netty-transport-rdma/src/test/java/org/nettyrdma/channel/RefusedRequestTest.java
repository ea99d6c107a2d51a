package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.nettyrdma.testkit.Endpoint;
import org.nettyrdma.testkit.TransportFixture;
import org.nettyrdma.verbs.VerbsProvider;

/** Requests of peers for which the device has no queue pair, or which it cannot answer. */
@Timeout(60)
class RefusedRequestTest extends TransportFixture {

    private final FaultyProvider faulty = new FaultyProvider();
    private final BlockingQueue<RdmaChannel> children = new LinkedBlockingQueue<>();

    @Override
    protected VerbsProvider provider() {
        return faulty;
    }

    static List<Throwable> failures() {
        return List.of(new IOException("expected"), new IllegalStateException("expected"), new OutOfMemoryError("expected"));
    }

    /** Netty writes a stack trace for each channel that it cannot register, or whose failure no handler takes. */
    @ParameterizedTest
    @MethodSource("failures")
    void shouldRefuseConnectionsWithoutAQueuePairWithFewLinesInTheLog(Throwable failure) throws Exception {
        faulty.queuePairFailure = failure;
        assertRefused();
    }

    @ParameterizedTest
    @MethodSource("failures")
    void shouldRefuseConnectionsThatCannotBeAcceptedWithFewLinesInTheLog(Throwable failure) throws Exception {
        faulty.acceptFailure = failure;
        assertRefused();
    }

    private void assertRefused() throws Exception {
        Channel server = listen(serverBootstrap().childHandler(new ChannelInitializer<RdmaChannel>() {
            @Override
            protected void initChannel(RdmaChannel channel) {
                children.add(channel);
            }
        }).option(RdmaChannelOption.MAX_CONNECTIONS, 1));
        PrintStream before = System.err;
        ByteArrayOutputStream log = new ByteArrayOutputStream();
        System.setErr(new PrintStream(log, true, StandardCharsets.UTF_8));
        try {
            for (int i = 0; i < 12; i++) {
                ChannelFuture connect = bootstrap().handler(newEndpoint()).connect(addressOf(server));
                assertInstanceOf(IOException.class, Endpoint.awaitFailure(connect));
                Endpoint.await(children.poll(Endpoint.TIMEOUT_SECONDS, TimeUnit.SECONDS).releaseFuture());
            }
        } finally {
            System.setErr(before);
        }
        String text = log.toString(StandardCharsets.UTF_8);
        assertFalse(text.contains("Failed to register") || text.contains("at the tail"), text);
        faulty.queuePairFailure = null;
        faulty.acceptFailure = null;
        connect(bootstrap(), server);
    }
}
