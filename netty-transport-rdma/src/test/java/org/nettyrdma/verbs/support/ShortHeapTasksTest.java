package org.nettyrdma.verbs.support;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/** What waits stays there though there is no memory for more. */
class ShortHeapTasksTest {

    @Test
    void shouldRunWhatWasAddedBeforeThereWasNoMemoryForMore() throws Exception {
        ShortHeap.run(Program.class);
    }

    static final class Program {

        public static void main(String[] arguments) {
            DeferredTasks tasks = new DeferredTasks();
            int[] counts = new int[2];
            Runnable task = () -> counts[1]++;
            ShortHeap.whileFull(() -> {
                try {
                    while (true) {
                        tasks.add(task);
                        counts[0]++;
                    }
                } catch (OutOfMemoryError e) {
                    return; // as with a connection that asks for something then
                }
            });
            assertEquals(counts[0], tasks.run());
            assertEquals(counts[0], counts[1]);
        }
    }
}
