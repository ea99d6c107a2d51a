package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.DefaultEventLoop;
import io.netty.channel.DefaultEventLoopGroup;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.ImmediateEventExecutor;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class MemoryBudgetTest {

    private static final EventExecutor NOW = ImmediateEventExecutor.INSTANCE;

    private final MemoryBudget budget = new MemoryBudget(100);
    private final List<String> met = new ArrayList<>();

    @Test
    void shouldGiveNoMoreThanThereIs() {
        assertTrue(budget.tryTake(60));
        assertFalse(budget.tryTake(41));
        assertTrue(budget.tryTake(40));
        assertEquals(100, budget.usedBytes());
    }

    @Test
    void shouldMeetClaimsInTheOrderInWhichTheyWereMade() {
        assertTrue(budget.tryTake(100));
        claim("large", 80);
        claim("small", 10);
        budget.release(50);
        assertEquals(List.of(), met, "the small one must not overtake the large one for ever");
        assertFalse(budget.tryTake(1), "nor may one that has just come");
        budget.release(50);
        assertEquals(List.of("large", "small"), met);
        assertEquals(90, budget.usedBytes());
        assertEquals(0, budget.waiting());
    }

    @Test
    void shouldLetTheNextOneInWhenAClaimIsWithdrawn() {
        assertTrue(budget.tryTake(90));
        MemoryBudget.Claim large = claim("large", 50);
        MemoryBudget.Claim small = claim("small", 10);
        assertTrue(large.withdraw());
        assertEquals(List.of("small"), met);
        assertFalse(small.withdraw(), "it has the bytes");
        assertFalse(large.withdraw());
        assertEquals(100, budget.usedBytes());
    }

    @Test
    void shouldMeetAClaimMadeAfterTheBytesCameBack() {
        claim("at once", 100);
        assertEquals(List.of("at once"), met);
    }

    @Test
    void shouldPassOverEventLoopsThatHaveShutDown() {
        EventLoop dead = new DefaultEventLoop();
        dead.shutdownGracefully(0, 0, TimeUnit.SECONDS).syncUninterruptibly();
        assertTrue(budget.tryTake(100));
        budget.claim(100, dead, () -> met.add("dead"));
        claim("alive", 100);
        budget.release(100);
        assertEquals(List.of("alive"), met);
        assertEquals(100, budget.usedBytes());
    }

    /** Many loops take, claim, withdraw and release at once; at the end nobody waits and nothing is missing. */
    @Test
    void shouldLoseNeitherBytesNorWakeUps() throws Exception {
        MemoryBudget shared = new MemoryBudget(1000);
        int loops = 4;
        DefaultEventLoopGroup group = new DefaultEventLoopGroup(loops);
        CountDownLatch done = new CountDownLatch(loops);
        AtomicLong highest = new AtomicLong();
        for (int i = 0; i < loops; i++) {
            EventLoop loop = group.next();
            loop.execute(new Worker(shared, loop, new AtomicInteger(20_000), highest, done));
        }
        assertTrue(done.await(50, TimeUnit.SECONDS), () -> shared.waiting() + " wait, " + shared.usedBytes() + " in use");
        group.shutdownGracefully(0, 0, TimeUnit.SECONDS).sync();
        assertEquals(0, shared.usedBytes());
        assertEquals(0, shared.waiting());
        assertTrue(highest.get() <= 1000, () -> highest + " were in use at once");
    }

    /** Takes and gives back again and again, on its loop only. */
    private record Worker(MemoryBudget budget, EventLoop loop, AtomicInteger left, AtomicLong highest, CountDownLatch done)
            implements Runnable {

        @Override
        public void run() {
            if (left.getAndDecrement() == 0) {
                done.countDown();
                return;
            }
            int bytes = ThreadLocalRandom.current().nextInt(1, 900);
            if (budget.tryTake(bytes)) {
                took(bytes);
                return;
            }
            MemoryBudget.Claim claim = budget.claim(bytes, loop, () -> took(bytes));
            if (bytes % 4 == 0 && claim.withdraw()) {
                loop.execute(this);
            }
        }

        private void took(int bytes) {
            highest.accumulateAndGet(budget.usedBytes(), Math::max);
            loop.execute(() -> {
                budget.release(bytes);
                run();
            });
        }
    }

    private MemoryBudget.Claim claim(String name, long bytes) {
        return budget.claim(bytes, NOW, () -> met.add(name));
    }
}
