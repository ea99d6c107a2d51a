package org.nettyrdma.codec.rpcrdma.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.concurrent.EventExecutor;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.nettyrdma.codec.oncrpc.TransferLimits;
import org.nettyrdma.verbs.support.ShortHeap;

class TransferRoundsTest {

    private final EmbeddedChannel loop = new EmbeddedChannel();
    private final TransferRounds rounds = new TransferRounds(new TransferLimits(400, 1), null);
    private final List<String> looks = new ArrayList<>();
    private final TransferRounds.Look first = gone -> looks.add(gone ? "first, memory is gone" : "first");
    private final TransferRounds.Look second = gone -> looks.add(gone ? "second, memory is gone" : "second");

    @BeforeEach
    void freeze() {
        loop.freezeTime();
    }

    @AfterEach
    void close() {
        loop.finishAndReleaseAll();
    }

    private void advance(long millis) {
        loop.advanceTimeBy(millis, TimeUnit.MILLISECONDS);
        loop.runScheduledPendingTasks();
    }

    @Test
    void shouldLetAllLookFourTimesWithinTheTimeOut() {
        rounds.join(loop.eventLoop(), first);
        rounds.join(loop.eventLoop(), second);

        advance(99);
        assertEquals(List.of(), looks);
        advance(1);
        assertEquals(List.of("first", "second"), looks);
        advance(100);
        advance(100);
        advance(100);
        assertEquals(8, looks.size());
    }

    @Test
    void shouldNotCatchUpWithRoundsAfterPause() {
        rounds.join(loop.eventLoop(), first);

        advance(400);

        assertEquals(List.of("first"), looks);
    }

    @Test
    void shouldHaveTimerOnlyWhileSomebodyLooks() {
        rounds.join(loop.eventLoop(), first);
        rounds.join(loop.eventLoop(), second);
        rounds.leave(loop.eventLoop(), first);
        rounds.leave(loop.eventLoop(), first);
        advance(100);
        assertEquals(List.of("second"), looks);

        rounds.leave(loop.eventLoop(), second);
        assertEquals(-1, loop.runScheduledPendingTasks(), "no timer is left");

        rounds.join(loop.eventLoop(), first);
        advance(100);
        assertEquals(List.of("second", "first"), looks);
    }

    @Test
    void shouldLookForThoseWhoHoldUpOthersOnlyWhileMemoryIsGone() {
        AtomicBoolean gone = new AtomicBoolean();
        AtomicInteger questions = new AtomicInteger();
        TransferRounds patient = new TransferRounds(new TransferLimits(60_000, 1), () -> {
            questions.incrementAndGet();
            return gone.get();
        });
        patient.join(loop.eventLoop(), first);
        patient.join(loop.eventLoop(), second);
        advance(250);
        assertEquals(List.of(), looks);
        assertEquals(1, questions.get(), "of all connections together");

        gone.set(true);
        advance(250);
        assertEquals(List.of("first, memory is gone", "second, memory is gone"), looks);
        assertEquals(2, questions.get());

        patient.leave(loop.eventLoop(), first);
        patient.leave(loop.eventLoop(), second);
        assertEquals(-1, loop.runScheduledPendingTasks(), "no timer is left");
    }

    @Test
    void shouldLeaveNoTimerWhereThereIsMemoryForOneOnly() {
        AtomicInteger timers = new AtomicInteger();
        EventExecutor exhausted = (EventExecutor) Proxy.newProxyInstance(EventExecutor.class.getClassLoader(),
                new Class<?>[] {EventExecutor.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("scheduleWithFixedDelay") && timers.incrementAndGet() == 2) {
                        throw new OutOfMemoryError("on purpose");
                    }
                    return method.invoke(loop.eventLoop(), arguments);
                });
        TransferRounds withMemory = new TransferRounds(new TransferLimits(400, 1), () -> false);
        assertThrows(OutOfMemoryError.class, () -> withMemory.join(exhausted, first));
        assertEquals(-1, loop.runScheduledPendingTasks());
    }

    @Test
    void shouldLetOthersLookThoughOneFails() {
        rounds.join(loop.eventLoop(), gone -> {
            throw new IllegalStateException("on purpose");
        });
        rounds.join(loop.eventLoop(), second);

        advance(100);
        advance(100);

        assertEquals(List.of("second", "second"), looks);
    }

    @Test
    void shouldGoOnAfterARoundThatHadNoMemory() throws Exception {
        ShortHeap.run(ShortRound.class);
    }

    /** In a JVM of its own. */
    static final class ShortRound {

        public static void main(String[] arguments) {
            TransferRoundsTest test = new TransferRoundsTest();
            test.freeze();
            test.rounds.join(test.loop.eventLoop(), test.first);
            test.advance(100);
            test.loop.advanceTimeBy(100, TimeUnit.MILLISECONDS);
            ShortHeap.whileFull(() -> {
                try {
                    test.loop.runScheduledPendingTasks();
                } catch (OutOfMemoryError e) {
                    return; // what it has become of shows later
                }
            });
            test.advance(100);
            assertEquals(List.of("first", "first"), test.looks);
            test.close();
        }
    }

    @Test
    void shouldLetAnotherLeaveDuringTheRound() {
        rounds.join(loop.eventLoop(), gone -> {
            rounds.leave(loop.eventLoop(), first);
            rounds.leave(loop.eventLoop(), second);
        });
        rounds.join(loop.eventLoop(), first);
        rounds.join(loop.eventLoop(), second);

        advance(100);
        advance(100);

        assertEquals(List.of("first", "second"), looks, "those of the round that has begun, and no more");
    }
}
