package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

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
