package org.nettyrdma.codec.oncrpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.DefaultEventLoop;
import io.netty.channel.DefaultEventLoopGroup;
import io.netty.channel.EventLoop;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nettyrdma.codec.oncrpc.MemoryBudget.Share;

@Timeout(60)
class MemoryBudgetTest {

    private static final long MIB = 1 << 20;
    private static final int ATTACKERS = 64;

    private final MemoryBudget budget = new MemoryBudget(1280);
    private final List<String> met = new ArrayList<>();

    // --- What there is

    @Test
    void shouldGiveNoMoreThanThereIs() {
        assertTrue(open("192.0.2.1").tryTake(1000));
        assertFalse(open("192.0.2.2").tryTake(281));
        assertTrue(open("192.0.2.3").tryTake(280));
        assertEquals(1280, budget.usedBytes());
    }

    @Test
    void shouldMeetClaimsInTheOrderInWhichTheyWereMade() {
        Share holder = open("192.0.2.1");
        assertTrue(holder.tryTake(1280));
        open("192.0.2.2", "first").claim(800);
        open("192.0.2.3", "second").claim(480);
        open("192.0.2.4", "third").claim(480);
        holder.release(1280);
        assertEquals(List.of("first", "second"), met);
        assertEquals(1, budget.waiting());
    }

    @Test
    void shouldForgetAClaimThatIsWithdrawn() {
        Share holder = open("192.0.2.1");
        assertTrue(holder.tryTake(1200));
        Share large = open("192.0.2.2", "large");
        large.claim(500);
        assertTrue(large.withdraw());
        assertFalse(large.withdraw());
        holder.release(1200);
        assertEquals(List.of(), met);
        assertEquals(0, budget.usedBytes());
    }

    /** Many connections of one address that take no replies ask while others of it wait. */
    @Test
    @Timeout(10)
    void shouldNotGoThroughAllThatWaitForEachThatAsks() {
        assertTrue(open("192.0.2.1").tryTake(1000));
        for (int i = 0; i < 16_384; i++) {
            open("192.0.2.1").claim(1000);
        }
        for (int i = 0; i < 100_000; i++) {
            assertFalse(budget.isGone());
        }
    }

    @Test
    void shouldMeetAClaimMadeAfterTheBytesCameBack() {
        Share share = open("192.0.2.1", "at once");
        share.claim(1280);
        assertEquals(List.of("at once"), met);
        assertFalse(share.withdraw(), "it has the bytes");
    }

    @Test
    void shouldGiveBackEverythingOfAConnectionThatEnds() {
        Share first = open("192.0.2.1");
        assertTrue(first.tryTake(1280));
        Share second = open("192.0.2.2", "second");
        second.claim(1000);
        first.close();
        assertEquals(List.of("second"), met);
        first.release(1280); // what ends after the connection changes nothing
        assertEquals(1000, budget.usedBytes());
        second.close();
        assertEquals(0, budget.usedBytes());
    }

    // --- Executors that fail

    @Test
    void shouldPassOverEventLoopsThatHaveShutDown() {
        EventLoop dead = new DefaultEventLoop();
        dead.shutdownGracefully(0, 0, TimeUnit.SECONDS).syncUninterruptibly();
        Share holder = open("192.0.2.1");
        assertTrue(holder.tryTake(1280));
        budget.open(address("192.0.2.2"), dead, () -> met.add("dead")).claim(1000);
        open("192.0.2.3", "alive").claim(1000);
        holder.release(1280);
        assertEquals(List.of("alive"), met);
        assertEquals(1000, budget.usedBytes());
    }

    /** Its event loop ends the connection while another thread finds that it cannot tell that loop. */
    @Test
    void shouldForgetAClaimThatEndsWhileItsExecutorFails() {
        Share[] ending = new Share[1];
        ending[0] = budget.open(address("192.0.2.2"), task -> {
            ending[0].close();
            throw new OutOfMemoryError("unable to create native thread");
        }, () -> met.add("ended"));
        Share holder = open("192.0.2.1");
        assertTrue(holder.tryTake(1280));
        ending[0].claim(1000);
        holder.release(1280);
        assertEquals(0, budget.waiting());
        assertTrue(holder.tryTake(1280));
        holder.release(1280);
        assertEquals(0, budget.usedBytes());
        assertEquals(List.of(), met);
    }

    @Test
    void shouldMeetTheClaimsBehindOneWhoseExecutorFails() {
        List<String> tries = new ArrayList<>();
        Executor failing = task -> {
            tries.add("tried");
            if (tries.size() == 1) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            task.run();
        };
        Share holder = open("192.0.2.1");
        assertTrue(holder.tryTake(1280));
        budget.open(address("192.0.2.2"), failing, () -> met.add("failing")).claim(1000);
        Share behind = open("192.0.2.3", "behind");
        behind.claim(1000);
        holder.release(1280);
        assertEquals(List.of("behind"), met);
        assertEquals(1000, budget.usedBytes());
        behind.release(1000); // and the first one gets another chance
        assertEquals(List.of("behind", "failing"), met);
        assertEquals(1000, budget.usedBytes());
    }

    // --- Shares

    @Test
    void shouldGiveOneConnectionAnEighth() {
        assertEquals(160, takeAll(open("192.0.2.1"), 10));
    }

    @Test
    void shouldGiveAConnectionLessTheMoreOthersHave() {
        takeAll(open("192.0.2.1"), 10);
        assertEquals(80, takeAll(open("192.0.2.2"), 10));
        assertEquals(40, takeAll(open("192.0.2.3"), 10));
    }

    @Test
    void shouldGiveEachConnectionItsOwnPartWhateverOthersHave() {
        for (int i = 0; i < 10; i++) {
            takeAll(open("192.0.2." + i), 1);
        }
        Share late = open("192.0.2.100");
        assertEquals(10, takeAll(late, 1));
        late.release(10);
        assertTrue(late.tryTake(50), "one call is admitted, however large");
        assertFalse(late.tryTake(1));
    }

    @Test
    void shouldLeaveASixteenthToOtherAddresses() {
        for (int i = 0; i < 200; i++) {
            takeAll(open("192.0.2.1"), 10);
        }
        assertEquals(1200, budget.usedBytes());
        assertFalse(open("192.0.2.1").tryTake(1));
        for (int i = 0; i < 200; i++) {
            takeAll(open("192.0.2.2"), 10);
        }
        assertEquals(1240, budget.usedBytes(), "half of it");
        assertTrue(open("192.0.2.3").tryTake(10));
    }

    @Test
    void shouldTakeAnIpv6NetworkForOneAddress() {
        for (int i = 0; i < 20; i++) {
            takeAll(open("2001:db8::" + i), 80);
        }
        assertEquals(1200, budget.usedBytes());
        assertFalse(open("2001:db8::ffff").tryTake(1));
        assertTrue(open("2001:db8:0:1::1").tryTake(80));
    }

    /** They have the same first 64 bits on every network, and nobody has them all. */
    @Test
    void shouldTakeEachLinkLocalAddressForOneOfItsOwn() {
        for (int i = 0; i < 120; i++) {
            assertTrue(open("fe80::1").tryTake(10));
        }
        assertFalse(open("fe80::1").tryTake(10));
        assertTrue(open("fe80::2").tryTake(10));
    }

    @Test
    void shouldNotLetAClaimBeyondItsShareHoldUpOthers() {
        Share greedy = open("192.0.2.1", "greedy");
        takeAll(greedy, 10);
        greedy.claim(160);
        assertTrue(open("192.0.2.2").tryTake(100));
        Share holder = open("192.0.2.3");
        assertTrue(holder.tryTake(1000));
        open("192.0.2.4", "patient").claim(100);
        holder.release(1000);
        assertEquals(List.of("patient"), met);
    }

    /** Each takes all that it gets and keeps it. */
    @Test
    void shouldLeaveRoomForOneMoreAfterSixtyFourThatKeepEverything() {
        for (long total : List.of(96 * MIB, 128 * MIB, 512 * MIB)) {
            long call = MIB + (64 << 10);
            MemoryBudget ofOneAddress = new MemoryBudget(total);
            MemoryBudget ofMany = new MemoryBudget(total);
            for (int i = 0; i < ATTACKERS; i++) {
                takeAll(ofOneAddress.open(address("127.0.0.1"), Runnable::run, () -> { }), call);
                takeAll(ofMany.open(address("127.0.1." + i), Runnable::run, () -> { }), call);
            }
            for (MemoryBudget attacked : List.of(ofOneAddress, ofMany)) {
                long atLeast = Math.max(call, total / 128 / call * call);
                assertTrue(takeAll(attacked.open(address("127.0.0.1"), Runnable::run, () -> { }), call) >= atLeast,
                        () -> attacked.usedBytes() + " of " + total);
            }
        }
    }

    // --- Threads

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
            Worker worker = new Worker(shared, loop, address("192.0.2." + i % 2), highest, done);
            loop.execute(worker);
        }
        assertTrue(done.await(50, TimeUnit.SECONDS), () -> shared.waiting() + " wait, " + shared.usedBytes() + " in use");
        group.shutdownGracefully(0, 0, TimeUnit.SECONDS).sync();
        assertEquals(0, shared.usedBytes());
        assertEquals(0, shared.waiting());
        assertTrue(highest.get() <= 1000, () -> highest + " were in use at once");
    }

    /** Takes and gives back again and again, on its loop only. */
    private static final class Worker implements Runnable {

        private final MemoryBudget budget;
        private final EventLoop loop;
        private final AtomicLong highest;
        private final CountDownLatch done;
        private final AtomicInteger left = new AtomicInteger(20_000);
        private final Share share;
        private int bytes;

        Worker(MemoryBudget budget, EventLoop loop, InetSocketAddress peer, AtomicLong highest, CountDownLatch done) {
            this.budget = budget;
            this.loop = loop;
            this.highest = highest;
            this.done = done;
            this.share = budget.open(peer, loop, this::took);
        }

        @Override
        public void run() {
            if (left.getAndDecrement() == 0) {
                share.close();
                done.countDown();
                return;
            }
            bytes = ThreadLocalRandom.current().nextInt(1, 900);
            if (share.tryTake(bytes)) {
                took();
                return;
            }
            share.claim(bytes);
            if (bytes % 4 == 0 && share.withdraw()) {
                loop.execute(this);
            }
        }

        private void took() {
            highest.accumulateAndGet(budget.usedBytes(), Math::max);
            loop.execute(() -> {
                share.release(bytes);
                run();
            });
        }
    }

    // --- Many that wait

    /** Whoever looked at all of them each time would need minutes. */
    @Test
    @Timeout(20)
    void shouldNotLookAtAllThatWaitWheneverSomethingIsGivenBack() {
        MemoryBudget large = new MemoryBudget(512 * MIB);
        Share holder = large.open(address("192.0.2.1"), Runnable::run, () -> { });
        assertTrue(holder.tryTake(512 * MIB - 4096));
        List<Share> waiting = new ArrayList<>();
        for (int i = 0; i < 50_000; i++) {
            Share share = large.open(address("192.0.2.2"), Runnable::run, () -> met.add("one"));
            share.claim(MIB);
            waiting.add(share);
        }
        Share other = large.open(address("192.0.2.3"), Runnable::run, () -> { });
        for (int i = 0; i < 50_000; i++) {
            assertTrue(other.tryTake(1024));
            other.release(1024);
        }
        assertEquals(List.of(), met);
        holder.release(MIB);
        assertEquals(List.of("one"), met);
        Collections.reverse(waiting);
        waiting.forEach(Share::close);
        assertEquals(0, large.waiting());
    }

    /** Of those that wait nobody may have what it waits for. */
    @Test
    void shouldMeetEachClaimAsSoonAsItCanBeMet() {
        Random random = new Random(8166);
        for (int round = 0; round < 300; round++) {
            MemoryBudget any = new MemoryBudget(2000 + random.nextInt(8000));
            List<Claimant> claimants = new ArrayList<>();
            for (int i = 0; i < 12; i++) {
                claimants.add(new Claimant(any, "192.0.2." + random.nextInt(4)));
            }
            for (int step = 0; step < 200; step++) {
                claimants.get(random.nextInt(claimants.size())).step(random);
                claimants.forEach(Claimant::assertRightlyWaiting);
            }
            claimants.forEach(claimant -> claimant.share.close());
            assertEquals(0, any.usedBytes());
        }
    }

    /** Takes and gives back. */
    private static final class Claimant {

        private final Share share;
        private final List<Long> taken = new ArrayList<>();
        private long claimed;

        Claimant(MemoryBudget from, String peer) {
            share = from.open(address(peer), Runnable::run, () -> {
                taken.add(claimed);
                claimed = 0;
            });
        }

        void step(Random random) {
            long bytes = 1 + random.nextInt(random.nextBoolean() ? 50 : 2000);
            if (!taken.isEmpty() && random.nextBoolean()) {
                share.release(taken.remove(random.nextInt(taken.size())));
            } else if (claimed > 0) {
                if (random.nextInt(4) == 0 && share.withdraw()) {
                    claimed = 0;
                }
            } else if (share.tryTake(bytes)) {
                taken.add(bytes);
            } else {
                claimed = bytes;
                share.claim(bytes);
            }
        }

        void assertRightlyWaiting() {
            assertFalse(claimed > 0 && share.tryTake(claimed), () -> "waits for " + claimed + " bytes");
        }
    }

    // --- The parts

    private Share open(String peer) {
        return open(peer, "unexpected");
    }

    private Share open(String peer, String name) {
        return budget.open(address(peer), Runnable::run, () -> met.add(name));
    }

    private static InetSocketAddress address(String peer) {
        return new InetSocketAddress(peer, 1000);
    }

    /** Takes as much as it can get in pieces, and returns how much that was. */
    private static long takeAll(Share share, long piece) {
        long taken = 0;
        while (share.tryTake(piece)) {
            taken += piece;
        }
        return taken;
    }
}
