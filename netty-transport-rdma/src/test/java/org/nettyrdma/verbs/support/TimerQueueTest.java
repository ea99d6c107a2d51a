package org.nettyrdma.verbs.support;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class TimerQueueTest {

    private long nowNanos;
    private final TimerQueue timers = new TimerQueue(() -> nowNanos);
    private final List<String> ran = new ArrayList<>();

    @Test
    void shouldRunWhatIsDueInItsOrder() {
        timers.schedule(2, () -> ran.add("second"));
        timers.schedule(1, () -> ran.add("first"));
        timers.schedule(3, () -> ran.add("third")).cancel();
        nowNanos = 1_999_999;
        assertEquals(1, timers.run());
        nowNanos = 10_000_000;
        assertEquals(1, timers.run());
        assertEquals(List.of("first", "second"), ran);
        assertEquals(0, timers.size());
    }

    @Test
    void shouldNotKeepTimersThatWereCancelled() {
        TimerQueue.Timer kept = timers.schedule(10, () -> ran.add("kept"));
        for (int i = 0; i < 100_000; i++) {
            TimerQueue.Timer timer = timers.schedule(5000, () -> ran.add("never"));
            timer.cancel();
            timer.cancel();
            assertTrue(timers.size() < 200, "timers kept");
        }
        nowNanos = 10_000_000_000L;
        assertEquals(1, timers.run());
        kept.cancel();
        assertEquals(List.of("kept"), ran);
    }
}
