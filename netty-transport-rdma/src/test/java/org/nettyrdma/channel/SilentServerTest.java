package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.ConnectTimeoutException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Queue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.testkit.Endpoint;

/** A server on plain TCP that takes the connection, waits for its client to begin, and so never answers. */
@Timeout(60)
class SilentServerTest {

    private static final int TIMEOUT_MILLIS = 200;

    @ParameterizedTest
    @CsvSource({"iwarp, org.nettyrdma.channel.RdmaChannel", "iwarp, org.nettyrdma.channel.RdmaStreamChannel",
        "iwarp-shm, org.nettyrdma.channel.RdmaChannel", "iwarp-shm, org.nettyrdma.channel.RdmaStreamChannel"})
    void shouldTellWhatAServerOnPlainTcpDoesNotAnswer(String provider, Class<? extends Channel> type) throws Exception {
        RdmaEventLoopGroup group = new RdmaEventLoopGroup(1, Rdma.provider(provider));
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            SocketAddress address = silent.getLocalSocketAddress();
            Throwable cause = Endpoint.awaitFailure(new Bootstrap().group(group).channel(type)
                    .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, TIMEOUT_MILLIS).handler(new ChannelInboundHandlerAdapter())
                    .connect(address));
            assertInstanceOf(ConnectTimeoutException.class, cause);
            assertEquals("connection timed out after 200 ms: " + address + ": TCP connected, but no MPA reply came: "
                    + "the server accepts no connections, or is no RDMA listener", cause.getMessage());
        } finally {
            group.shutdownGracefully();
        }
    }

    @Test
    void shouldTellThatThereIsNoTcpConnection() throws Exception {
        RdmaEventLoopGroup group = new RdmaEventLoopGroup(1, Rdma.provider("iwarp"));
        Queue<SocketChannel> backlog = new ArrayDeque<>();
        try (ServerSocket full = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            SocketAddress address = full.getLocalSocketAddress();
            for (int i = 0; i < 8; i++) { // of which the system takes two, and lets the others wait
                SocketChannel waiting = SocketChannel.open();
                backlog.add(waiting);
                waiting.configureBlocking(false);
                waiting.connect(address);
            }
            Throwable cause = Endpoint.awaitFailure(new Bootstrap().group(group).channel(RdmaChannel.class)
                    .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, TIMEOUT_MILLIS).handler(new ChannelInboundHandlerAdapter())
                    .connect(address));
            assertEquals("connection timed out after 200 ms: " + address + ": no TCP connection was made", cause.getMessage());
        } finally {
            for (SocketChannel waiting : backlog) {
                waiting.close();
            }
            group.shutdownGracefully();
        }
    }

    /** Who has many servers needs to know which of them it is. */
    @ParameterizedTest
    @ValueSource(classes = {RdmaChannel.class, RdmaStreamChannel.class})
    void shouldNameTheServerThatAnswersOnPlainTcp(Class<? extends Channel> type) throws Exception {
        RdmaEventLoopGroup group = new RdmaEventLoopGroup(1, Rdma.provider("iwarp"));
        try (ServerSocket plain = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            SocketAddress address = plain.getLocalSocketAddress();
            ChannelFuture connect = new Bootstrap().group(group).channel(type).handler(new ChannelInboundHandlerAdapter())
                    .connect(address);
            try (Socket accepted = plain.accept()) {
                accepted.getOutputStream().write("-ERR unknown command\r\n".getBytes(StandardCharsets.US_ASCII));
                Throwable cause = assertInstanceOf(ConnectException.class, Endpoint.awaitFailure(connect));
                assertTrue(cause.getMessage().endsWith("perhaps the peer is on plain TCP: " + address), cause::toString);
            }
        } finally {
            group.shutdownGracefully();
        }
    }

    /** What is told is made of the cause, for which there may be no memory. */
    @ParameterizedTest
    @ValueSource(classes = {RdmaChannel.class, RdmaStreamChannel.class})
    void shouldEndAnAttemptThoughThereIsNoMemoryToTellItsFailure(Class<? extends Channel> type) throws Exception {
        RdmaEventLoopGroup group = new RdmaEventLoopGroup(1, Rdma.provider("iwarp"));
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            ChannelFuture connect = new Bootstrap().group(group).channel(type).option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 0)
                    .handler(new ChannelInboundHandlerAdapter()).connect(silent.getLocalSocketAddress());
            QueuePairChannel channel = (QueuePairChannel) connect.channel();
            try (Socket accepted = silent.accept()) { // not before the channel connects
                channel.eventLoop().submit(() -> assertThrows(OutOfMemoryError.class,
                        () -> channel.connection.connectFailed(new Untold(), ByteBuffer.allocate(0)))).sync();
                assertInstanceOf(ClosedChannelException.class, Endpoint.awaitFailure(connect), accepted::toString);
                Endpoint.await(channel.releaseFuture());
            }
        } finally {
            group.shutdownGracefully();
        }
    }

    private static final class Untold extends ConnectException {

        private static final long serialVersionUID = 1;

        @Override
        public String getMessage() {
            throw new OutOfMemoryError("expected");
        }
    }
}
