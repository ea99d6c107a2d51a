package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.nettyrdma.verbs.iwarp.IwarpProvider;

class IdleRingsTest {

    private final EmbeddedChannel clock = new EmbeddedChannel();
    private final IdleRings rings = new IdleRings(clock.eventLoop());
    private final List<String> shrunk = new ArrayList<>();
    private final IdleRings.Owner one = () -> shrunk.add("one");
    private final IdleRings.Owner two = () -> shrunk.add("two");

    private void pass(long seconds) {
        clock.advanceTimeBy(seconds, TimeUnit.SECONDS);
        clock.runScheduledPendingTasks();
    }

    @Test
    void shouldFindARingThatWasNotUsedForAPeriod() {
        rings.used(one);
        pass(IdleRings.PERIOD_SECONDS);
        rings.used(two);
        assertEquals(List.of(), shrunk);
        pass(IdleRings.PERIOD_SECONDS);
        assertEquals(List.of("one"), shrunk);
        pass(IdleRings.PERIOD_SECONDS);
        assertEquals(List.of("one", "two"), shrunk);
    }

    @Test
    void shouldLeaveARingThatIsUsed() {
        for (int i = 0; i < 5; i++) {
            rings.used(one);
            pass(IdleRings.PERIOD_SECONDS);
        }
        assertEquals(List.of(), shrunk);
    }

    @Test
    void shouldForgetARingThatIsGone() {
        rings.used(one);
        rings.used(two);
        rings.ended(two);
        pass(IdleRings.PERIOD_SECONDS);
        rings.ended(one);
        pass(IdleRings.PERIOD_SECONDS);
        pass(IdleRings.PERIOD_SECONDS);
        assertEquals(List.of(), shrunk);
    }

    @Test
    void shouldLookAgainAfterATimerForWhichThereWasNoMemory() throws Exception {
        var loop = new ExhaustedRdmaEventLoop(new IwarpProvider());
        try {
            loop.submit(() -> {
                IdleRings exhausted = new IdleRings(loop);
                loop.refuse(0, 1);
                exhausted.used(one);
                exhausted.used(two);
            }).sync();
            assertTrue(loop.hasRefused());
            assertEquals(1, loop.submit(loop::timersSet).get());
        } finally {
            loop.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
        }
    }

    /** Nobody may use a ring again. */
    @Test
    void shouldLookAgainAfterALookForWhichThereWasNoMemory() {
        IdleRings.Owner hungry = new IdleRings.Owner() {
            private int refusals = 2;

            @Override
            public void shrink() {
                if (refusals-- > 0) {
                    throw new OutOfMemoryError("expected");
                }
                shrunk.add("hungry");
            }
        };
        rings.used(hungry);
        rings.used(one);
        pass(IdleRings.PERIOD_SECONDS);
        pass(IdleRings.PERIOD_SECONDS);
        rings.used(two);
        pass(IdleRings.PERIOD_SECONDS);
        assertFalse(shrunk.contains("hungry") || shrunk.contains("two"), shrunk::toString);
        pass(IdleRings.PERIOD_SECONDS);
        assertEquals(Set.of("hungry", "one"), Set.copyOf(shrunk));
        pass(IdleRings.PERIOD_SECONDS);
        assertEquals(3, shrunk.size(), shrunk::toString);
        assertEquals(-1, clock.runScheduledPendingTasks());
    }

    /** A loop with nothing to do would wake for it. */
    @Test
    void shouldHaveNoTimerWithoutRings() {
        assertEquals(-1, clock.runScheduledPendingTasks());
        rings.used(one);
        rings.used(one);
        pass(IdleRings.PERIOD_SECONDS);
        pass(IdleRings.PERIOD_SECONDS);
        assertEquals(List.of("one"), shrunk);
        assertEquals(-1, clock.runScheduledPendingTasks());
    }
}
