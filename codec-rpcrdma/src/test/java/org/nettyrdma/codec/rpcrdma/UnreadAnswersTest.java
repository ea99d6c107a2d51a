package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaChannelStatistics;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.characteristics.Characteristics;

/**
 * A peer that sends one message after the other and takes none of the answers, which are errors most of the time: they are
 * bounded, whatever they answer, and none is lost when the peer takes them after all.
 */
@Timeout(120)
class UnreadAnswersTest {

    private static final String NO_CHUNKS = " 00000000 00000000 00000000 ";
    private static final String CALL = " 00000000 00000002 20000099 00000001 ";
    private static final String NO_AUTH = " 00000000 00000000 00000000 00000000 ";
    private static final String NULL_CALL = CALL + "00000000" + NO_AUTH;
    /** What one pass of the event loop may add to a full queue. */
    private static final int READ_BATCH = 16;

    private static int most(RdmaChannel ours) {
        return ours.config().getSendQueueDepth() + ours.config().getReceiveQueueDepth();
    }

    /** Sends the same message until its answers are not taken any more; returns how many were sent. */
    private static long flood(RawPeer peer, RdmaChannel ours, String message) throws Exception {
        peer.channel().config().setAutoRead(false);
        Semaphore room = new Semaphore(0);
        peer.channel().pipeline().addFirst(new ChannelInboundHandlerAdapter() {
            @Override
            public void channelWritabilityChanged(ChannelHandlerContext ctx) {
                room.release();
                ctx.fireChannelWritabilityChanged();
            }
        });
        ByteBuf bytes = peer.registered(Bytes.hex(message).array());
        long sent = 0;
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(RpcRdmaPair.TIMEOUT_SECONDS);
        while (ours.statistics().get(RdmaChannelStatistics.Counter.OUTBOUND_LIMIT_REACHED) == 0) {
            assertTrue(System.nanoTime() - deadlineNanos < 0, "the limit is not reached by " + sent + " messages");
            assertTrue(ours.isOpen());
            if (peer.channel().isWritable()) {
                peer.channel().eventLoop().submit(() -> {
                    for (int i = 0; i < 100; i++) {
                        peer.channel().write(bytes.retainedDuplicate());
                    }
                    peer.channel().flush();
                }).sync();
                sent += 100;
            } else {
                room.tryAcquire(1, TimeUnit.MILLISECONDS); // the limit at the other end tells nobody
            }
        }
        bytes.release();
        int kept = ours.eventLoop().submit(() -> ours.unsafe().outboundBuffer().size()).sync().getNow();
        assertTrue(kept <= most(ours) + READ_BATCH, kept + " answers are kept");
        return sent;
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "00000005 00000001 00000020 00000000 00000007 00000000 00000000",          // a list that is none
        // RDMA_NOMSG without a Position Zero Read chunk
        "00000005 00000001 00000020 00000001" + NO_CHUNKS,
        "00000005 00000009 00000020 00000000" + NO_CHUNKS + "00000005" + NULL_CALL, // version 9
    })
    void shouldBoundErrorsOfServerInVersionOne(String message) throws Exception {
        try (RawClient client = new RawClient(ShortSends.server().program(new BulkProgram(true)))) {
            client.peer.sendHex("00000001 00000001 00000020 00000000" + NO_CHUNKS + "00000001" + NULL_CALL);
            client.peer.receive().release();
            flood(client.peer, client.child(), message);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "00000005 00000002 00000020 00000000 00000000 00000000 00000007 00000000 00000000", // a list that is none
        // properties that are none, without a call
        "00000007 00000002 00000001 00000005 00000000 00000000 00000007",
        // a type that is unknown, without a call
        "00000007 00000002 00000001 00000063 00000000 00000000",
        "00000005 00000001 00000020 00000000" + NO_CHUNKS + "00000005" + NULL_CALL,          // version 1
    })
    void shouldBoundErrorsOfServerInVersionTwo(String message) throws Exception {
        Characteristics characteristics = Characteristics.builder().build();
        try (RawClient client = new RawClient(ShortSends.server().program(new BulkProgram(true)).versions(VersionPolicy.PREFER_V2)
                .extensions(characteristics.extensions()).extensionHandlers(characteristics::install))) {
            client.peer.sendHex("00000001 00000002 00000020 00000000 00000000 00000000" + NO_CHUNKS + "00000001" + NULL_CALL);
            client.peer.receive().release();
            client.peer.receive().release();
            flood(client.peer, client.child(), message);
        }
    }

    @Test
    void shouldLoseNoReplyOfClientThatTakesThemLate() throws Exception {
        try (RawClient client = new RawClient(ShortSends.server().program(new BulkProgram(true)))) {
            client.requireAlive(); // from here it has more than one credit
            long sent = flood(client.peer, client.child(),
                    "00000005 00000001 00000020 00000000" + NO_CHUNKS + "00000005" + NULL_CALL);
            client.peer.channel().config().setAutoRead(true);
            for (long i = 0; i < sent; i++) {
                client.peer.receive().release();
            }
            client.requireAlive();
        }
    }

    @Test
    void shouldGrantNoMoreThanTheShareOfTheConnection() throws Exception {
        RpcRdmaBuilder server = ShortSends.server().program(new BulkProgram(true)).credits(1024).inlineThresholdBytes(65_536);
        List<RawClient> clients = new ArrayList<>();
        try {
            int share;
            RdmaChannel child;
            do { // the more connections, the less
                clients.add(new RawClient(server, false));
                child = clients.get(clients.size() - 1).child();
                share = child.eventLoop().submit(child::fairMessages).sync().getNow();
            } while (share >= 1024 && clients.size() < 8);
            assumeTrue(share < 1024, "very much memory");
            RawPeer peer = clients.get(clients.size() - 1).peer;
            peer.sendHex("00000001 00000001 00000400 00000000" + NO_CHUNKS + "00000001" + NULL_CALL);
            ByteBuf reply = peer.receive();
            assertEquals(share, reply.getInt(8));
            reply.release();
        } finally {
            clients.forEach(RawClient::close);
        }
    }

    @Test
    void shouldEndConnectionThatTakesNoErrors() throws Exception {
        try (RawClient client = new RawClient(ShortSends.server().program(new BulkProgram(true))
                .resources(ResourceLimits.DEFAULT.withTransferTimeoutMillis(500)))) {
            RdmaChannel child = client.child();
            flood(client.peer, child, "00000005 00000001 00000020 00000000 00000007 00000000 00000000");
            assertTrue(child.closeFuture().await(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS));
            assertEquals(1, client.server.statistics().get(Counter.STALLED_CONNECTIONS));
        }
    }

    @Test
    void shouldEndConnectionToServerThatTakesNoErrorsAndSayWhy() throws Exception {
        PrintStream before = System.err;
        ByteArrayOutputStream log = new ByteArrayOutputStream();
        System.setErr(new PrintStream(log, true, StandardCharsets.UTF_8));
        try (RawServer server = new RawServer(ShortSends.client()
                .resources(ResourceLimits.DEFAULT.withTransferTimeoutMillis(500)))) {
            flood(server.peer, server.channel, "00000005 00000001 00000001 00000000" + NO_CHUNKS + "00000005" + NULL_CALL);
            assertTrue(server.channel.closeFuture().await(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS));
            assertEquals(1, server.client.statistics().get(Counter.STALLED_CONNECTIONS));
        } finally {
            System.setErr(before);
        }
        assertEquals(1, log.toString(StandardCharsets.UTF_8).lines()
                .filter(line -> line.contains("transfers have moved too little for 500 ms (limits: transferTimeoutMillis"))
                .count(),
                log::toString);
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "00000005 00000001 00000001 00000000 00000000 00000001 00000001 0000000a 00000010 0000000000000000 00000000 00000000 "
                + "00000005"
                + NULL_CALL,                                                        // a chunk
        "00000005 00000001 00000001 00000000" + NO_CHUNKS + "00000005" + NULL_CALL, // nothing is wrong
    })
    void shouldBoundAnswersOfClientToReverseCalls(String message) throws Exception {
        try (RawServer server = new RawServer(ShortSends.client().reverse(16).program(new BulkProgram(true)))) {
            flood(server.peer, server.channel, message);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"00000001 00000001 00000000", "00000002 00000001 00000000 00000000 00000000"})
    void shouldBoundRefusalsOfClientThatServesNoReverseCalls(String header) throws Exception {
        try (RawServer server = new RawServer(ShortSends.client().versions(VersionPolicy.PREFER_V2))) {
            flood(server.peer, server.channel, "00000005" + header + NO_CHUNKS + "00000005" + NULL_CALL);
        }
    }
}
