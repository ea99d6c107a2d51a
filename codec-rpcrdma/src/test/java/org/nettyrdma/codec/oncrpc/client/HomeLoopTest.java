package org.nettyrdma.codec.oncrpc.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.embedded.EmbeddedChannel;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nettyrdma.codec.oncrpc.ExhaustedEventLoop;

/** What an event loop has not taken before its end. */
@Timeout(60)
class HomeLoopTest {

    private static final int SECONDS = 20;

    private final ExhaustedEventLoop loop = new ExhaustedEventLoop();
    private final HomeLoop home = new HomeLoop(loop);
    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final CountDownLatch taken = new CountDownLatch(1);

    @Test
    void shouldDoWhatWasLeftWhenTheLoopHasEnded() throws Exception {
        loop.submit(() -> { }).sync();
        loop.refuseTasks(1);
        assertTrue(home.run(channel, taken::countDown));
        loop.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS).sync();
        assertEquals(1, taken.getCount());
        channel.advanceTimeBy(1, TimeUnit.SECONDS);
        channel.runScheduledPendingTasks();
        assertTrue(taken.await(SECONDS, TimeUnit.SECONDS), "it was lost");
        assertFalse(home.run(channel, () -> { }), "nothing is left any more");
        channel.finish();
    }
}
