package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.util.NetUtil;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nettyrdma.verbs.VerbsProvider;

/** Servers over a device that fails to do what it should always do. */
@Timeout(60)
class ListenerFaultTest extends StreamFixture {

    private final FaultyProvider provider = new FaultyProvider();

    @Override
    VerbsProvider provider() {
        return provider;
    }

    /** Its socket would stay open for ever otherwise. */
    @Test
    void shouldRejectARequestThatDoesNotTellWhereThePeerIs() throws Exception {
        RdmaServerStreamChannel listener = listen(serverBootstrap());
        provider.hideNextPeer = true;
        try (RawStreamPeer hidden = RawStreamPeer.request(listener.localAddress(), RawStreamPeer.HELLO)) {
            hidden.expectRejection();
        }
        try (RawStreamPeer next = RawStreamPeer.request(listener.localAddress(), RawStreamPeer.HELLO)) {
            next.takeReply();
        }
        assertTrue(listener.isActive());
    }

    /** A device's listener would reject all; to sockets of Java it means a default. */
    @Test
    void shouldNotListenWithABacklogOfNothing() throws Exception {
        listen(serverBootstrap().option(ChannelOption.SO_BACKLOG, 0));
        assertEquals(NetUtil.SOMAXCONN, provider.backlog);
        listen(serverBootstrap().option(ChannelOption.SO_BACKLOG, 1));
        assertEquals(1, provider.backlog);
    }

    @Test
    void shouldRejectTheRequestsThatWaitThoughTheListenerComplains() throws Exception {
        BlockingQueue<Object> taken = new LinkedBlockingQueue<>();
        RdmaServerStreamChannel listener = listen(serverBootstrap().option(ChannelOption.AUTO_READ, false)
                .handler(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelRead(ChannelHandlerContext ctx, Object message) {
                        taken.add(message);
                        ctx.fireChannelRead(message);
                    }
                }));
        List<RawStreamPeer> peers = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            peers.add(RawStreamPeer.request(listener.localAddress(), RawStreamPeer.HELLO));
        }
        listener.read();
        assertNotNull(taken.poll(TIMEOUT_SECONDS, TimeUnit.SECONDS), "no request was taken up");
        provider.complainOfListeners = true;
        assertTrue(listener.close().await(TIMEOUT_SECONDS, TimeUnit.SECONDS));
        int ended = 0;
        for (RawStreamPeer peer : peers) {
            try (peer) {
                peer.takeReply();
            } catch (SocketTimeoutException e) {
                throw e;
            } catch (IOException | AssertionError e) { // the end, or a rejection
                ended++;
            }
        }
        assertEquals(9, ended);
    }
}
