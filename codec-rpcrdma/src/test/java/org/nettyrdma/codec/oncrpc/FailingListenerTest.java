package org.nettyrdma.codec.oncrpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nettyrdma.codec.oncrpc.Hex.dump;
import static org.nettyrdma.codec.oncrpc.Hex.hex;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.buffer.ByteBuf;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Calls end also where what measures them fails. */
class FailingListenerTest {

    private static final String CALL =
            "00000007 00000000 00000002 00030d40 00000001 00000005 00000000 00000000 00000000 00000000";
    private static final String SUCCESS = "00000007 00000001 00000000 00000000 00000000 00000000";

    static List<RpcCallListener> listeners() {
        MeterRegistry taken = new SimpleMeterRegistry(); // by meters of another type
        taken.counter("rpc.server.calls.active");
        for (String side : List.of("server", "client")) {
            taken.counter("rpc." + side + ".call.duration", "program", "200000", "version", "1", "procedure", "5", "outcome",
                    "success");
        }
        return List.of(new RpcCallListener() {
            @Override
            public void begun(Side side) {
                throw new IllegalStateException("expected");
            }

            @Override
            public void ended(Side side, int program, int version, int procedure, Outcome outcome, long elapsedNanos) {
                throw new AssertionError("expected");
            }
        }, new RpcCallMetrics(taken, List.of()));
    }

    @ParameterizedTest
    @MethodSource("listeners")
    void shouldAnswerCalls(RpcCallListener listener) {
        EmbeddedChannel server = new EmbeddedChannel();
        RpcCallListener.addTo(server.pipeline(), listener);
        server.pipeline().addLast(new RpcServerHandler(TestProgram.echo()));
        for (int i = 0; i < 3; i++) {
            server.writeInbound(hex(CALL));
            ByteBuf reply = server.readOutbound();
            assertEquals(SUCCESS, dump(reply));
            reply.release();
        }
        server.finishAndReleaseAll();
    }

    @ParameterizedTest
    @MethodSource("listeners")
    void shouldCompleteCalls(RpcCallListener listener) {
        EmbeddedChannel channel = new EmbeddedChannel();
        RpcCallListener.addTo(channel.pipeline(), listener);
        RpcClient client = new RpcClient(1000, 7, System::nanoTime);
        channel.pipeline().addLast(client);
        Future<ByteBuf> call = client.call(new RpcRequest(200000, 1, 5));
        channel.runPendingTasks();
        ReferenceCountUtil.release(channel.readOutbound());
        channel.writeInbound(hex(SUCCESS));
        assertTrue(call.isSuccess(), String.valueOf(call.cause()));
        call.getNow().release();
        channel.finishAndReleaseAll();
    }
}
