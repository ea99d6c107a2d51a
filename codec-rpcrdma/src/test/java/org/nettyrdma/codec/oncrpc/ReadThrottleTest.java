package org.nettyrdma.codec.oncrpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.Test;

/** What calls on an executor count for, on a transport without credits. */
class ReadThrottleTest {

    private int reads;

    /** Each has a credential and objects of the server, though no arguments. */
    @Test
    void shouldStopReadingWhereManyCallsWithoutArgumentsWait() {
        Queue<Runnable> tasks = new ArrayDeque<>();
        TestProgram program = new TestProgram(200000, 1, 1, call -> call.reply(Unpooled.EMPTY_BUFFER));
        EmbeddedChannel server = new EmbeddedChannel(new ChannelOutboundHandlerAdapter() {
            @Override
            public void read(ChannelHandlerContext ctx) {
                reads++;
                ctx.read();
            }
        }, new RpcServerHandler(List.of(program), tasks::add, 8 << 10));
        int calls = 0;
        while (calls < 1000 && reads(server)) {
            server.writeInbound(callWithCredential());
            calls++;
        }
        assertTrue(calls >= 8 && calls <= 10, calls + " calls were read");
        while (!tasks.isEmpty()) {
            tasks.remove().run();
        }
        server.runPendingTasks();
        assertTrue(reads(server));
        assertEquals(calls, server.outboundMessages().size());
        server.finishAndReleaseAll();
    }

    private boolean reads(EmbeddedChannel server) {
        int before = reads;
        server.read();
        return reads > before;
    }

    private static ByteBuf callWithCredential() {
        ByteBuf call = Unpooled.buffer();
        new RpcCallHeader(7, 200000, 1, 0, new OpaqueAuth(6, new byte[OpaqueAuth.MAX_BODY_BYTES]), OpaqueAuth.NONE).write(call);
        return call;
    }
}
