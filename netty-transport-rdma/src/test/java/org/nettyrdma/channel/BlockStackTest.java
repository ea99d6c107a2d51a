package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

class BlockStackTest {

    private static final int BLOCKS = 50;

    private final BlockStack stack = new BlockStack();

    private static Block newBlock() {
        return new Block(ByteBuffer.allocate(1), new LongAdder());
    }

    @Test
    void shouldLoseAndDoubleNoBlockBetweenThreads() throws InterruptedException {
        for (int i = 0; i < BLOCKS; i++) {
            stack.push(newBlock());
        }
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            threads.add(new Thread(this::takeAndRelease));
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
        Set<Block> left = Collections.newSetFromMap(new IdentityHashMap<>());
        for (Block block = stack.pop(); block != null; block = stack.pop()) {
            assertTrue(left.add(block));
        }
        assertEquals(BLOCKS, left.size());
    }

    private void takeAndRelease() {
        Random random = new Random();
        Deque<Block> taken = new ArrayDeque<>();
        for (int i = 0; i < 50_000; i++) {
            Block block = random.nextBoolean() ? stack.pop() : null;
            if (block != null) {
                taken.add(block);
            } else if (!taken.isEmpty()) {
                stack.push(taken.remove());
            }
            if (i % 1000 == 0) {
                stack.filter(each -> true);
            }
        }
        taken.forEach(stack::push);
    }

    @Test
    void shouldLetOthersTakeABlockWhileItShowsMany() throws InterruptedException {
        int blocks = 100_000;
        for (int i = 0; i < blocks; i++) {
            stack.push(newBlock());
        }
        AtomicBoolean taking = new AtomicBoolean();
        AtomicReference<Block> taken = new AtomicReference<>();
        Thread other = new Thread(() -> {
            taking.set(true);
            taken.set(stack.pop());
        });
        other.start();
        int[] shown = new int[2];
        stack.filter(block -> {
            while (!taking.get()) {
                Thread.onSpinWait();
            }
            shown[0]++;
            if (taken.get() == null) {
                shown[1]++;
                LockSupport.parkNanos(100_000); // the other thread may have to wait for a processor
            }
            return true;
        });
        other.join();
        assertTrue(shown[1] < blocks - 1, "it had to wait");
        assertTrue(shown[0] >= blocks - 1);
    }

    @Test
    void shouldBeUsableAfterAFilterHasFailed() {
        Block block = newBlock();
        stack.push(block);
        assertThrows(IllegalStateException.class, () -> stack.filter(each -> {
            throw new IllegalStateException("expected");
        }));
        stack.filter(each -> true);
        assertSame(block, stack.pop());
        assertNull(stack.pop());
        assertEquals(1, stack.pushes());
    }
}
