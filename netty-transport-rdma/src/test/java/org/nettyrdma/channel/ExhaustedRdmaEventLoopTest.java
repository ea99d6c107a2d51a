package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Channels whose event loop has no memory for what they ask it to do later. */
@Timeout(60)
class ExhaustedRdmaEventLoopTest extends StreamFixture {

    private static final int REQUESTS = 10;
    private static final int REFUSALS = 3;

    private final BlockingQueue<Channel> taken = new LinkedBlockingQueue<>();
    private final List<RawStreamPeer> peers = new ArrayList<>();
    private ExhaustedRdmaEventLoop loop;

    @BeforeEach
    void startLoop() throws IOException {
        loop = new ExhaustedRdmaEventLoop(provider());
    }

    @AfterEach
    void stopLoop() throws Exception {
        for (RawStreamPeer peer : peers) {
            peer.close();
        }
        loop.shutdownGracefully(0, TIMEOUT_SECONDS, TimeUnit.SECONDS);
        assertTrue(loop.awaitTermination(TIMEOUT_SECONDS, TimeUnit.SECONDS), "the event loop did not stop");
    }

    private ServerBootstrap exhaustedServer() {
        return serverBootstrap(loop, channel -> { });
    }

    private RawStreamPeer request(RdmaServerStreamChannel listener) throws IOException {
        RawStreamPeer peer = RawStreamPeer.request(listener.localAddress(), RawStreamPeer.HELLO);
        peers.add(peer);
        return peer;
    }

    /** A server that reads when it is told to, and peers that have asked it for connections. */
    private RdmaServerStreamChannel askedByMany() throws Exception {
        RdmaServerStreamChannel listener = listen(exhaustedServer().option(ChannelOption.AUTO_READ, false)
                .handler(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelRead(ChannelHandlerContext ctx, Object message) {
                        taken.add((Channel) message);
                        ctx.fireChannelRead(message);
                    }
                }));
        for (int i = 0; i < REQUESTS; i++) {
            request(listener);
        }
        return listener;
    }

    private void awaitOne() throws InterruptedException {
        assertNotNull(taken.poll(TIMEOUT_SECONDS, TimeUnit.SECONDS), "no request was taken up");
    }

    @Test
    void shouldTakeUpRequestsWithTheReadBehindOneThatFailed() throws Exception {
        RdmaServerStreamChannel listener = askedByMany();
        for (int count = 0; count < REQUESTS; count += 1 + taken.size()) {
            taken.clear();
            loop.submit(() -> {
                loop.refuse(1, 0);
                listener.read();
                loop.refuse(0, 0); // where none had arrived yet there was nothing to do later
            }).sync();
            listener.read();
            awaitOne();
            loop.submit(() -> { }).sync(); // behind what was delivered together with it
        }
    }

    @Test
    void shouldTakeUpAllAgainAfterATaskThatWasNotTaken() throws Exception {
        RdmaServerStreamChannel listener = askedByMany();
        listener.read();
        awaitOne();
        loop.submit(() -> {
            loop.refuse(1, 0);
            listener.config().setAutoRead(true);
            loop.refuse(0, 0); // as above
        }).sync();
        for (RawStreamPeer peer : peers) {
            peer.takeReply();
        }
        assertEquals(REQUESTS - 1, taken.size());
    }

    /** It would never be active otherwise, and stay. */
    @Test
    void shouldEndAStreamThatCannotAwaitTheFirstMessage() throws Exception {
        loop.submit(() -> loop.refuse(0, 1)).sync();
        RawStreamPeer peer = request(listen(exhaustedServer()));
        peer.takeReply();
        peer.expectEnd();
        assertTrue(loop.hasRefused());
    }

    @Test
    void shouldEndInTimeAndReleaseItsChannelsAfterATimerThatWasNotSet() throws Exception {
        FaultyProvider faulty = new FaultyProvider();
        var ending = new ExhaustedRdmaEventLoop(faulty);
        var channel = (RdmaStreamChannel) new Bootstrap().group(ending).channel(RdmaStreamChannel.class)
                .option(RdmaChannelOption.CLOSE_TIMEOUT_MILLIS, 600_000).handler(new ChannelInboundHandlerAdapter())
                .connect(listen(serverBootstrap()).localAddress()).sync().channel();
        faulty.withholdCompletions = true;
        channel.close().sync();
        ending.submit(() -> ending.refuse(0, REFUSALS)).sync();
        ending.shutdownGracefully(0, 1, TimeUnit.SECONDS);
        assertTrue(ending.awaitTermination(TIMEOUT_SECONDS, TimeUnit.SECONDS));
        assertTrue(ending.awaitRefusals(0));
        assertTrue(channel.releaseFuture().await(TIMEOUT_SECONDS, TimeUnit.SECONDS));
    }
}
