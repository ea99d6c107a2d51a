package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.codec.oncrpc.DuplicateRequestCache;
import org.nettyrdma.codec.oncrpc.DuplicateRequestStatistics;
import org.nettyrdma.codec.oncrpc.ReplySpace;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.oncrpc.RpcReplyHeader;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.oncrpc.SingleVersionProgram;
import org.nettyrdma.codec.oncrpc.client.CuttingRelay;
import org.nettyrdma.codec.oncrpc.client.ReconnectPolicy;
import org.nettyrdma.codec.oncrpc.client.ReconnectingRpcClient;

/** Calls that must not be executed twice, over connections that are cut at any byte: each is executed once and answered. */
@Timeout(120)
class ExecutedOnceTest {

    private static final int PROGRAM = 0x20000098;
    private static final int CALLS = 10_000;
    private static final int OUTSTANDING = 64;
    private static final int LONG_BYTES = 6_000;
    private static final ReconnectPolicy QUICK = ReconnectPolicy.DEFAULT.withDelayMillis(1, 5);

    private final DuplicateRequestCache cache = new DuplicateRequestCache();
    private final AtomicIntegerArray executed = new AtomicIntegerArray(CALLS);

    /** Answers with its argument and, of each 16th call, with bulk data; of each fourth one a little later. */
    private final class Counter implements SingleVersionProgram {

        @Override
        public int program() {
            return PROGRAM;
        }

        @Override
        public void call(RpcCall call) {
            int number = call.arguments().readInt();
            executed.incrementAndGet(number);
            if (number % 4 == 3) {
                GlobalEventExecutor.INSTANCE.schedule(() -> answer(call, number), 2, TimeUnit.MILLISECONDS);
            } else {
                answer(call, number);
            }
        }

        private static void answer(RpcCall call, int number) {
            if (number % 16 < 2) {
                call.reply(call.alloc().buffer().writeInt(number).writeInt(LONG_BYTES).writeBytes(data(number)),
                        List.of(new DataItem(8, LONG_BYTES)));
            } else {
                call.reply(call.alloc().buffer().writeInt(number).writeInt(0));
            }
        }
    }

    private static byte[] data(int number) {
        return Bytes.pattern(LONG_BYTES, number);
    }

    private static RpcRequest request(int number) {
        return new RpcRequest(PROGRAM, 1, 1, ByteBufAllocator.DEFAULT.buffer().writeInt(number))
                .setReplySpace(new ReplySpace(RpcReplyHeader.SUCCESS_BYTES + 8, List.of(number % 16 < 2 ? LONG_BYTES : 0)));
    }

    private static void assertAnswer(int number, Future<ByteBuf> call) throws Exception {
        ByteBuf results = RpcRdmaPair.result(call);
        try {
            assertEquals(number, results.readInt());
            assertEquals(number % 16 < 2 ? LONG_BYTES : 0, results.readInt());
            if (results.isReadable()) {
                byte[] bytes = new byte[LONG_BYTES];
                results.readBytes(bytes);
                assertArrayEquals(data(number), bytes);
            }
        } finally {
            results.release();
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldExecuteEachCallOnceOverConnectionsThatAreCut(TestTransport transport) throws Exception {
        EventLoopGroup group = transport.newTcpGroup(2);
        Channel listener = transport.server(group, cache.guard(new Counter()))
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)).sync().channel();
        Random random = new Random(1);
        try (CuttingRelay relay = new CuttingRelay(listener::localAddress, () -> 20_000 + random.nextInt(60_000));
                ReconnectingRpcClient client = ReconnectingRpcClient.builder(transport.client(group), relay.address())
                        .policy(QUICK).connections(2).connect()) {
            Queue<Future<ByteBuf>> calls = new ArrayDeque<>();
            for (int number = 0; number < CALLS; number++) {
                calls.add(client.call(request(number)));
                if (calls.size() == OUTSTANDING) {
                    assertAnswer(number - OUTSTANDING + 1, calls.remove());
                }
            }
            while (!calls.isEmpty()) {
                assertAnswer(CALLS - calls.size(), calls.remove());
            }
            DuplicateRequestStatistics statistics = cache.statistics();
            String seen = relay.cuts() + " cuts, " + client.statistics() + ", " + statistics;
            assertTrue(relay.cuts() > 20, seen);
            assertTrue(statistics.hits() > 0, seen);
            assertEquals(CALLS, statistics.executed(), seen);
        } finally {
            group.shutdownGracefully(0, 30, TimeUnit.SECONDS).sync();
        }
        for (int number = 0; number < CALLS; number++) {
            assertEquals(1, executed.get(number), "executions of call " + number);
        }
    }
}
