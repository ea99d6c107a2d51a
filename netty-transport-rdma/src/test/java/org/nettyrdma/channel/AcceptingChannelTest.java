package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.ServerChannelRecvByteBufAllocator;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests that come all at once to a server that wants some of them. */
@Timeout(60)
class AcceptingChannelTest extends StreamFixture {

    private final BlockingQueue<Channel> taken = new LinkedBlockingQueue<>();
    private final List<RawStreamPeer> peers = new ArrayList<>();

    @AfterEach
    void closePeers() throws IOException {
        for (RawStreamPeer peer : peers) {
            peer.close();
        }
    }

    /** Of a server that reads when it is told to. */
    private class Taking extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            taken.add((Channel) message);
            ctx.fireChannelRead(message);
        }
    }

    private RdmaServerStreamChannel askedBy(int count) throws Exception {
        return askedBy(count, new Taking());
    }

    /** A server, and peers that have asked it for connections. */
    private RdmaServerStreamChannel askedBy(int count, Taking handler) throws Exception {
        RdmaServerStreamChannel listener = listen(serverBootstrap().option(ChannelOption.AUTO_READ, false).handler(handler));
        for (int i = 0; i < count; i++) {
            peers.add(RawStreamPeer.request(listener.localAddress(), RawStreamPeer.HELLO));
        }
        return listener;
    }

    private void awaitOne() throws InterruptedException {
        assertNotNull(taken.poll(TIMEOUT_SECONDS, TimeUnit.SECONDS), "no request was taken up");
    }

    @Test
    void shouldTakeUpOneRequestWithEachRead() throws Exception {
        RdmaServerStreamChannel listener = askedBy(10);
        for (int i = 0; i < 10; i++) {
            listener.read();
            awaitOne();
            listener.eventLoop().submit(() -> { }).sync(); // behind what was delivered together with it
            assertEquals(0, taken.size());
        }
        for (RawStreamPeer peer : peers) {
            peer.takeReply();
        }
    }

    /** A handler may ask as soon as it is there. */
    @Test
    void shouldTakeUpOneRequestWithAReadBeforeItIsBound() throws Exception {
        RdmaServerStreamChannel listener = askedBy(2, new Taking() {
            @Override
            public void channelRegistered(ChannelHandlerContext ctx) {
                ctx.read();
            }
        });
        awaitOne();
        listener.eventLoop().submit(() -> { }).sync(); // behind what was delivered together with it
        assertEquals(0, taken.size());
        listener.read();
        awaitOne();
    }

    @Test
    void shouldTakeUpNothingWithAReadBeforeItIsBoundThatWasTakenBack() throws Exception {
        RdmaServerStreamChannel listener = askedBy(2, new Taking() {
            @Override
            public void channelRegistered(ChannelHandlerContext ctx) {
                ctx.read();
                ctx.channel().config().setAutoRead(true).setAutoRead(false);
            }
        });
        listener.read();
        awaitOne();
        listener.eventLoop().submit(() -> { }).sync(); // behind what was delivered together with it
        assertEquals(0, taken.size());
    }

    @Test
    void shouldTakeUpAllThatWaitOnceReadsAreWanted() throws Exception {
        RdmaServerStreamChannel listener = askedBy(40);
        listener.read();
        awaitOne();
        listener.config().setAutoRead(true);
        for (RawStreamPeer peer : peers) {
            peer.takeReply();
        }
        assertEquals(39, taken.size());
    }

    /** As with Netty's own transports, which ask once. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void shouldAcceptOnWhereAHandlerSwallowsReads(int passed) throws Exception {
        AtomicInteger left = new AtomicInteger(passed);
        RdmaServerStreamChannel listener = listen(serverBootstrap()
                .option(ChannelOption.RCVBUF_ALLOCATOR, new ServerChannelRecvByteBufAllocator().maxMessagesPerRead(1))
                .handler(new ChannelOutboundHandlerAdapter() {
                    @Override
                    public void read(ChannelHandlerContext ctx) throws Exception {
                        if (left.getAndDecrement() > 0) {
                            super.read(ctx);
                        }
                    }
                }));
        for (int i = 0; i < 4; i++) {
            peers.add(RawStreamPeer.request(listener.localAddress(), RawStreamPeer.HELLO));
        }
        for (RawStreamPeer peer : peers) {
            peer.takeReply();
        }
    }

    @Test
    void shouldNotAcceptOnWhereAHandlerTurnsAutoReadOff() throws Exception {
        RdmaServerStreamChannel listener = listen(serverBootstrap()
                .option(ChannelOption.RCVBUF_ALLOCATOR, new ServerChannelRecvByteBufAllocator().maxMessagesPerRead(1))
                .handler(new Taking() {
                    @Override
                    public void channelReadComplete(ChannelHandlerContext ctx) {
                        ctx.channel().config().setAutoRead(false);
                    }
                }));
        for (int i = 0; i < 3; i++) {
            peers.add(RawStreamPeer.request(listener.localAddress(), RawStreamPeer.HELLO));
        }
        awaitOne();
        listener.eventLoop().submit(() -> { }).sync(); // behind what was delivered together with it
        assertEquals(0, taken.size());
    }

    @Test
    void shouldRejectWhatWaitsWhenItIsClosed() throws Exception {
        RdmaServerStreamChannel listener = askedBy(10);
        listener.read();
        awaitOne();
        await(listener.close());
        int ended = 0;
        for (RawStreamPeer peer : peers) {
            try {
                peer.takeReply();
            } catch (SocketTimeoutException e) {
                throw e;
            } catch (IOException | AssertionError e) { // the end, or a rejection
                ended++;
            }
        }
        assertEquals(9, ended);
    }

    /** In the listener of the close, where the event loop has not polled since. */
    @Test
    void shouldLeaveItsAddressToOthersOnceItIsClosed() throws Exception {
        RdmaServerStreamChannel first = listen(serverBootstrap());
        InetSocketAddress address = first.localAddress();
        RdmaServerStreamChannel second = new RdmaServerStreamChannel();
        await(first.eventLoop().register(second));
        ChannelPromise bound = second.newPromise();
        await(first.close().addListener(closed -> second.bind(address, bound)));
        await(bound);
        assertEquals(address, second.localAddress());
    }
}
