package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is written to a peer that has closed, which is played by hand. */
@Timeout(60)
class StreamWriteAfterEndTest extends StreamFixture {

    private static final String DISCONNECT = "000000e0";

    /** A connection that the peer has asked for, to a side that allows half closure. */
    private RawStreamPeer connect(boolean autoRead) throws Exception {
        return RawStreamPeer.connect(listen(serverBootstrap().childOption(ChannelOption.AUTO_READ, autoRead)
                .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)).localAddress());
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void assertBrokenPipe(ChannelFuture future) {
        assertNotNull(future.cause(), "the write has succeeded");
        assertEquals("Broken pipe: the peer has closed the connection", future.cause().getMessage());
    }

    /** The answer was written before the end was told, and nothing else would ever have been flushed. */
    @Test
    void shouldFailTheAnswerToWhatHasArrivedTogetherWithTheEnd() throws Exception {
        CompletableFuture<ChannelFuture> answered = new CompletableFuture<>();
        var echo = new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object message) {
                answered.complete(ctx.writeAndFlush(message));
            }
        };
        RdmaServerStreamChannel listener = listen(serverBootstrap(channel -> channel.pipeline().addLast(echo))
                .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true));
        try (RawStreamPeer peer = RawStreamPeer.connect(listener.localAddress())) {
            peer.expect("18000080");
            End server = awaitAccepted();
            CountDownLatch held = new CountDownLatch(1);
            CountDownLatch sent = new CountDownLatch(1);
            server.channel.eventLoop().execute(() -> {
                held.countDown();
                awaitQuietly(sent); // so that it takes up both at once
            });
            assertTrue(held.await(TIMEOUT_SECONDS, TimeUnit.SECONDS));
            peer.write(peer.ringTag, 0, "hello".getBytes()).send("05000000").send(DISCONNECT);
            sent.countDown();
            ChannelFuture answer = answered.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
            assertTrue(answer.await(TIMEOUT_SECONDS, TimeUnit.SECONDS), "no outcome");
            assertBrokenPipe(answer);
            server.awaitEvent("inactive");
        }
    }

    @Test
    void shouldFailWhatIsWrittenAfterTheEndOfThePeerWasTold() throws Exception {
        try (RawStreamPeer peer = connect(true)) {
            peer.expect("18000080");
            End server = awaitAccepted();
            await(server.write("a".getBytes()));
            peer.send(DISCONNECT);
            server.awaitEvent("ChannelInputShutdownReadComplete");
            ChannelFuture written = server.write("b".getBytes());
            assertTrue(written.await(TIMEOUT_SECONDS, TimeUnit.SECONDS), "no outcome");
            assertBrokenPipe(written);
        }
    }

    /** With TCP nothing of it gets as far as the peer. */
    @Test
    void shouldCompleteWhatIsEmptyOrCancelledAfterTheEndOfThePeerWasTold() throws Exception {
        try (RawStreamPeer peer = connect(true)) {
            peer.expect("18000080");
            End server = awaitAccepted();
            peer.send(DISCONNECT);
            server.awaitEvent("ChannelInputShutdownReadComplete");
            await(server.write(new byte[0]));
            RdmaStreamChannel channel = server.channel;
            ChannelFuture cancelled = channel.write(channel.alloc().buffer(1).writeByte(1));
            assertTrue(cancelled.cancel(false));
            ChannelFuture empty = channel.write(Unpooled.EMPTY_BUFFER);
            ChannelFuture written = server.write("x".getBytes());
            await(empty);
            assertTrue(written.await(TIMEOUT_SECONDS, TimeUnit.SECONDS), "no outcome");
            assertBrokenPipe(written);
        }
    }

    /** Whose input is shut down learns of the end by nothing else. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldFailWhatIsWrittenToAPeerThatHasClosedAfterTheInputWasShutDown(boolean autoRead) throws Exception {
        try (RawStreamPeer peer = connect(autoRead)) {
            peer.expect("18000080");
            End server = awaitAccepted();
            await(server.channel.shutdownInput());
            peer.send(DISCONNECT);
            ChannelFuture written;
            do {
                written = server.write("x".getBytes());
                assertTrue(written.await(TIMEOUT_SECONDS, TimeUnit.SECONDS), "no outcome");
            } while (written.isSuccess()); // sent before the end of the peer was known
            assertBrokenPipe(written);
            server.awaitEvent("inactive");
        }
    }

    /** It has not closed, so that nothing else would ever fail them. Nor does it see more of the connection than with TCP. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldFailWhatIsWrittenToAPeerThatHasShutBothDirectionsDown(boolean outputFirst) throws Exception {
        Pair pair = pair(true);
        RdmaStreamChannel peer = pair.client().channel;
        await(pair.client().write(new byte[3]));
        await(outputFirst ? peer.shutdownOutput() : peer.shutdownInput());
        await(outputFirst ? peer.shutdownInput() : peer.shutdownOutput());
        ChannelFuture written;
        do {
            written = pair.server().write(new byte[1000]);
            assertTrue(written.await(TIMEOUT_SECONDS, TimeUnit.SECONDS), "no outcome");
        } while (written.isSuccess()); // sent before the end of the peer was known
        assertBrokenPipe(written);
        pair.server().awaitEvent("inactive");
        assertEquals(3, pair.server().awaitBytes(3).length);
        assertTrue(peer.isOpen());
        await(peer.close());
        assertTrue(peer.releaseFuture().await(TIMEOUT_SECONDS, TimeUnit.SECONDS));
        pair.client().awaitEvent("inactive");
    }

    /** It reads on when there is room for what it writes, and there is data that it has not read. */
    @ParameterizedTest
    @ValueSource(ints = {-1, 0})
    void shouldFailWhatIsLeftWhenThePeerIsGoneThoughNobodyReads(int soLinger) throws Exception {
        RdmaServerStreamChannel listener = listen(serverBootstrap().childOption(ChannelOption.AUTO_READ, false));
        End client = connect(bootstrap().option(ChannelOption.AUTO_READ, false).option(ChannelOption.SO_LINGER, soLinger),
                listener.localAddress());
        await(client.write(bytes(1000, 1)));
        End server = awaitAccepted();
        ChannelFuture written = server.write(bytes(10_000_000, 2));
        server.channel.eventLoop().submit(() -> assertFalse(server.channel.isWritable())).sync();
        client.channel.close();
        assertTrue(written.await(TIMEOUT_SECONDS, TimeUnit.SECONDS), "no outcome");
        assertNotNull(written.cause(), "the write has succeeded");
        server.awaitEvent("inactive");
    }

    /** Reads are wanted by AUTO_READ, but do not get past a handler that takes one request at a time. */
    @ParameterizedTest
    @CsvSource({"true, -1", "false, -1", "false, 0"})
    void shouldFailTheAnswerToAPeerThatIsGoneThoughAHandlerHoldsReadsBack(boolean peerReads, int soLinger) throws Exception {
        RdmaServerStreamChannel listener = listen(serverBootstrap(channel -> channel.pipeline().addLast(new OneRequest())));
        End client = connect(bootstrap().option(ChannelOption.AUTO_READ, peerReads).option(ChannelOption.SO_LINGER, soLinger),
                listener.localAddress());
        await(client.write(new byte[1]));
        End server = awaitAccepted();
        server.awaitBytes(1);
        await(client.write(new byte[1]));
        client.channel.close();
        ChannelFuture written;
        do {
            written = server.write(new byte[1000]);
            assertTrue(written.await(TIMEOUT_SECONDS, TimeUnit.SECONDS), "no outcome");
        } while (written.isSuccess()); // sent before the end of the peer was known
        server.awaitEvent("inactive");
    }

    /** Reads the first request only. */
    private static final class OneRequest extends ChannelDuplexHandler {

        private boolean busy;

        @Override
        public void read(ChannelHandlerContext ctx) {
            if (!busy) {
                ctx.read();
            }
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            busy = true;
            ctx.fireChannelRead(message);
        }
    }
}
