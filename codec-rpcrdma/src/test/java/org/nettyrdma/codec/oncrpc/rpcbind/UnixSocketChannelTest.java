package org.nettyrdma.codec.oncrpc.rpcbind;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioEventLoopGroup;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Against the JDK's own server socket. */
@Timeout(60)
class UnixSocketChannelTest {

    private final NioEventLoopGroup group = new NioEventLoopGroup(1);
    private final ByteArrayOutputStream received = new ByteArrayOutputStream();
    private final CompletableFuture<byte[]> complete = new CompletableFuture<>();

    @TempDir
    private Path directory;

    private ServerSocketChannel listener;
    private int expectedBytes;

    @BeforeEach
    void listen() throws IOException {
        listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        listener.bind(UnixDomainSocketAddress.of(socket()));
    }

    @AfterEach
    void stop() throws IOException {
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
        listener.close();
    }

    @Test
    void shouldSendAndReceiveMoreThanASocketHolds() throws Exception {
        byte[] data = new byte[3_000_001];
        new Random(6).nextBytes(data);
        expectedBytes = data.length;
        Channel channel = connect().sync().channel();
        try (SocketChannel peer = listener.accept()) {
            assertTrue(channel.isActive());
            assertEquals(UnixDomainSocketAddress.of(socket()), channel.remoteAddress());
            ByteBuf message = ByteBufAllocator.DEFAULT.directBuffer(data.length).writeBytes(data);
            ChannelFuture written = channel.writeAndFlush(message);
            ByteBuffer read = ByteBuffer.allocate(data.length);
            while (read.hasRemaining()) {
                assertTrue(peer.read(read) >= 0);
            }
            assertEquals(ByteBuffer.wrap(data), read.flip());
            written.sync();
            while (read.hasRemaining()) {
                peer.write(read);
            }
            assertEquals(ByteBuffer.wrap(data), ByteBuffer.wrap(complete.get(30, TimeUnit.SECONDS)));
        }
    }

    @Test
    void shouldCloseWithThePeer() throws Exception {
        Channel channel = connect().sync().channel();
        listener.accept().close();
        assertTrue(channel.closeFuture().await(30, TimeUnit.SECONDS));
        assertFalse(channel.isActive());
    }

    @Test
    void shouldTellThePeerThatItCloses() throws Exception {
        Channel channel = connect().sync().channel();
        try (SocketChannel peer = listener.accept()) {
            channel.close().sync();
            assertEquals(-1, peer.read(ByteBuffer.allocate(1)));
        }
    }

    @Test
    void shouldFailToConnectWhereNobodyListens() throws Exception {
        listener.close();
        assertInstanceOf(IOException.class, connect().await().cause());
    }

    private Path socket() {
        return directory.resolve("socket");
    }

    private ChannelFuture connect() {
        return new Bootstrap().group(group).channelFactory(UnixSocketChannel::new)
                .handler(new SimpleChannelInboundHandler<ByteBuf>() {
            @Override
            protected void channelRead0(ChannelHandlerContext ctx, ByteBuf data) {
                received.writeBytes(ByteBufUtil.getBytes(data));
                if (received.size() == expectedBytes) {
                    complete.complete(received.toByteArray());
                }
            }
        }).connect(UnixDomainSocketAddress.of(socket()));
    }
}
