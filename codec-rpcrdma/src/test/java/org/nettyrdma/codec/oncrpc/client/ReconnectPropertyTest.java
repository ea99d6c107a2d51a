package org.nettyrdma.codec.oncrpc.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.util.concurrent.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeUnit;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.lifecycle.AfterContainer;
import org.nettyrdma.codec.oncrpc.Retransmission;
import org.nettyrdma.codec.oncrpc.RpcConnectionException;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.oncrpc.RpcTimeoutException;
import org.nettyrdma.codec.oncrpc.client.FaultyNetwork.Fault;

/** Whatever the network does, each call ends once, and none is carried out more often than it may be. */
class ReconnectPropertyTest {

    private static final EventLoopGroup GROUP = new NioEventLoopGroup(3);
    private static final ReconnectPolicy POLICY = ReconnectPolicy.DEFAULT.withDelayMillis(1, 2);

    /** One call of the script. */
    record Call(Retransmission retransmission, int bytes, boolean cancelled) {
    }

    @AfterContainer
    static void shutDown() {
        GROUP.shutdownGracefully(0, 30, TimeUnit.SECONDS).syncUninterruptibly();
    }

    @Provide
    Arbitrary<List<Call>> calls() {
        return Combinators.combine(Arbitraries.of(Retransmission.class), Arbitraries.of(4, 100, 2000),
                Arbitraries.integers().between(0, 9).map(number -> number == 0))
                .as(Call::new).list().ofMinSize(1).ofMaxSize(30);
    }

    @Provide
    Arbitrary<List<Fault>> faultsWithoutLoss() {
        return Arbitraries.of(Fault.NONE, Fault.NONE_EITHER, Fault.DELAY, Fault.CUT).list().ofMaxSize(30);
    }

    @Provide
    Arbitrary<List<Fault>> faults() {
        return Arbitraries.of(Fault.class).list().ofMaxSize(20);
    }

    @Property
    void shouldAnswerAllCallsThatMayBeMadeAgainWhileNothingIsDropped(@ForAll("calls") List<Call> calls,
            @ForAll("faultsWithoutLoss") List<Fault> connects, @ForAll("faultsWithoutLoss") List<Fault> arrivals,
            @ForAll("faultsWithoutLoss") List<Fault> replies, @ForAll @IntRange(min = 1, max = 3) int connections,
            @ForAll @IntRange(min = 1, max = 8) int callsPerConnection) throws Exception {
        run(calls, connects, arrivals, replies, connections,
                POLICY.withMaxCallsPerConnection(callsPerConnection).withCallTimeoutMillis(60_000), false);
    }

    @Property(tries = 60)
    void shouldEndAllCallsOfANetworkThatDrops(@ForAll("calls") List<Call> calls, @ForAll("faults") List<Fault> connects,
            @ForAll("faults") List<Fault> arrivals, @ForAll("faults") List<Fault> replies,
            @ForAll @IntRange(min = 1, max = 3) int connections) throws Exception {
        run(calls, connects, arrivals, replies, connections, POLICY.withMaxLostCalls(2).withCallTimeoutMillis(40), true);
    }

    private static void run(List<Call> script, List<Fault> connects, List<Fault> arrivals, List<Fault> replies, int connections,
                            ReconnectPolicy policy, boolean drops) throws Exception {
        List<Future<ByteBuf>> calls = new ArrayList<>();
        try (FaultyNetwork network = new FaultyNetwork(GROUP, connects, arrivals, replies);
                ReconnectingRpcClient client = network.client().policy(policy).connections(connections).connect()) {
            for (int i = 0; i < script.size(); i++) {
                Call call = script.get(i);
                ByteBuf bytes = ByteBufAllocator.DEFAULT.buffer().writeInt(i).writeZero(call.bytes() - 4);
                calls.add(client.call(new RpcRequest(FaultyNetwork.PROGRAM, 1, 1, bytes)
                        .setRetransmission(call.retransmission())));
                if (call.cancelled()) {
                    calls.get(i).cancel(false);
                }
            }
            for (int i = 0; i < calls.size(); i++) {
                int number = i;
                assertTrue(calls.get(i).await(10, TimeUnit.SECONDS), () -> "call " + number + " has not ended: "
                        + client.statistics() + ", arrived " + network.arrived());
            }
            assertCloses(client);
            assertEquals(0, client.statistics().calls());
            assertEquals(0, client.statistics().waitingCalls());
            assertEquals(0, client.statistics().waitingBytes());
            assertEquals(0, client.statistics().connections());
            for (int i = 0; i < calls.size(); i++) {
                check(i, script.get(i), calls.get(i), network, drops);
            }
            if (connections == 1) {
                network.arrived().forEach(ReconnectPropertyTest::assertAscending);
            }
        }
        GROUP.forEach(loop -> loop.submit(() -> { }).syncUninterruptibly()); // what closed channels had is released
    }

    private static void assertCloses(ReconnectingRpcClient client) throws InterruptedException {
        client.close();
        assertTrue(client.closeFuture().await(30, TimeUnit.SECONDS));
    }

    private static void check(int value, Call call, Future<ByteBuf> future, FaultyNetwork network, boolean drops) {
        int executed = network.executed(value);
        if (call.retransmission() != Retransmission.ALWAYS) {
            assertTrue(executed <= 1, () -> "call " + value + " was carried out " + executed + " times");
        }
        if (future.isSuccess()) {
            ByteBuf results = future.getNow();
            assertEquals(value, results.readInt());
            assertEquals(call.bytes() - 4, results.readableBytes());
            results.release();
            assertTrue(executed >= 1);
        } else if (future.cause() instanceof RpcConnectionException failure) {
            assertTrue(call.retransmission() != Retransmission.ALWAYS, failure::toString);
            assertTrue(failure.mayHaveBeenSent() || executed == 0, failure::toString);
            assertTrue(call.retransmission() == Retransmission.NEVER || failure.mayHaveBeenSent(), failure::toString);
        } else if (call.cancelled()) {
            assertInstanceOf(CancellationException.class, future.cause());
        } else {
            assertInstanceOf(RpcTimeoutException.class, future.cause());
            assertTrue(drops, () -> future.cause().toString());
        }
    }

    private static void assertAscending(List<Integer> values) {
        int last = -1;
        for (int value : List.copyOf(values)) {
            assertTrue(value > last, values::toString);
            last = value;
        }
    }
}
