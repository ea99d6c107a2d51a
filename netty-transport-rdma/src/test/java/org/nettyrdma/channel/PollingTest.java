package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.Channel;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.verbs.VerbsContext;

class PollingTest {

    /** More waits than the policy takes to try polling. */
    private static final int MANY = 1000;

    private int completions;
    private int polls;
    private int sleeps;
    private Runnable atPoll = () -> { };
    private Runnable atSleep = () -> { };

    private final VerbsContext context = (VerbsContext) Proxy.newProxyInstance(VerbsContext.class.getClassLoader(),
            new Class<?>[] {VerbsContext.class}, (proxy, method, arguments) -> {
                switch (method.getName()) {
                    case "poll" -> {
                        polls++;
                        atPoll.run();
                        return completions;
                    }
                    case "await" -> {
                        sleeps++;
                        atSleep.run();
                        return null;
                    }
                    default -> throw new UnsupportedOperationException(method.toString());
                }
            });

    private final LoopsAtWork loops = new LoopsAtWork(1);
    private final Polling polling = new Polling(new Idle(), IdleStrategy.ADAPTIVE, null, loops); // nothing completes

    @Test
    void shouldNotSleepIfItWasWokenWhileItPolled() throws IOException {
        for (int i = 0; i < MANY && polls == 0; i++) {
            sleeps = 0;
            atPoll = () -> assertFalse(polling.isToBeWoken()); // it is awake
            polling.await(context, true);
        }
        assertTrue(polls > 0);
        assertEquals(0, sleeps);
    }

    @Test
    void shouldLeaveOutOneWaitIfItWasWokenBefore() throws IOException {
        assertFalse(polling.isToBeWoken());
        polling.await(context, true);
        assertEquals(0, sleeps);
        polling.await(context, true);
        assertEquals(1, sleeps);
    }

    @Test
    void shouldWaitAgainAfterItWasWokenInItsSleep() throws IOException {
        atSleep = () -> assertTrue(polling.isToBeWoken());
        polling.await(context, true);
        polling.await(context, true);
        assertEquals(2, sleeps);
    }

    @Test
    void shouldForgetAWakeUpWithoutWaiting() throws IOException {
        polling.isToBeWoken();
        polling.await(context, false);
        polling.await(context, true);
        assertEquals(1, sleeps);
    }

    @Test
    void shouldNotPollOnWhileOtherLoopsHaveWorkForAllProcessors() throws IOException {
        LoopsAtWork.Loop other = loops.new Loop();
        polling.await(context, true); // so that there are two
        other.works();
        waitAfterWork(MANY, 32);
        assertEquals(MANY, sleeps);
        other.rests();
        waitAfterWork(5 * MANY, 32); // it tries seldom
        assertTrue(sleeps < 5 * MANY, "a processor is free");
    }

    @Test
    void shouldPollOnWhereEachWaitBringsLittleWork() throws IOException {
        LoopsAtWork.Loop other = loops.new Loop();
        polling.await(context, true);
        other.works();
        waitAfterWork(MANY, 31);
        assertTrue(sleeps < MANY);
    }

    /** Work comes after a sleep, or at once where the loop polls. */
    private void waitAfterWork(int waits, int work) throws IOException {
        sleeps = 0;
        atSleep = () -> LockSupport.parkNanos(1_000);
        for (int i = 0; i < waits; i++) {
            completions = work;
            polling.poll(context);
            polling.await(context, true);
        }
    }

    @Test
    void shouldBeAtWorkBetweenItsWaitsUntilItEnds() throws IOException {
        LoopsAtWork.Loop other = loops.new Loop();
        other.works();
        atSleep = () -> assertFalse(other.rests(), "it sleeps");
        polling.await(context, true);
        assertEquals(1, sleeps);
        assertTrue(other.rests(), "it has woken up");
        polling.end();
        assertFalse(other.rests());
    }

    @ParameterizedTest
    @EnumSource(value = IdleStrategy.class, names = {"BLOCKING", "BUSY_POLL"})
    void shouldBeAtWorkWithEachStrategy(IdleStrategy strategy) throws IOException {
        var another = new Polling(new Idle(), strategy, null, loops);
        LoopsAtWork.Loop other = loops.new Loop();
        other.works();
        another.await(context, true);
        assertTrue(other.rests());
    }

    /** An event loop without tasks and timers. */
    private static final class Idle implements RdmaIoHost {

        @Override
        public boolean canBlock() {
            return true;
        }

        @Override
        public long deadlineNanos() {
            return -1;
        }

        @Override
        public long delayNanos() {
            throw new IllegalStateException("there is no deadline");
        }

        @Override
        public Runnable added(Channel channel) {
            throw new UnsupportedOperationException();
        }
    }
}
