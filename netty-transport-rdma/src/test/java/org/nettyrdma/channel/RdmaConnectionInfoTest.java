package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.testkit.Endpoint;
import org.nettyrdma.testkit.TransportFixture;
import org.nettyrdma.verbs.VerbsProvider;

/** What a channel tells about its connection is what was agreed on, not what its options ask for. */
class RdmaConnectionInfoTest extends TransportFixture {

    @Override
    protected VerbsProvider provider() {
        return Rdma.provider("iwarp");
    }

    @ParameterizedTest
    @CsvSource({"false, false, false", "true, false, true", "false, true, true", "true, true, true"})
    void shouldTellWhetherThereIsAChecksum(boolean clientAsks, boolean serverAsks, boolean agreed) throws Exception {
        Connection connection = connect(serverBootstrap().childOption(RdmaChannelOption.CHECKSUM, serverAsks),
                bootstrap().option(RdmaChannelOption.CHECKSUM, clientAsks));
        assertEquals(agreed, connection.client().channel().connectionInfo().checksum());
        assertEquals(agreed, connection.server().channel().connectionInfo().checksum());
    }

    @Test
    void shouldTellWhatElseWasAgreedOn() throws Exception {
        Connection connection = connect(
                serverBootstrap().childOption(RdmaChannelOption.INBOUND_READ_DEPTH, 4)
                        .childOption(RdmaChannelOption.OUTBOUND_READ_DEPTH, 8),
                bootstrap().option(RdmaChannelOption.INBOUND_READ_DEPTH, 2).option(RdmaChannelOption.OUTBOUND_READ_DEPTH, 16));
        RdmaChannel client = connection.client().channel();
        assertEquals(new RdmaConnectionInfo("iwarp", 2, false, 2, 4, client.maxSendBytes()), client.connectionInfo());
        RdmaChannel server = connection.server().channel();
        assertEquals(new RdmaConnectionInfo("iwarp", 2, false, 4, 2, client.maxSendBytes()), server.connectionInfo());
    }

    @ParameterizedTest
    @ValueSource(ints = {1024, 16_384, Integer.MAX_VALUE})
    void shouldLowerReadDepthsToTheLimitOfTheProvider(int depth) throws Exception {
        Connection connection = connect(
                serverBootstrap().childOption(RdmaChannelOption.INBOUND_READ_DEPTH, depth)
                        .childOption(RdmaChannelOption.OUTBOUND_READ_DEPTH, depth),
                bootstrap().option(RdmaChannelOption.INBOUND_READ_DEPTH, depth)
                        .option(RdmaChannelOption.OUTBOUND_READ_DEPTH, depth));
        RdmaChannel client = connection.client().channel();
        assertEquals(new RdmaConnectionInfo("iwarp", 2, false, 1024, 1024, client.maxSendBytes()), client.connectionInfo());
    }

    @Test
    void shouldKeepAConnectionWhoseReadWasWrittenBeforeItWasKnownThatThereCanBeNone() throws Exception {
        CompletableFuture<ChannelFuture> read = new CompletableFuture<>();
        RdmaServerChannel server = listen(serverBootstrap().childOption(RdmaChannelOption.OUTBOUND_READ_DEPTH, 0)
                .childHandler(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void handlerAdded(ChannelHandlerContext ctx) {
                        read.complete(ctx.writeAndFlush(new RdmaRead(new RemoteSegment(1, 8, 0), ctx.alloc().buffer(8))));
                    }
                }));
        connect(bootstrap(), server);
        ChannelFuture failed = read.get(Endpoint.TIMEOUT_SECONDS, TimeUnit.SECONDS);
        assertTrue(failed.await(Endpoint.TIMEOUT_SECONDS, TimeUnit.SECONDS));
        assertTrue(failed.cause().getMessage().contains("the outbound read depth is 0"), failed::toString);
        assertTrue(failed.channel().isActive());
    }

    @Test
    void shouldTellFromTheConnectionToTheEndAndBeyond() throws Exception {
        assertNull(new RdmaChannel().connectionInfo());
        Connection connection = connect();
        RdmaChannel client = connection.client().channel();
        RdmaConnectionInfo info = client.connectionInfo();
        Endpoint.await(client.close());
        assertFalse(client.isActive());
        assertEquals(info, client.connectionInfo());
    }
}
