package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nettyrdma.testkit.Endpoint;
import org.nettyrdma.testkit.TransportFixture;
import org.nettyrdma.verbs.VerbsProvider;
import org.nettyrdma.verbs.iwarp.IwarpProvider;

/** When memory that is free goes back to the system. */
@Timeout(120)
class TrimTimerTest extends TransportFixture {

    private static final int PERIOD_MILLIS = 200;

    private final VerbsProvider provider = new IwarpProvider(); // memory that no other test uses

    @Override
    protected VerbsProvider provider() {
        return provider;
    }

    private static TrimTimer shortened(TrimTimer timer) {
        timer.setPeriod(PERIOD_MILLIS, TimeUnit.MILLISECONDS);
        return timer;
    }

    @Test
    void shouldGiveMemoryBackAfterTheEventLoopsHaveEnded() throws Exception {
        RegisteredByteBufAllocator allocator = RegisteredByteBufAllocator.of(provider);
        shortened(allocator.trimTimer());
        Connection connection = connect();
        connection.client().send("hello");
        assertEquals("hello", connection.server().awaitText());
        assertTrue(allocator.registeredBytes() > 0);
        stop(group);
        awaitTrue(() -> allocator.registeredBytes() == 0, "given back");
    }

    @Test
    void shouldLookAgainIfAskedMeanwhile() throws Exception {
        AtomicInteger looks = new AtomicInteger();
        TrimTimer timer = shortened(new TrimTimer(() -> looks.incrementAndGet() < 0));
        timer.trimLater();
        timer.trimLater();
        awaitTrue(() -> looks.get() == 2, "what was in use at first is looked for again");
    }

    @Test
    void shouldGoOnWhileThereIsMemoryToComeAndAfterAFailure() throws Exception {
        BlockingQueue<Thread> looks = new LinkedBlockingQueue<>();
        AtomicInteger count = new AtomicInteger();
        TrimTimer timer = shortened(new TrimTimer(() -> {
            looks.add(Thread.currentThread());
            if (count.incrementAndGet() == 3) {
                throw new IllegalStateException("the provider cannot free memory");
            }
            return count.get() < 5;
        }));
        timer.trimLater();
        for (int i = 0; i < 3; i++) {
            assertTrue(looks.poll(Endpoint.TIMEOUT_SECONDS, TimeUnit.SECONDS).isDaemon(), "no JVM waits for it");
        }
        awaitTrue(() -> {
            timer.trimLater();
            return count.get() >= 5;
        }, "looked after the failure");
    }

    /** Perhaps no other channel ends any more, and nobody else would have the memory given back. */
    @Test
    void shouldTryAgainByItselfWhereTheHeapWasFull() throws Exception {
        AtomicInteger looks = new AtomicInteger();
        TrimTimer timer = shortened(new TrimTimer(() -> {
            if (looks.incrementAndGet() <= 2) {
                throw new OutOfMemoryError("Java heap space");
            }
            return false;
        }));
        timer.trimLater();
        awaitTrue(() -> looks.get() == 3, "looked until there was memory to look");
    }

    @Test
    void shouldGoOnAfterAFailureThatThereWasNoMemoryToTell() throws Exception {
        AtomicInteger looks = new AtomicInteger();
        TrimTimer timer = shortened(new TrimTimer(() -> {
            looks.incrementAndGet();
            throw new IllegalStateException("the provider cannot free memory") {
                @Override
                public String toString() {
                    throw new OutOfMemoryError("Java heap space");
                }
            };
        }));
        timer.trimLater();
        awaitTrue(() -> looks.get() == 1, "looked");
        awaitTrue(() -> {
            timer.trimLater();
            return looks.get() >= 3;
        }, "looked after the failure");
    }

    /** As one that was queued when no thread could be made for it, which would otherwise go on for ever. */
    @Test
    void shouldEndARunThatIsNotScheduled() {
        AtomicInteger looks = new AtomicInteger();
        TrimTimer timer = new TrimTimer(() -> looks.incrementAndGet() < 0);
        assertThrows(CancellationException.class, timer::run);
        assertEquals(0, looks.get());
    }
}
