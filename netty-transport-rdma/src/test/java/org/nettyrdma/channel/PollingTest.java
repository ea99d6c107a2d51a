package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.Channel;
import java.io.IOException;
import java.lang.reflect.Proxy;
import org.junit.jupiter.api.Test;
import org.nettyrdma.verbs.VerbsContext;

class PollingTest {

    /** More waits than the policy takes to try polling. */
    private static final int MANY = 1000;

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
                        return 0;
                    }
                    case "await" -> {
                        sleeps++;
                        atSleep.run();
                        return null;
                    }
                    default -> throw new UnsupportedOperationException(method.toString());
                }
            });

    private final Polling polling = new Polling(new Idle(), IdleStrategy.ADAPTIVE, null); // nothing completes

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
