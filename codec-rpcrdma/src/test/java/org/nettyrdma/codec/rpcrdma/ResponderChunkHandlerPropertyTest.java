package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nettyrdma.codec.rpcrdma.RawClient.CALL;
import static org.nettyrdma.codec.rpcrdma.RawClient.NO_AUTH;
import static org.nettyrdma.codec.rpcrdma.RawClient.NO_CHUNKS;
import static org.nettyrdma.codec.rpcrdma.RawClient.SUCCESS;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.codec.oncrpc.RpcCall;

/**
 * A server against a client that sends calls of each shape and defects among them, as many as it was granted and at last
 * perhaps one more; the program answers in any order, and not all of them. Whatever comes:
 * <ul>
 * <li>Each call gets exactly one answer: its reply, an RDMA_ERROR, or the end of the connection.
 * <li>The grant is what the client's last call asked for, never nothing and never more than there are receives posted.
 * <li>A reply in a Reply chunk is written in full before the message that announces it arrives.
 * <li>A call beyond the grant ends the connection, and nothing is delivered after that.
 * <li>Every buffer is released once the connection has ended; the leak detector counts.
 * </ul>
 *
 * <p>With {@link RequesterChunkHandlerPropertyTest} and the test of the credit gate these random orders are the ones that would
 * break the nine rules of the data path: (1) there are as many receives posted as credits granted, or the peer's Send would end
 * the connection; (2) the device holds one reference for each work request, or a buffer would leak or be gone too early; (3)
 * receives are posted again ahead of the reply that grants them; (4) the RDMA Writes of a reply are posted ahead of its Send;
 * (5) a call has exactly one answer; (6) the caller sees nothing that the peer can still write; (7) a loop that sleeps has
 * looked once more after it asked to be woken, or a message would wait for ever; (8) a queue pair ends when nothing is
 * outstanding, and its memory after it; (9) sends complete in the order of the outbound buffer, cancelled ones left out.
 */
class ResponderChunkHandlerPropertyTest {

    private static final int CREDITS = 6;
    private static final int LONG_REPLY_BYTES = 6000;
    private static final int CALL_BYTES = 40;

    enum Kind { CALL, LONG_CALL, CALL_WITH_REPLY_CHUNK, MALFORMED_CALL, OTHER_VERSION, ANSWER, ANSWER_LONG }

    record Event(Kind kind, int which, int asked) {
    }

    @Provide
    Arbitrary<List<Event>> events() {
        Arbitrary<Kind> kinds = Arbitraries.frequency(Tuple.of(5, Kind.CALL), Tuple.of(4, Kind.LONG_CALL),
                Tuple.of(4, Kind.CALL_WITH_REPLY_CHUNK), Tuple.of(1, Kind.MALFORMED_CALL), Tuple.of(1, Kind.OTHER_VERSION),
                Tuple.of(7, Kind.ANSWER), Tuple.of(4, Kind.ANSWER_LONG));
        Arbitrary<Integer> asked = Arbitraries.oneOf(Arbitraries.of(0, 1, -1), Arbitraries.integers().between(0, CREDITS + 2));
        return Combinators.combine(kinds, Arbitraries.integers().between(0, 1000), asked).as(Event::new).list().ofMaxSize(24);
    }

    @Property
    void shouldAnswerEachCallOnceWhateverTheClientDoes(@ForAll("events") List<Event> events, @ForAll boolean oneMore)
            throws Exception {
        BulkProgram program = new BulkProgram(true);
        RpcRdma.Builder builder = RpcRdma.server().program(program).binding(BulkProgram.BINDING).credits(CREDITS);
        try (RawClient client = new RawClient(builder)) {
            Run run = new Run(client, program);
            try {
                for (Event event : events) {
                    run.happen(event);
                }
                if (oneMore) {
                    run.exceed();
                }
            } finally {
                run.end();
            }
        }
    }

    /** A call that the program has not answered; {@code replyChunk} is {@code null} where none was offered. */
    private record Served(String xid, RpcCall call, RemoteSegment replyChunk, ByteBuf replyMemory) {
    }

    private static final class Run {

        private final RawClient client;
        private final BulkProgram program;
        private final List<Served> served = new ArrayList<>();
        private final List<ByteBuf> memory = new ArrayList<>();
        private int nextXid = 1;
        private int mayHave = 1; // the highest grant so far
        private long asked;

        Run(RawClient client, BulkProgram program) {
            this.client = client;
            this.program = program;
        }

        void happen(Event event) throws Exception {
            boolean answers = event.kind() == Kind.ANSWER || event.kind() == Kind.ANSWER_LONG;
            if (answers && !served.isEmpty()) {
                answer(served.remove(event.which() % served.size()), event.kind() == Kind.ANSWER_LONG);
            } else if (!answers && served.size() < mayHave) {
                asked = Integer.toUnsignedLong(event.asked());
                call(event.kind(), String.format("%08x", nextXid++), String.format("%08x", event.asked()));
            }
        }

        private void call(Kind kind, String xid, String credits) throws Exception {
            String start = xid + "00000001" + credits;
            String call = xid + CALL + "00000005" + NO_AUTH;
            switch (kind) {
                case CALL -> {
                    client.peer.sendHex(start + "00000000" + NO_CHUNKS + call);
                    serve(xid, null, null);
                }
                case LONG_CALL -> {
                    ByteBuf source = registered(ByteBufUtil.decodeHexDump(Bytes.digits(call)));
                    client.peer.sendHex(start + "00000001" + RawClient.entry(0, client.readable(source, 0, CALL_BYTES)) + NO_CHUNKS);
                    serve(xid, null, null);
                }
                case CALL_WITH_REPLY_CHUNK -> {
                    ByteBuf sink = registered(new byte[LONG_REPLY_BYTES + 100]);
                    RemoteSegment segment = client.writable(sink, 0, LONG_REPLY_BYTES + 100);
                    client.peer.sendHex(start + "00000000 00000000 00000000" + RawClient.chunk(segment) + call);
                    serve(xid, segment, sink);
                }
                case MALFORMED_CALL -> {
                    client.peer.sendHex(start + "00000000 00000002 00000000 00000000");
                    expect(xid + "00000001" + grant() + "00000004 00000002");
                }
                default -> {
                    client.peer.sendHex(xid + "00000007" + credits + "00000000" + NO_CHUNKS + call);
                    expect(xid + "00000007" + grant() + "00000004 00000001 00000001 00000001");
                }
            }
        }

        private ByteBuf registered(byte[] bytes) {
            ByteBuf buffer = client.peer.registered(bytes);
            memory.add(buffer);
            return buffer;
        }

        private void serve(String xid, RemoteSegment replyChunk, ByteBuf replyMemory) throws InterruptedException {
            RpcCall call = program.hanging.poll(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS);
            assertTrue(call != null, "the call " + xid + " was not delivered");
            call.arguments().release();
            served.add(new Served(xid, call, replyChunk, replyMemory));
        }

        private void answer(Served one, boolean isLong) throws Exception {
            byte[] results = Bytes.pattern(isLong ? LONG_REPLY_BYTES : 8, one.xid.hashCode());
            one.call.reply(one.call.alloc().buffer(results.length).writeBytes(results));
            String start = one.xid + "00000001" + grant();
            String reply = one.xid + SUCCESS + ByteBufUtil.hexDump(results);
            if (!isLong) {
                expect(start + "00000000 00000000 00000000" + (one.replyChunk == null ? "00000000"
                        : RawClient.chunk(one.replyChunk.withLength(0))) + reply);
            } else if (one.replyChunk == null) {
                expect(start + "00000004 00000002");
            } else {
                int length = Bytes.digits(reply).length() / 2;
                expect(start + "00000001 00000000 00000000" + RawClient.chunk(one.replyChunk.withLength(length)));
                assertEquals(Bytes.digits(reply), ByteBufUtil.hexDump(ByteBufUtil.getBytes(one.replyMemory, 0, length)),
                        "written ahead of its message");
            }
        }

        /** What the answer that is sent now has to grant. */
        private String grant() {
            int grant = (int) Math.max(1, Math.min(asked, CREDITS));
            mayHave = Math.max(mayHave, grant);
            return String.format("%08x", grant);
        }

        private void expect(String digits) throws Exception {
            assertEquals(Bytes.digits(digits), client.peer.receiveHex());
        }

        /** Uses the grant up, and then sends another call; the connection ends, and nobody sees that call. */
        void exceed() throws Exception {
            while (served.size() < mayHave) {
                call(Kind.CALL, String.format("%08x", nextXid++), "00000001");
            }
            client.peer.channel().writeAndFlush(Bytes.hex("0000beef 00000001 00000001 00000000" + NO_CHUNKS + "0000beef"
                    + CALL + "00000005" + NO_AUTH));
            client.peer.awaitClose();
            assertEquals(0, program.hanging.size(), "nothing is delivered beyond the grant");
        }

        /** The client goes away; answers that come then go nowhere, and take nothing with them. */
        void end() {
            client.peer.close();
            for (Served one : served) {
                one.call.reply(one.call.alloc().buffer(8).writeLong(1));
            }
            memory.forEach(ByteBuf::release);
        }
    }
}
