package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.SingleThreadEventLoop;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What other threads may ask an event loop while it works. */
class RdmaEventLoopTest {

    private final EventLoopGroup group = new RdmaEventLoopGroup(1);

    @AfterEach
    void stop() {
        assertTrue(group.shutdownGracefully(0, 10, TimeUnit.SECONDS).awaitUninterruptibly(30, TimeUnit.SECONDS));
    }

    @Test
    void shouldTellOtherThreadsHowManyChannelsItHasWhileTheseComeAndGo() throws Exception {
        SingleThreadEventLoop loop = (SingleThreadEventLoop) group.next();
        Future<?> work = loop.submit(() -> {
            for (int i = 0; i < 10_000; i++) {
                var servers = Stream.generate(RdmaServerChannel::new).limit(3).toList();
                servers.forEach(loop::register);
                servers.forEach(server -> server.unsafe().close(server.voidPromise()));
            }
        });
        while (!work.isDone()) {
            int channels = loop.registeredChannels();
            assertTrue(channels >= 0 && channels <= 3, () -> channels + " channels");
        }
        work.get();
        assertEquals(0, loop.registeredChannels());
    }
}
