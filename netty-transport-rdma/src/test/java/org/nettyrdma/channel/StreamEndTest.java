package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How the end of the peer is told where {@code AUTO_READ} is off, and where a handler ends the channel just before. */
@Timeout(60)
class StreamEndTest extends StreamFixture {

    /** One read takes the data that has come before the end, and nothing that follows would wake the channel. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldTellTheEndBehindDataThatOneReadHasTaken(boolean halfClosure) throws Exception {
        RdmaServerStreamChannel listener = listen(serverBootstrap().childOption(ChannelOption.AUTO_READ, false)
                .childOption(ChannelOption.ALLOW_HALF_CLOSURE, halfClosure));
        End client = connect(bootstrap(), listener.localAddress());
        End server = awaitAccepted();
        client.write(new byte[100]);
        await(client.channel.shutdownOutput());
        awaitPolls(client);
        awaitPolls(server); // the end has arrived
        assertEquals(0, server.received.size());
        server.channel.read();
        String end = halfClosure ? "ChannelInputShutdownEvent" : "inactive";
        server.awaitEvent(end);
        assertArrayEquals(new byte[100], server.awaitBytes(100));
        assertEquals(List.of("active", end), server.events().subList(0, 2));
    }

    @Test
    void shouldNotTellTheEndToHandlersThatHaveJustClosedTheChannel() throws Exception {
        assertEquals(List.of("active", "inactive"), eventsWhere(RdmaStreamChannel::close, "inactive"));
    }

    @Test
    void shouldNotTellTheEndToHandlersThatHaveJustShutTheInputDown() throws Exception {
        assertEquals(List.of("active", "ChannelInputShutdownReadComplete"),
                eventsWhere(RdmaStreamChannel::shutdownInput, "ChannelInputShutdownReadComplete"));
    }

    /** What a server is told whose handler does something with its channel when the read of the end is complete. */
    private List<String> eventsWhere(Consumer<RdmaStreamChannel> step, String last) throws Exception {
        Pair pair = pair(true);
        End server = pair.server();
        server.channel.pipeline().addFirst(new ChannelInboundHandlerAdapter() {
            @Override
            public void channelReadComplete(ChannelHandlerContext ctx) {
                step.accept(server.channel);
            }
        });
        server.channel.eventLoop().submit(() -> { }).sync(); // the handler is there
        await(pair.client().channel.shutdownOutput());
        server.awaitEvent(last);
        return server.events();
    }

    private static void awaitPolls(End end) throws Exception {
        RdmaEventLoop loop = (RdmaEventLoop) end.channel.eventLoop();
        long before = loop.submit(loop.io()::exhaustivePolls).get();
        while (loop.submit(loop.io()::exhaustivePolls).get() < before + 2) {
            Thread.onSpinWait();
        }
    }
}
