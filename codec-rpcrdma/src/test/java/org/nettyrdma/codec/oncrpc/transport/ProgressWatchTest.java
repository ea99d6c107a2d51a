package org.nettyrdma.codec.oncrpc.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.netty.channel.embedded.EmbeddedChannel;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.nettyrdma.codec.oncrpc.TransferLimits;

class ProgressWatchTest {

    /** 1000 bytes within a second. */
    private static final TransferLimits LIMITS = new TransferLimits(1000, 1000);

    private final EmbeddedChannel loop = new EmbeddedChannel();
    private final Transfers transfers = new Transfers();
    private int stalls;
    private final ProgressWatch watch = new ProgressWatch(loop.eventLoop(), LIMITS, transfers, () -> stalls++);

    private static final class Transfers implements ProgressWatch.Source {

        private long begun;
        private long ended;
        private long bytes;
        private boolean heldUp;

        @Override
        public long begun() {
            return begun;
        }

        @Override
        public long ended() {
            return ended;
        }

        @Override
        public long bytes() {
            return bytes;
        }

        @Override
        public boolean isHeldUp() {
            return heldUp;
        }

        void end(int transfers, int moved) {
            ended += transfers;
            bytes += moved;
        }
    }

    @BeforeEach
    void freeze() {
        loop.freezeTime();
    }

    @AfterEach
    void finish() {
        watch.stop();
        loop.finishAndReleaseAll();
    }

    private void advance(int millis) {
        for (int i = 0; i < millis; i += 10) {
            loop.advanceTimeBy(10, TimeUnit.MILLISECONDS);
            loop.runScheduledPendingTasks();
        }
    }

    @Test
    void shouldFindThatNothingMoves() {
        transfers.begun = 5;
        watch.begin();
        advance(990);
        assertEquals(0, stalls);
        advance(20);
        assertEquals(1, stalls);
        advance(5000);
        assertEquals(1, stalls, "told once");
    }

    @Test
    void shouldNotBeContentWithACompletionNowAndThen() {
        transfers.begun = 1000;
        watch.begin();
        for (int i = 0; i < 20 && stalls == 0; i++) {
            transfers.end(1, 90);
            advance(100);
        }
        assertEquals(1, stalls);
    }

    @Test
    void shouldBeContentWithTheLeastRate() {
        transfers.begun = 1000;
        watch.begin();
        for (int i = 0; i < 200; i++) {
            transfers.end(1, 110);
            advance(100);
        }
        assertEquals(0, stalls);
    }

    @Test
    void shouldBeContentWhereEverythingEndsInTimeHoweverSmall() {
        for (int i = 0; i < 100; i++) {
            transfers.begun++;
            watch.begin();
            advance(150); // never at rest when it is looked
            transfers.begun++;
            transfers.end(1, 1);
            advance(150);
            transfers.end(1, 1);
        }
        assertEquals(0, stalls);
    }

    @Test
    void shouldNotCountTheTimeInWhichThisSideHoldsUp() {
        transfers.begun = 1;
        transfers.heldUp = true;
        watch.begin();
        advance(10_000);
        assertEquals(0, stalls);
        transfers.heldUp = false;
        advance(900);
        assertEquals(0, stalls);
        advance(600);
        assertEquals(1, stalls);
    }

    @Test
    void shouldWatchAgainAfterARest() {
        transfers.begun = 1;
        watch.begin();
        advance(500);
        transfers.end(1, 1);
        advance(10_000);
        transfers.begun = 2;
        watch.begin();
        advance(990);
        assertEquals(0, stalls);
        advance(300);
        assertEquals(1, stalls);
    }

    @Test
    void shouldHaveLimitsOfUse() {
        assertEquals(60 * (16 << 10), ProgressSamples.minBytes(TransferLimits.DEFAULT));
        assertEquals(1, ProgressSamples.minBytes(new TransferLimits(1, 0)));
        assertThrows(IllegalArgumentException.class, () -> new TransferLimits(0, 1));
        assertThrows(IllegalArgumentException.class, () -> new TransferLimits(1, -1));
    }
}
