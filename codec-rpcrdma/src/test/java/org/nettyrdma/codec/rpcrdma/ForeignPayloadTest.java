package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.SocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.channel.RdmaEventLoopGroup;
import org.nettyrdma.channel.RdmaServerStreamChannel;
import org.nettyrdma.channel.RdmaStreamChannel;
import org.nettyrdma.codec.oncrpc.RpcConnectionException;

/** What is no ONC RPC, and channels that are no RDMA channels, behind {@link RpcRdma}. */
@Timeout(60)
class ForeignPayloadTest {

    private static final String CALL =
            "00000001 00000000 00000002 20000099 00000001 00000001 00000000 00000000 00000000 00000000";

    private final BlockingQueue<Throwable> atClient = new LinkedBlockingQueue<>();
    private final BlockingQueue<Throwable> atServer = new LinkedBlockingQueue<>();

    @ParameterizedTest
    @ValueSource(strings = {"GET / HTTP/1.1\r\n\r\n", "hello", "x"})
    void shouldRefuseToCallWithWhatIsNoRpc(String text) throws Exception {
        try (RpcRdmaPair pair = pair(VersionPolicy.V1_ONLY, ByteBuf::retain)) {
            requireNotRpc(failure(pair, text(text)), "no ONC RPC call");
            requireNotRpc(atClient.poll(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS), "no ONC RPC call");
            assertTrue(pair.channel.closeFuture().await(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS));
        }
    }

    @ParameterizedTest
    @EnumSource(value = VersionPolicy.class, names = {"V1_ONLY", "V2_ONLY"})
    void shouldRefuseToReplyWithWhatIsNoRpc(VersionPolicy versions) throws Exception {
        try (RpcRdmaPair pair = pair(versions, message -> text("HTTP/1.1 200 OK\r\n"))) {
            pair.channel.writeAndFlush(call());
            requireNotRpc(atServer.poll(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS), "no ONC RPC reply");
            assertTrue(pair.channel.closeFuture().await(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS));
        }
    }

    /** The protocol has no message for it. */
    @Test
    void shouldTellTheCallerThatItIsThePeerWhoKnowsWhy() throws Exception {
        try (RpcRdmaPair pair = new RpcRdmaPair(RpcRdma.server().handlers(
                pipeline -> pipeline.addLast(new Handler(atServer, message -> text("HTTP/1.1 200 OK\r\n")))), RpcRdma.client())) {
            Throwable failure = RpcRdmaPair.failure(pair.start(BulkProgram.ECHO, text("text")));
            assertInstanceOf(RpcConnectionException.class, failure);
            assertTrue(failure.getMessage().contains("nothing has failed at this end; if the peer has closed it, its log may "
                    + "say why"), failure.getMessage());
            requireNotRpc(atServer.poll(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS), "no ONC RPC reply");
        }
    }

    @Test
    void shouldRefuseToReplyWithTheCallItself() throws Exception {
        try (RpcRdmaPair pair = pair(VersionPolicy.V1_ONLY, ByteBuf::retain)) {
            pair.channel.writeAndFlush(call());
            requireNotRpc(atServer.poll(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS), "no ONC RPC reply");
            assertTrue(pair.channel.closeFuture().await(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS));
        }
    }

    /** Behind the end of the connection there is nothing to refuse, and so short a message has no XID. */
    @Test
    void shouldReleaseWhatIsNoRpcBehindTheEnd() throws Exception {
        ByteBuf text = text("x");
        CompletableFuture<Throwable> failure = new CompletableFuture<>();
        ChannelHandler writer = new ChannelInboundHandlerAdapter() {
            @Override
            public void channelInactive(ChannelHandlerContext ctx) {
                ctx.write(text).addListener(write -> failure.complete(write.cause()));
            }
        };
        try (RpcRdmaPair pair = new RpcRdmaPair(RpcRdma.server().handlers(pipeline -> pipeline.addLast(writer)),
                RpcRdma.client())) {
            pair.channel.close();
            assertInstanceOf(ClosedChannelException.class, failure.get(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS));
            assertEquals(0, text.refCnt());
        }
    }

    @Test
    void shouldAnswerAndEndTheConnectionWhereAValidHeaderBringsNoRpc() throws Exception {
        try (RawClient client = new RawClient(RpcRdma.server().handlers(
                pipeline -> pipeline.addLast(new Handler(atServer, ByteBuf::retain))))) {
            client.peer.sendHex("00000001 00000001 00000020 00000000" + RawClient.NO_CHUNKS + "00000001 47455420 2f204854");
            assertEquals("00000001" + "00000001" + "00000020" + "00000004" + "00000002", client.peer.receiveHex());
            requireNotRpc(atServer.poll(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS), "no ONC RPC message");
            client.peer.awaitClose();
        }
    }

    @Test
    void shouldSayWhichChannelIsNeeded() throws Exception {
        NioEventLoopGroup group = new NioEventLoopGroup(1);
        try {
            ChannelFuture connected = new Bootstrap().group(group).channel(NioSocketChannel.class)
                    .handler(RpcRdma.client().build())
                    .connect("127.0.0.1", 1);
            requireChannelType(connected);
            requireChannelType(new ServerBootstrap().group(group).channel(NioServerSocketChannel.class)
                    .handler(RpcRdma.server().handlers(pipeline -> { }).build()).childHandler(new ChannelInboundHandlerAdapter())
                    .bind("127.0.0.1", 0));
        } finally {
            group.shutdownGracefully(0, 0, TimeUnit.SECONDS);
        }
    }

    /** The channel is refused once: behind that, nothing of it is initialized any more. */
    @Test
    void shouldSayOnceWhichChannelAServerNeeds() throws Exception {
        RdmaEventLoopGroup group = new RdmaEventLoopGroup(1);
        PrintStream before = System.err;
        ByteArrayOutputStream log = new ByteArrayOutputStream();
        System.setErr(new PrintStream(log, true, StandardCharsets.UTF_8));
        try {
            SocketAddress address = new ServerBootstrap().group(group).channel(RdmaServerStreamChannel.class)
                    .childHandler(RpcRdma.server().handlers(pipeline -> { }).build()).bind("127.0.0.1", 0).sync().channel()
                    .localAddress();
            ChannelFuture connected = new Bootstrap().group(group).channel(RdmaStreamChannel.class)
                    .handler(new ChannelInboundHandlerAdapter()).connect(address);
            assertTrue(connected.channel().closeFuture().await(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS));
        } finally {
            group.shutdownGracefully(0, 0, TimeUnit.SECONDS).await(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS);
            System.setErr(before);
        }
        String text = log.toString(StandardCharsets.UTF_8);
        assertTrue(text.contains("RpcRdma needs an RdmaChannel, not a RdmaStreamChannel: "), text);
        assertEquals(1, text.lines().filter(line -> line.contains("Failed to initialize a channel")).count(), text);
    }

    private static void requireChannelType(ChannelFuture future) throws InterruptedException {
        assertTrue(future.await(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS));
        String message = assertInstanceOf(IllegalStateException.class, future.cause()).getMessage();
        assertTrue(message.startsWith("RpcRdma needs an RdmaChannel, not a Nio"), message);
        assertTrue(future.channel().closeFuture().await(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS));
    }

    private RpcRdmaPair pair(VersionPolicy versions, Function<ByteBuf, ByteBuf> answer) throws Exception {
        return new RpcRdmaPair(
                RpcRdma.server().versions(versions).handlers(pipeline -> pipeline.addLast(new Handler(atServer, answer))),
                RpcRdma.client().versions(versions).handlers(pipeline -> pipeline.addLast(new Handler(atClient, null))));
    }

    private static ByteBuf text(String text) {
        return Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII);
    }

    private static ByteBuf call() {
        return Unpooled.wrappedBuffer(ByteBufUtil.decodeHexDump(CALL.replace(" ", "")));
    }

    private static Throwable failure(RpcRdmaPair pair, ByteBuf message) throws InterruptedException {
        ChannelFuture write = pair.channel.writeAndFlush(message);
        assertTrue(write.await(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS));
        assertEquals(0, message.refCnt());
        return write.cause();
    }

    private static void requireNotRpc(Throwable cause, String text) {
        assertNotNull(cause);
        RpcRdmaException failure = assertInstanceOf(RpcRdmaException.class, cause);
        assertEquals(RpcRdmaException.Reason.NOT_RPC, failure.reason());
        assertTrue(failure.getMessage().contains(text), failure.getMessage());
    }

    /** Answers each message, if it knows what, and tells what went wrong. */
    private static final class Handler extends ChannelInboundHandlerAdapter {

        private final BlockingQueue<Throwable> causes;
        private final Function<ByteBuf, ByteBuf> answer;

        private Handler(BlockingQueue<Throwable> causes, Function<ByteBuf, ByteBuf> answer) {
            this.causes = causes;
            this.answer = answer;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ByteBuf message = (ByteBuf) msg;
            try {
                if (answer != null) {
                    ctx.writeAndFlush(answer.apply(message));
                }
            } finally {
                message.release();
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            causes.add(cause);
        }
    }
}
