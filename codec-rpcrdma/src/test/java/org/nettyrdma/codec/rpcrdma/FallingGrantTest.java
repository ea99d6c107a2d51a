package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nettyrdma.channel.IdleStrategy;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaChannelOption;
import org.nettyrdma.channel.RdmaEventLoopGroup;
import org.nettyrdma.channel.RdmaServerChannel;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.oncrpc.transport.ServerShutdown;

/** Credits that a connection was granted while there were few others are taken back as more come (RFC 8166, section 3.3). */
@Timeout(120)
class FallingGrantTest {

    private static final int CREDITS = 64;
    private static final int MOST_CONNECTIONS = 1500;

    private final RdmaEventLoopGroup group = new RdmaEventLoopGroup(1, new DefaultThreadFactory(FallingGrantTest.class),
            TestProviders.withOwnMemory(), IdleStrategy.ADAPTIVE); // its connections share it with no others
    private final BulkProgram program = new BulkProgram(true);
    private final Queue<Channel> others = new ArrayDeque<>();
    private RawPeer peer;
    private int xid;

    @AfterEach
    void close() {
        others.forEach(Channel::close);
        peer.close();
        group.shutdownGracefully(0, RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS).syncUninterruptibly();
    }

    @Test
    void shouldGrantLessWithEachReplyWhenOthersHaveCome() throws Exception {
        Channel listener = ShortSends.server().program(program).credits(CREDITS).inlineThresholdBytes(65_536).build()
                .configure(new ServerBootstrap().group(group).channel(RdmaServerChannel.class)).bind(RawPeer.loopback()).sync()
                .channel();
        peer = RawPeer.connect(listener, RawPeer.LINUX_CLIENT);
        send(1);
        RpcCall first = program.takeHanging();
        assertEquals(CREDITS, grantOf(first));
        RdmaChannel child = (RdmaChannel) first.channel();

        int share = shareWithOthers(child, CREDITS / 2);
        send(CREDITS); // as it may before it has read a smaller grant
        Queue<RpcCall> calls = new ArrayDeque<>();
        for (int i = 0; i < CREDITS; i++) {
            calls.add(program.takeHanging());
        }
        while (!calls.isEmpty()) {
            assertEquals(share, grantOf(calls.remove()));
        }
        send(share);
        for (int i = 0; i < share; i++) {
            assertEquals(share, grantOf(program.takeHanging()));
        }

        while (!others.isEmpty()) {
            ((RdmaChannel) others.remove().close().sync().channel()).releaseFuture().sync();
        }
        while (share(child) < CREDITS) { // as soon as the other ends have gone, too
            Thread.onSpinWait();
        }
        send(1);
        assertEquals(CREDITS, grantOf(program.takeHanging()));
        assertTrue(child.isActive());
    }

    @Test
    void shouldGrantOneWhenTheServerShutsDown() throws Exception {
        Channel listener = ShortSends.server().program(program).credits(CREDITS).build()
                .configure(new ServerBootstrap().group(group).channel(RdmaServerChannel.class)).bind(RawPeer.loopback()).sync()
                .channel();
        peer = RawPeer.connect(listener, RawPeer.LINUX_CLIENT);
        send(1);
        RpcCall first = program.takeHanging();
        assertEquals(CREDITS, grantOf(first));
        send(2);
        RpcCall second = program.takeHanging();
        RpcCall third = program.takeHanging();
        ServerShutdown.begin(first.channel());
        assertEquals(1, grantOf(second));
        assertEquals(1, grantOf(third));
    }

    /** Connects others, which do nothing, until no more than so many credits can be granted to each. */
    private int shareWithOthers(RdmaChannel child, int credits) throws Exception {
        Channel listener = new ServerBootstrap().group(group).channel(RdmaServerChannel.class)
                .childOption(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, 1).childHandler(new ChannelInboundHandlerAdapter() {
                    @Override
                    public boolean isSharable() {
                        return true;
                    }
                }).bind(RawPeer.loopback()).sync().channel();
        Bootstrap bootstrap = new Bootstrap().group(group).channel(RdmaChannel.class).handler(new ChannelInboundHandlerAdapter() {
            @Override
            public boolean isSharable() {
                return true;
            }
        }).option(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, 1);
        int share = share(child);
        while (share > credits) {
            assumeTrue(others.size() < MOST_CONNECTIONS, "very much memory");
            others.add(bootstrap.connect(listener.localAddress()).sync().channel());
            share = share(child);
        }
        return share;
    }

    private static int share(RdmaChannel child) throws Exception {
        return child.eventLoop().submit(child::fairMessages).get();
    }

    private void send(int calls) throws Exception {
        for (int i = 0; i < calls; i++) {
            String number = String.format("%08x", ++xid);
            peer.sendHex(number + "00000001 00000400 00000000" + RawClient.NO_CHUNKS + number + RawClient.CALL
                    + String.format("%08x", BulkProgram.HANG) + RawClient.NO_AUTH);
        }
    }

    /** Answers a call, and returns what the answer grants. */
    private int grantOf(RpcCall call) throws Exception {
        call.reply(Unpooled.EMPTY_BUFFER);
        ByteBuf reply = peer.receive();
        try {
            return reply.getInt(8);
        } finally {
            reply.release();
        }
    }
}
