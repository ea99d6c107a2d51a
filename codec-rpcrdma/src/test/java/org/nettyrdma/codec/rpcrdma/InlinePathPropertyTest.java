package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.util.concurrent.Future;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.codec.oncrpc.ReplySpace;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.format.HeaderDigits;
import org.nettyrdma.handler.credit.CreditGate;

/**
 * The short path of calls and replies without chunks does what the pipeline does. Two ends that differ in nothing but that a
 * handler keeps the path of one of them shut get the same bytes, good and bad. Then the bytes that come back must be the same,
 * and what the application sees, all counters, and the credits of both directions.
 */
class InlinePathPropertyTest {

    private static final int CALLS = 6;
    private static final int LAST_XID = 0xcafe;

    /** How a message differs from a plain one. */
    enum Fault { NONE, WORD, CUT, MORE, TWICE }

    /**
     * A message.
     *
     * @param which   which call, or the reply to which call
     * @param credits its credit word
     * @param fault   what is not plain about it
     * @param place   of the word that is another one, or the length that is left
     * @param value   of that word
     */
    record Message(int which, int credits, Fault fault, int place, int value) {

        /** The bytes of a plain message with its fault, without what comes twice. */
        String spoil(String plain) {
            String digits = Bytes.digits(plain);
            int words = digits.length() / 8;
            return switch (fault) {
                case NONE, TWICE -> digits;
                case WORD -> digits.substring(0, place % words * 8) + HeaderDigits.words(value)
                        + digits.substring(place % words * 8 + 8);
                case CUT -> digits.substring(0, 2 * (1 + place % (digits.length() / 2 - 1)));
                case MORE -> digits + HeaderDigits.words(value);
            };
        }
    }

    /** What is left of an exchange, to be compared. */
    private record Outcome(List<String> received, List<String> seen, Map<Counter, Long> counters, String credits) {
    }

    @Provide
    Arbitrary<List<Message>> messages() {
        Arbitrary<Integer> credits = Arbitraries.oneOf(Arbitraries.of(0, 1, -1), Arbitraries.integers().between(2, 40));
        Arbitrary<Fault> faults = Arbitraries.frequencyOf(Tuple.of(5, Arbitraries.just(Fault.NONE)),
                Tuple.of(5, Arbitraries.of(Fault.values())));
        Arbitrary<Integer> values = Arbitraries.oneOf(Arbitraries.of(0, 1, 2, 3, 4, 5, 6, 7, -1), Arbitraries.integers());
        return Combinators.combine(Arbitraries.integers().between(0, CALLS), credits, faults,
                Arbitraries.integers().between(0, 100), values).as(Message::new).list().ofMaxSize(12);
    }

    @Property(tries = 150)
    void shouldServeCallsAsThePipelineDoes(@ForAll("messages") List<Message> messages, @ForAll boolean versionTwo)
            throws Exception {
        assertEquals(serve(messages, versionTwo, true), serve(messages, versionTwo, false));
    }

    private static Outcome serve(List<Message> messages, boolean versionTwo, boolean shut) throws Exception {
        HeaderDigits version = versionTwo ? HeaderDigits.TWO : HeaderDigits.ONE;
        BulkProgram program = new BulkProgram(false);
        RpcRdmaBuilder builder = ShortSends.server().program(program).credits(8)
                .versions(versionTwo ? VersionPolicy.PREFER_V2 : VersionPolicy.V1_ONLY);
        if (shut) {
            builder.extensionHandlers(InlinePathTest::shut);
        }
        try (RawClient client = new RawClient(builder)) {
            RdmaChannel child = client.child();
            client.peer.sendHex(call(version, 1, 8, BulkProgram.NULL, "")); // settles the version
            for (Message message : messages) {
                String digits = message.spoil(call(version, 0x100 + message.which(), message.credits(), BulkProgram.ECHO,
                        HeaderDigits.words(4, message.which())));
                send(client.peer, digits);
                if (message.fault() == Fault.TWICE) {
                    send(client.peer, digits);
                }
            }
            send(client.peer, call(version, LAST_XID, 8, BulkProgram.NULL, ""));
            List<String> received = receivedUntil(client.peer, HeaderDigits.words(LAST_XID));
            program.hanging.forEach(hanging -> hanging.arguments().release()); // another word may have made it this procedure
            boolean ended = received.isEmpty() || !received.get(received.size() - 1).startsWith(HeaderDigits.words(LAST_XID));
            return outcome(child, ended, client.server, received, List.of());
        }
    }

    private static String call(HeaderDigits version, int xid, int credits, int procedure, String arguments) {
        return version.message(xid, Integer.toUnsignedLong(credits), HeaderDigits.MSG, 0, 0, HeaderDigits.NO_CHUNKS)
                + HeaderDigits.words(xid) + RawClient.CALL + HeaderDigits.words(procedure) + RawClient.NO_AUTH + arguments;
    }

    @Property(tries = 150)
    void shouldTakeRepliesAsThePipelineDoes(@ForAll("messages") List<Message> messages, @ForAll boolean versionTwo)
            throws Exception {
        assertEquals(call(messages, versionTwo, true), call(messages, versionTwo, false));
    }

    private static Outcome call(List<Message> messages, boolean versionTwo, boolean shut) throws Exception {
        HeaderDigits version = versionTwo ? HeaderDigits.TWO : HeaderDigits.ONE;
        RpcRdmaBuilder builder = ShortSends.client().credits(CALLS + 2)
                .versions(versionTwo ? VersionPolicy.V2_ONLY : VersionPolicy.V1_ONLY);
        if (shut) {
            builder.extensionHandlers(InlinePathTest::shut);
        }
        try (RawServer server = new RawServer(builder)) {
            List<String> received = new ArrayList<>();
            Future<ByteBuf> first = start(server, 1); // settles the version, and is granted all credits
            received.add(server.peer.receiveHex());
            send(server.peer, reply(version, 1, CALLS + 2));
            RpcRdmaPair.result(first).release();
            if (versionTwo) {
                received.add(server.peer.receiveHex()); // the properties of the client
            }
            List<Future<ByteBuf>> calls = new ArrayList<>();
            for (int i = 0; i < CALLS; i++) {
                calls.add(start(server, 0x100 + i));
                received.add(server.peer.receiveHex());
            }
            Future<ByteBuf> last = start(server, LAST_XID);
            received.add(server.peer.receiveHex());
            for (Message message : messages) {
                String digits = message.spoil(reply(version, 0x100 + message.which(), message.credits())
                        + HeaderDigits.words(message.which()));
                send(server.peer, digits);
                if (message.fault() == Fault.TWICE) {
                    send(server.peer, digits);
                }
            }
            send(server.peer, reply(version, LAST_XID, 1));
            last.await(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS);
            calls.add(last);
            List<String> seen = new ArrayList<>();
            for (Future<ByteBuf> call : calls) {
                seen.add(!call.isDone() ? "waits" : call.isSuccess() ? results(call.getNow()) : causes(call.cause()));
            }
            return outcome(server.channel, !last.isSuccess(), server.client, received, seen);
        }
    }

    private static Future<ByteBuf> start(RawServer server, int xid) {
        return server.start(new RpcRequest(BulkProgram.PROGRAM, 1, BulkProgram.NULL, Unpooled.EMPTY_BUFFER).setXid(xid)
                .setReplySpace(new ReplySpace(200)));
    }

    private static String results(ByteBuf results) {
        try {
            return ByteBufUtil.hexDump(results);
        } finally {
            results.release();
        }
    }

    private static String causes(Throwable failure) {
        StringBuilder text = new StringBuilder();
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            text.append(cause).append(" / ");
        }
        return text.toString();
    }

    private static String reply(HeaderDigits version, int xid, int credits) {
        return version.message(xid, Integer.toUnsignedLong(credits), HeaderDigits.MSG, HeaderDigits.RESPONSE, 0,
                HeaderDigits.NO_CHUNKS) + HeaderDigits.words(xid) + RawServer.SUCCESS;
    }

    /** What ends the connection fails the messages behind it. */
    private static void send(RawPeer peer, String digits) {
        peer.channel().writeAndFlush(Bytes.hex(digits)).awaitUninterruptibly(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS);
    }

    /** All messages up to the one that begins so, or up to the end of the connection. */
    private static List<String> receivedUntil(RawPeer peer, String last) throws Exception {
        List<String> received = new ArrayList<>();
        ByteBuf message;
        do {
            message = peer.receiveUnlessClosed();
            if (message != null) {
                received.add(Bytes.hex(message));
                message.release();
            }
        } while (message != null && !received.get(received.size() - 1).startsWith(last));
        return received;
    }

    /** @param ended whether the peer has seen the end of the connection, which may still have to come on this side */
    private static Outcome outcome(RdmaChannel channel, boolean ended, RpcRdma end, List<String> received, List<String> seen)
            throws Exception {
        if (ended) {
            assertTrue(channel.closeFuture().await(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS));
        }
        // On the event loop: what the last message has led to is over then.
        return channel.eventLoop().submit(() -> {
            Map<Counter, Long> counters = new EnumMap<>(Counter.class);
            for (Counter counter : Counter.values()) {
                counters.put(counter, end.statistics().get(counter));
            }
            String credits = ended ? "closed" : channel.pipeline().get(CreditGate.class).statistics().toString();
            return new Outcome(received, seen, counters, credits);
        }).get(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS);
    }
}
