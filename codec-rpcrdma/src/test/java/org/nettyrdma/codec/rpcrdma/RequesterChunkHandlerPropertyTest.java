package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.nettyrdma.codec.rpcrdma.RawServer.NO_CHUNKS;
import static org.nettyrdma.codec.rpcrdma.RawServer.SUCCESS;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.util.concurrent.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import org.nettyrdma.channel.RdmaWrite;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.codec.oncrpc.RpcConnectionException;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException.Reason;
import org.nettyrdma.handler.credit.CreditGate;
import org.nettyrdma.handler.credit.CreditStatistics.Requests;

/**
 * A client against a server that answers in any order, well, badly, twice, with any grant or not at all, and may go away at
 * any time. Whatever it does:
 * <ul>
 * <li>Never more calls are on their way than the server granted last, and they leave in the order in which they were made.
 * <li>Each call ends exactly once: with its own reply, with the failure that the server caused, or with the connection.
 * <li>What the server has written with RDMA Write before its reply is all there when the caller sees the reply.
 * <li>A canceled call that was sent keeps its credit until the server answers it.
 * <li>Every buffer is released once the connection has ended: none is on the account, and the leak detector counts.
 * </ul>
 */
class RequesterChunkHandlerPropertyTest {

    private static final int CREDITS = 6;
    private static final int DATA_BYTES = 5000;

    enum Kind { CALL, CALL_WITH_CHUNK, CANCEL, REPLY, REFUSE, REPLY_BADLY, REPLY_TWICE, REPLY_TO_NOTHING }

    record Event(Kind kind, int which, int grant) {
    }

    /** A call, as client and server know it. */
    private static final class Call {

        final boolean chunk;
        final Future<ByteBuf> future;
        final AtomicInteger completions = new AtomicInteger();
        String xid;
        RemoteSegment segment;

        Call(boolean chunk, Future<ByteBuf> future) {
            this.chunk = chunk;
            this.future = future;
            future.addListener(done -> completions.incrementAndGet());
        }
    }

    @Provide
    Arbitrary<List<Event>> events() {
        Arbitrary<Kind> kinds = Arbitraries.frequency(Tuple.of(6, Kind.CALL), Tuple.of(5, Kind.CALL_WITH_CHUNK),
                Tuple.of(2, Kind.CANCEL), Tuple.of(6, Kind.REPLY), Tuple.of(1, Kind.REFUSE), Tuple.of(1, Kind.REPLY_BADLY),
                Tuple.of(1, Kind.REPLY_TWICE), Tuple.of(1, Kind.REPLY_TO_NOTHING));
        Arbitrary<Integer> grants = Arbitraries.oneOf(Arbitraries.of(0, 1, -1), Arbitraries.integers().between(0, CREDITS + 2));
        return Combinators.combine(kinds, Arbitraries.integers().between(0, 1000), grants).as(Event::new).list().ofMaxSize(24);
    }

    @Property
    void shouldEndEachCallOnceWhateverTheServerDoes(@ForAll("events") List<Event> events) throws Exception {
        // Cancelled calls keep their memory open, so that the server may go on answering them.
        ResourceLimits patient = ResourceLimits.DEFAULT.withMaxAbandonedBytes(16 << 20);
        try (RawServer server = new RawServer(
                RpcRdma.client().binding(BulkProgram.BINDING).credits(CREDITS).resources(patient))) {
            Run run = new Run(server);
            for (Event event : events) {
                run.happen(event);
            }
            run.end();
        }
    }

    private static final class Run {

        private final RawServer server;
        private final List<Call> calls = new ArrayList<>();
        private final List<Call> waiting = new ArrayList<>();
        private final List<Call> inProgress = new ArrayList<>();
        private long granted = 1;
        private long unmatched;

        Run(RawServer server) {
            this.server = server;
        }

        void happen(Event event) throws Exception {
            switch (event.kind()) {
                case CALL, CALL_WITH_CHUNK -> call(event.kind() == Kind.CALL_WITH_CHUNK);
                case CANCEL -> cancel(event.which());
                case REPLY_TO_NOTHING -> replyToNothing("ffffff00", event.grant());
                default -> {
                    if (!inProgress.isEmpty()) {
                        answer(inProgress.remove(event.which() % inProgress.size()), event);
                    }
                }
            }
            settle();
        }

        private void call(boolean chunk) {
            Future<ByteBuf> future = chunk
                    ? server.start(BulkProgram.LOAD, Unpooled.buffer().writeInt(DATA_BYTES).writeInt(0))
                    : server.start(BulkProgram.NULL, Unpooled.EMPTY_BUFFER);
            Call call = new Call(chunk, future);
            calls.add(call);
            waiting.add(call);
        }

        private void cancel(int which) throws Exception {
            if (!calls.isEmpty()) {
                Call call = calls.get(which % calls.size());
                if (call.future.cancel(false)) {
                    waiting.remove(call);
                }
                server.channel.eventLoop().submit(() -> { }).get(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS);
            }
        }

        private void answer(Call call, Event event) throws Exception {
            String start = call.xid + "00000001" + String.format("%08x", event.grant());
            granted = Math.max(1, Math.min(Integer.toUnsignedLong(event.grant()), CREDITS));
            switch (event.kind()) {
                case REFUSE -> {
                    server.peer.sendHex(start + "00000004 00000002");
                    requireFailure(call, Reason.REFUSED);
                }
                case REPLY_BADLY -> {
                    server.peer.sendHex(start + "00000000 00000002");
                    requireFailure(call, Reason.MALFORMED);
                }
                default -> {
                    reply(call, start, event.which());
                    requireResult(call, event.which());
                    if (event.kind() == Kind.REPLY_TWICE) {
                        replyToNothing(call.xid, event.grant());
                    }
                }
            }
        }

        private void reply(Call call, String start, int seed) throws Exception {
            if (!call.chunk) {
                server.peer.sendHex(start + "00000000" + NO_CHUNKS + call.xid + SUCCESS);
                return;
            }
            server.peer.channel().write(new RdmaWrite(Unpooled.wrappedBuffer(Bytes.pattern(DATA_BYTES, seed)), call.segment));
            server.peer.sendHex(start + "00000000 00000000 00000001 00000001" + RawPeer.hex(call.segment.withLength(DATA_BYTES))
                    + "00000000 00000000" + call.xid + SUCCESS + "00000000" + String.format("%08x", DATA_BYTES));
        }

        private void requireResult(Call call, int seed) throws Exception {
            if (call.future.isCancelled()) {
                return;
            }
            ByteBuf result = RpcRdmaPair.result(call.future);
            byte[] data = ByteBufUtil.getBytes(result);
            result.release();
            ByteBuf expected = Unpooled.buffer();
            if (call.chunk) {
                expected.writeInt(0).writeInt(DATA_BYTES).writeBytes(Bytes.pattern(DATA_BYTES, seed));
            }
            assertArrayEquals(ByteBufUtil.getBytes(expected), data);
        }

        private static void requireFailure(Call call, Reason reason) throws Exception {
            if (!call.future.isCancelled()) {
                assertEquals(reason, RawServer.failure(call.future).reason());
            }
        }

        /** Neither the grant nor anything else in such a reply counts. */
        private void replyToNothing(String xid, int grant) throws Exception {
            unmatched++;
            server.peer.sendHex(xid + "00000001" + String.format("%08x", grant) + "00000000" + NO_CHUNKS + xid + SUCCESS);
        }

        /** The server receives what the model lets go, and then both agree on the numbers. */
        private void settle() throws Exception {
            while (!waiting.isEmpty() && inProgress.size() < granted) {
                Call call = waiting.remove(0);
                ByteBuf sent = server.peer.receive();
                call.xid = ByteBufUtil.hexDump(sent, 0, 4);
                call.segment = call.chunk ? RawServer.segmentAt(sent, 28) : null;
                assertEquals(call.chunk ? DATA_BYTES : 0, call.chunk ? call.segment.length() : 0, "calls come in their order");
                sent.release();
                inProgress.add(call);
            }
            List<Long> expected = List.of((long) inProgress.size(), (long) waiting.size(), granted, unmatched);
            requireSoon(expected, this::counted, "in progress, waiting, granted, unmatched");
        }

        /** What the client does about a message it does after the server knows that the message was sent. */
        private static void requireSoon(Object expected, Callable<?> actual, String what) throws Exception {
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(RpcRdmaPair.TIMEOUT_SECONDS);
            while (!expected.equals(actual.call()) && System.nanoTime() < deadline) {
                Thread.onSpinWait();
            }
            assertEquals(expected, actual.call(), what);
        }

        private List<Long> counted() throws Exception {
            CreditGate gate = server.channel.pipeline().get(CreditGate.class);
            Requests requests = server.channel.eventLoop().submit(() -> gate.statistics().requests())
                    .get(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS);
            return List.of((long) requests.inProgress(), (long) requests.waiting(), (long) requests.granted(),
                    requests.unmatchedResponses());
        }

        /** The server goes away; what it has not answered ends with the connection. */
        void end() throws Exception {
            server.peer.close();
            List<Call> open = new ArrayList<>(inProgress);
            open.addAll(waiting);
            for (Call call : open) {
                if (!call.future.isCancelled()) {
                    assertInstanceOf(RpcConnectionException.class, RpcRdmaPair.failure(call.future));
                }
            }
            assertFalse(server.channel.closeFuture().await().channel().isOpen());
            server.channel.eventLoop().submit(() -> { }).get(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS);
            calls.forEach(call -> assertEquals(1, call.completions.get()));
            requireSoon(0L, () -> server.client.memory().usedBytes(), "bytes of memory in use");
        }
    }
}
