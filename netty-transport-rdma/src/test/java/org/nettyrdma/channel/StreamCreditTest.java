package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledHeapByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.FixedRecvByteBufAllocator;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class StreamCreditTest extends StreamFixture {

    /** More than both halves of the ring hold at first. */
    private static final int FLUSHED_BYTES = 10_000;

    /** Behind the answer it would leave by itself, and wake the peer once more. */
    @Test
    void shouldReturnRoomTogetherWithTheAnswer() throws Exception {
        RdmaServerStreamChannel server = listen(serverBootstrap()
                .childOption(ChannelOption.RCVBUF_ALLOCATOR, new FixedRecvByteBufAllocator(4096))
                .childHandler(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelRead(ChannelHandlerContext ctx, Object message) {
                        ctx.writeAndFlush(message);
                    }
                }));
        try (RawStreamPeer peer = RawStreamPeer.connect(server.localAddress())) {
            peer.expect("18000080");
            peer.write(peer.ringTag, 0, bytes(4096, 4)).send("00100000");
            peer.expect("19000080");
            assertEquals("00200000", RawStreamPeer.hex(peer.list).substring(24, 32)); // the new entry came before
            peer.expect("00100000");
            assertArrayEquals(bytes(4096, 4), Arrays.copyOf(peer.ring, 4096));
        }
    }

    /** The channel is active before the peer has sent anything; on iWARP it sends nothing until then. */
    @Test
    void shouldTellTheSecondHalfOfItsRingToAPeerThatBeginsLate() throws Exception {
        RdmaServerStreamChannel server = listen(serverBootstrap().childOption(ChannelOption.AUTO_READ, false));
        try (RawStreamPeer peer = RawStreamPeer.request(server.localAddress(), RawStreamPeer.HELLO)) {
            peer.takeReply();
            awaitAccepted();
            peer.write(peer.ringTag, 0, bytes(4096, 1)).send("00100000");
            peer.expect("18000080");
            assertEquals("00100000", RawStreamPeer.hex(peer.list).substring(56));
        }
    }

    /** A peer that takes nothing and asks for more has one flush after the other made, each of a few bytes. */
    @Test
    void shouldNotGoThroughWhatIsPostedAtEachFlushWhileThePeerHasNoRoom() throws Exception {
        Pair pair = pair();
        Channel client = pair.client().channel;
        AtomicInteger looks = new AtomicInteger();
        int more = client.eventLoop().submit(() -> { // so that nothing is completed meanwhile
            for (int i = 0; i < FLUSHED_BYTES; i++) {
                client.write(new WatchedBuf(looks));
            }
            client.flush();
            int before = looks.get();
            for (int i = 0; i < 100; i++) {
                client.writeAndFlush(Unpooled.wrappedBuffer(new byte[1]));
            }
            return looks.get() - before;
        }).get();
        assertEquals(0, more);
        pair.server().awaitBytes(FLUSHED_BYTES + 100);
    }

    /** Neither reads any more, so that an application gives no room back for what they still had to send. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldNotWaitForRoomAtAPeerThatHasClosed(boolean bothHaveMore) throws Exception {
        RdmaServerStreamChannel listener = listen(serverBootstrap().childOption(ChannelOption.AUTO_READ, false)
                .childOption(RdmaChannelOption.CLOSE_TIMEOUT_MILLIS, 60_000));
        End client = connect(bootstrap().option(RdmaChannelOption.CLOSE_TIMEOUT_MILLIS, 60_000)
                .option(ChannelOption.AUTO_READ, false), listener.localAddress());
        End server = awaitAccepted();
        client.write(bytes(1_000_000, 1));
        if (bothHaveMore) {
            server.write(bytes(1_000_000, 1));
        }
        await(client.channel.close());
        await(server.channel.close());
        assertTrue(client.channel.releaseFuture().await(TIMEOUT_SECONDS, TimeUnit.SECONDS), "the client waits");
        assertTrue(server.channel.releaseFuture().await(TIMEOUT_SECONDS, TimeUnit.SECONDS), "the server waits");
    }

    /** One byte; counts how often somebody asks how many there are. */
    private static final class WatchedBuf extends UnpooledHeapByteBuf {

        private final AtomicInteger looks;

        WatchedBuf(AtomicInteger looks) {
            super(UnpooledByteBufAllocator.DEFAULT, 1, 1);
            this.looks = looks;
            writeByte(1);
        }

        @Override
        public int readableBytes() {
            looks.incrementAndGet();
            return super.readableBytes();
        }
    }
}
