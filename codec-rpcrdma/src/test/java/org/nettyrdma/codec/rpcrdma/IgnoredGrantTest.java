package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nettyrdma.channel.IdleStrategy;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaEventLoopGroup;
import org.nettyrdma.channel.RdmaServerChannel;
import org.nettyrdma.codec.oncrpc.RpcCall;

/**
 * Connections that share the receives of an event loop are granted a part of what is left (RFC 8166, section 3.3). Who ignores
 * that the grant has become smaller loses its connection, and nobody else does.
 */
@Timeout(120)
class IgnoredGrantTest {

    private static final int CREDITS = 128;
    private static final int VERY_MANY = 1_000_000;

    private final RdmaEventLoopGroup group = new RdmaEventLoopGroup(1, new DefaultThreadFactory(IgnoredGrantTest.class),
            TestProviders.withOwnMemory(), IdleStrategy.ADAPTIVE);
    private final BulkProgram program = new BulkProgram(true);
    private final List<RawPeer> peers = new ArrayList<>();
    private Channel listener;
    private int xid;

    @BeforeEach
    void listen() throws Exception {
        listener = ShortSends.server().program(program).credits(CREDITS).build()
                .configure(new ServerBootstrap().group(group).channel(RdmaServerChannel.class)).bind(RawPeer.loopback()).sync()
                .channel();
    }

    @AfterEach
    void close() {
        peers.forEach(RawPeer::close);
        group.shutdownGracefully(0, RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS).syncUninterruptibly();
    }

    /** A peer whose first call was granted so much; our end of its connection. */
    private RdmaChannel connect(int granted) throws Exception {
        peers.add(RawPeer.connect(listener, RawPeer.LINUX_CLIENT));
        RawPeer peer = peers.get(peers.size() - 1);
        send(peer, 1);
        RpcCall call = program.takeHanging();
        assertEquals(granted, answer(peer, call));
        return (RdmaChannel) call.channel();
    }

    /** Other connections of the loop get much, or little again. */
    private static void reserve(RdmaChannel channel, int besides) throws Exception {
        channel.eventLoop().submit(() -> channel.reserveReceives(1, besides)).get();
    }

    @Test
    void shouldEndOnlyTheConnectionThatIgnoresItsGrant() throws Exception {
        RdmaChannel ignoring = connect(CREDITS);
        connect(CREDITS);
        RawPeer ignorant = peers.get(0);
        RawPeer careful = peers.get(1);

        RdmaChannel third = connect(CREDITS);
        reserve(third, VERY_MANY);
        for (RawPeer peer : List.of(ignorant, careful)) {
            send(peer, CREDITS); // as it may before it has read a smaller grant
            Queue<RpcCall> calls = new ArrayDeque<>();
            for (int i = 0; i < CREDITS; i++) {
                calls.add(program.takeHanging());
            }
            while (!calls.isEmpty()) {
                assertEquals(1, answer(peer, calls.remove()));
            }
        }

        send(ignorant, 2);
        assertTrue(ignoring.closeFuture().await(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS));
        program.takeHanging(); // the first of the two was granted
        for (int i = 0; i < 10; i++) {
            send(careful, 1);
            assertEquals(1, answer(careful, program.takeHanging()));
        }
        reserve(third, 0);
        send(careful, 1);
        assertEquals(CREDITS, answer(careful, program.takeHanging()));
        send(careful, CREDITS);
        for (int i = 0; i < CREDITS; i++) {
            assertEquals(CREDITS, answer(careful, program.takeHanging()));
        }
    }

    private void send(RawPeer peer, int calls) throws Exception {
        for (int i = 0; i < calls; i++) {
            String number = String.format("%08x", ++xid);
            peer.sendHex(number + "00000001 00000400 00000000" + RawClient.NO_CHUNKS + number + RawClient.CALL
                    + String.format("%08x", BulkProgram.HANG) + RawClient.NO_AUTH);
        }
    }

    /** Answers a call, and returns what the answer grants. */
    private static int answer(RawPeer peer, RpcCall call) throws Exception {
        call.reply(Unpooled.EMPTY_BUFFER);
        ByteBuf reply = peer.receive();
        try {
            return reply.getInt(8);
        } finally {
            reply.release();
        }
    }
}
