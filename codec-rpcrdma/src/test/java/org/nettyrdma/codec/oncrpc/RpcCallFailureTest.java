package org.nettyrdma.codec.oncrpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.nettyrdma.codec.oncrpc.transport.RpcCallFailure;

class RpcCallFailureTest {

    private final RpcClient client = new RpcClient(1000, 7, System::nanoTime);
    private final List<Object> passedOn = new ArrayList<>();
    private final EmbeddedChannel channel = new EmbeddedChannel(client, new ChannelInboundHandlerAdapter() {
        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            passedOn.add(event);
        }
    });

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
    }

    @Test
    void shouldFailTheCallThatTheTransportGaveUp() {
        Future<ByteBuf> other = client.call(new RpcRequest(1, 2, 3));
        Future<ByteBuf> call = client.call(new RpcRequest(1, 2, 3));
        IOException cause = new IOException("refused");

        channel.pipeline().fireUserEventTriggered(new RpcCallFailure(8, cause));

        assertSame(cause, assertInstanceOf(RpcTransportException.class, call.cause()).getCause());
        assertFalse(other.isDone());
        assertEquals(1, client.statistics().pendingCalls());
    }

    @Test
    void shouldCountFailureOfNoCall() {
        channel.pipeline().fireUserEventTriggered(new RpcCallFailure(99, new IOException("late")));
        assertEquals(1, client.statistics().unmatchedReplies());
    }

    @Test
    void shouldPassOnOtherEvents() {
        channel.pipeline().fireUserEventTriggered("event");
        assertEquals(List.of("event"), passedOn);
    }

    @Test
    void shouldNotBeWithoutACause() {
        assertThrows(NullPointerException.class, () -> new RpcCallFailure(1, null));
    }
}
