package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelPipeline;
import io.netty.util.concurrent.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import org.nettyrdma.codec.oncrpc.ExhaustedAllocator;
import org.nettyrdma.codec.oncrpc.MemoryBudget;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.oncrpc.Xdr;

/**
 * Two sides that call each other, with little memory for their calls, and at times none for buffers. Each call ends, calls are
 * canceled and answered late, and at the end of the connection nobody has any memory; the leak detector counts.
 */
class BothDirectionsPropertyTest {

    private static final int BUDGET_BYTES = 40 << 10;
    private static final int MOST_BYTES = 12_000;
    private static final int PROCEDURES = BulkProgram.HANG + 1;

    /** What happens. */
    enum Kind { CALL, CANCEL, ANSWER, NO_BUFFERS, BUFFERS, CLOSE }

    /**
     * Something that happens.
     *
     * @param server whether to the server
     * @param which  which procedure or call
     * @param bytes  how much data, or how many buffers there are yet
     */
    record Event(Kind kind, boolean server, int which, int bytes) {
    }

    @Provide
    Arbitrary<List<Event>> events() {
        Arbitrary<Kind> kinds = Arbitraries.frequency(Tuple.of(24, Kind.CALL), Tuple.of(2, Kind.CANCEL), Tuple.of(8, Kind.ANSWER),
                Tuple.of(2, Kind.NO_BUFFERS), Tuple.of(4, Kind.BUFFERS), Tuple.of(1, Kind.CLOSE));
        return Combinators.combine(kinds, Arbitraries.of(false, true), Arbitraries.integers().between(0, 1000),
                Arbitraries.integers().between(0, MOST_BYTES)).as(Event::new).list().ofMaxSize(40);
    }

    @Property
    void shouldEndAllCalls(@ForAll("events") List<Event> events, @ForAll boolean versionTwo) throws Exception {
        Run run = new Run(versionTwo ? VersionPolicy.V2_ONLY : VersionPolicy.V1_ONLY);
        try {
            for (Event event : events) {
                run.happen(event);
            }
            run.end();
        } finally {
            run.close();
        }
    }

    /** One of the two. */
    private static final class Side {

        private final BulkProgram program = new BulkProgram(true);
        private final MemoryBudget memory = new MemoryBudget(BUDGET_BYTES);
        private volatile Channel channel;
        private ByteBufAllocator alloc;

        RpcRdmaBuilder with(RpcRdmaBuilder builder, VersionPolicy versions) {
            return builder.versions(versions).credits(6).reverse(4).program(program).binding(BulkProgram.BINDING).memory(memory)
                    .extensionHandlers(this::found);
        }

        private void found(ChannelPipeline pipeline) {
            channel = pipeline.channel();
        }

        /** Answers the oldest call that waits; {@code false} if there is none. */
        boolean answer() {
            RpcCall call = program.hanging.poll();
            if (call != null) {
                call.arguments().release();
                try {
                    call.reply(Unpooled.EMPTY_BUFFER);
                } catch (OutOfMemoryError e) {
                    call.channel().close(); // or the caller waits in vain
                }
            }
            return call != null;
        }
    }

    private static final class Run {

        private final Side client = new Side();
        private final Side server = new Side();
        private final RpcRdmaPair pair;
        private final List<Future<ByteBuf>> calls = new ArrayList<>();

        Run(VersionPolicy versions) throws Exception {
            pair = new RpcRdmaPair(server.with(ShortSends.server(), versions), client.with(ShortSends.client(), versions));
            client.alloc = client.channel.config().getAllocator();
            server.alloc = server.channel.config().getAllocator();
            call(client, BulkProgram.NULL, 0);
            calls.get(0).sync(); // the version is settled
        }

        void happen(Event event) {
            Side side = event.server() ? server : client;
            switch (event.kind()) {
                case CALL -> call(side, event.which() % PROCEDURES, event.bytes());
                case CANCEL -> calls.get(event.which() % calls.size()).cancel(false);
                case ANSWER -> side.answer();
                case NO_BUFFERS -> inEventLoop(side, () -> side.channel.config()
                        .setAllocator(new ExhaustedAllocator(event.bytes() % 6)));
                case BUFFERS -> giveBuffers(side);
                case CLOSE -> side.channel.close();
            }
        }

        private void call(Side side, int procedure, int bytes) {
            RpcClient caller = side.channel.pipeline().get(RpcClient.class);
            if (caller == null) {
                return; // the connection is over
            }
            ByteBuf arguments = switch (procedure) {
                case BulkProgram.ECHO -> RpcRdmaPair.opaque(new byte[bytes]);
                case BulkProgram.STORE -> {
                    ByteBuf stored = Unpooled.buffer().writeInt(BulkProgram.MARK);
                    Xdr.writeOpaque(stored, new byte[bytes]);
                    yield stored.writeInt(BulkProgram.MARK);
                }
                case BulkProgram.LOAD -> Unpooled.buffer().writeInt(bytes).writeInt(0);
                case BulkProgram.LOAD_TWO -> Unpooled.buffer().writeInt(bytes).writeInt(bytes / 2);
                default -> Unpooled.EMPTY_BUFFER;
            };
            Future<ByteBuf> call = caller.call(new RpcRequest(BulkProgram.PROGRAM, 1, procedure, arguments));
            calls.add(call.addListener(ended -> {
                if (ended.isSuccess()) {
                    call.getNow().release();
                }
            }));
        }

        private static void inEventLoop(Side side, Runnable task) {
            side.channel.eventLoop().submit(task).syncUninterruptibly();
        }

        private static void giveBuffers(Side side) {
            inEventLoop(side, () -> side.channel.config().setAllocator(side.alloc));
        }

        void end() {
            giveBuffers(client);
            giveBuffers(server);
            await("calls have not ended", () -> {
                answerAll();
                return calls.stream().allMatch(Future::isDone);
            });
        }

        private void answerAll() {
            boolean any;
            do {
                any = client.answer() | server.answer();
            } while (any);
        }

        private void await(String what, BooleanSupplier condition) {
            long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(RpcRdmaPair.TIMEOUT_SECONDS);
            while (!condition.getAsBoolean()) {
                assertTrue(System.nanoTime() - deadlineNanos < 0, () -> what + ": " + calls);
                Thread.yield();
            }
        }

        void close() {
            pair.close();
            await("memory is still taken", () -> {
                answerAll();
                return pair.client.budgets().stream().allMatch(each -> each.usedBytes() == 0 && each.waiting() == 0)
                        && pair.server.budgets().stream().allMatch(each -> each.usedBytes() == 0 && each.waiting() == 0);
            });
            inEventLoop(server, () -> { });
            answerAll();
        }
    }
}
