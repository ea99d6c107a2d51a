package org.nettyrdma.verbs.support;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.nettyrdma.verbs.MemoryRegion;
import org.nettyrdma.verbs.iwarp.IwarpProvider;

/** One connection at a shared queue fails when it is its turn, or is to end. */
class SharedReceiveStackTest {

    private final MemoryRegion region = new IwarpProvider().registerMemory(ByteBuffer.allocateDirect(64));
    private long nowNanos;
    private LoopCore core;
    private SharedReceiveStack queue;

    @BeforeEach
    void setUp() throws IOException {
        core = new LoopCore(() -> nowNanos, new SteeringTagGenerator());
        queue = new SharedReceiveStack(core, 8);
    }

    @AfterEach
    void tearDown() {
        core.close();
    }

    @Test
    void shouldTakeReceivesAgainAfterThereWasNoMemoryForMore() throws Exception {
        ShortHeap.run(Growth.class);
    }

    static final class Growth {

        private static final int DEPTH = 1 << 16;
        /** Enough for one of the arrays, or two, that have doubled for the first time. */
        private static final List<Integer> SPARE_BYTES = List.of(4200, 8300, 9000, 12_000);

        public static void main(String[] arguments) throws IOException {
            MemoryRegion region = new IwarpProvider().registerMemory(ByteBuffer.allocateDirect(64));
            for (int spareBytes : SPARE_BYTES) {
                SharedReceiveStack queue = new SharedReceiveStack(new LoopCore(System::nanoTime, () -> 1), DEPTH);
                for (int i = 0; i < 512; i++) {
                    queue.postReceive(i, region, 0, 64);
                }
                byte[][] spare = {new byte[spareBytes]};
                ShortHeap.whileFull(() -> {
                    spare[0] = null;
                    postOneMore(queue, region);
                });
                queue.postReceive(513, region, 0, 64);
            }
        }

        private static void postOneMore(SharedReceiveStack queue, MemoryRegion region) {
            try {
                queue.postReceive(512, region, 0, 64);
            } catch (OutOfMemoryError | IOException e) {
                return; // as expected
            }
        }
    }

    @Test
    void shouldServeTheOthersAfterOneThatFails() throws IOException {
        Connection failing = new Connection(new StackOverflowError("on purpose"));
        Connection other = new Connection(null);
        assertFalse(queue.take(failing));
        assertFalse(queue.take(other));
        queue.postReceive(1, region, 0, 64);
        assertThrows(StackOverflowError.class, core.deferred()::run);
        core.deferred().run();
        assertEquals(1, other.turns);
        assertEquals(1, failing.turns);
    }

    @Test
    void shouldKeepTheTurnOfThoseThatWaitForAShareAfterOneThatFails() throws IOException {
        Connection holder = new Connection(null);
        queue.postReceive(1, region, 0, 64);
        queue.postReceive(2, region, 0, 64);
        assertTrue(queue.take(holder));
        queue.incomplete(holder);
        assertTrue(queue.isShareUsedUp());
        queue.awaitShare(new Connection(new StackOverflowError("on purpose")));
        queue.returned(holder, true);
        assertThrows(StackOverflowError.class, core.deferred()::run);
        assertFalse(queue.isShareUsedUp());
        queue.awaitShare(new Connection(null));
        assertTrue(queue.isShareUsedUp(), "that one is first");
    }

    @Test
    void shouldServeThoseThatWaitForAShareOnceThereIsToBeMore() throws IOException {
        queue.postReceive(1, region, 0, 64);
        for (int id = 2; id <= 3; id++) {
            assertEquals(id, queue.neededReceives(4, 2));
            queue.postReceive(id, region, 0, 64);
            Connection holder = new Connection(null);
            assertTrue(queue.take(holder));
            queue.incomplete(holder);
        }
        assertEquals(4, queue.neededReceives(4, 2));
        queue.postReceive(4, region, 0, 64);
        Connection waiting = new Connection(null);
        assertTrue(queue.isShareUsedUp());
        queue.awaitShare(waiting);
        core.deferred().run();
        assertEquals(0, waiting.turns);
        assertEquals(4, queue.neededReceives(8, 2), "there are enough in reserve");
        core.deferred().run();
        assertEquals(1, waiting.turns);
    }

    @Test
    void shouldWatchSlowPeersAfterAnEndThatFails() throws IOException {
        Connection failing = new Connection(new StackOverflowError("on purpose"));
        queue.postReceive(1, region, 0, 64);
        assertTrue(queue.take(failing));
        queue.incomplete(failing);
        queue.awaitShare(new Connection(null));
        for (int i = 1; i <= 2; i++) {
            nowNanos += TimeUnit.MILLISECONDS.toNanos(SharedReceiveStack.INCOMPLETE_LIMIT_MILLIS);
            assertThrows(StackOverflowError.class, core.timers()::run);
            assertEquals(i, failing.ends);
        }
    }

    /** Counts its turns, and how often it was too slow. */
    private final class Connection extends SharedReceiveTaker {

        private final Error failure;
        private int turns;
        private int ends;

        Connection(Error failure) {
            super(queue);
            open();
            this.failure = failure;
        }

        @Override
        protected void taken(long workRequestId, MemoryRegion memory, int offset, int length) {
            // Counted by the queue.
        }

        @Override
        protected void resume() {
            turns++;
            if (failure != null) {
                throw failure;
            }
        }

        @Override
        protected void tooSlow() {
            ends++;
            if (failure != null) {
                throw failure;
            }
        }
    }
}
