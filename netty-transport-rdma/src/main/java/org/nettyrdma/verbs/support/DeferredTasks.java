package org.nettyrdma.verbs.support;

/** What a context does at the start of its next poll. Used by one event loop only. */
public final class DeferredTasks {

    private final GrowingQueue<Runnable> tasks = new GrowingQueue<>(16);

    /** Creates an empty queue. */
    public DeferredTasks() {
        // See above.
    }

    /**
     * Adds a task.
     *
     * @param task runs with the next {@link #run}
     */
    public void add(Runnable task) {
        tasks.add(task);
    }

    /**
     * Whether there is nothing to run.
     *
     * @return {@code true} if so
     */
    public boolean isEmpty() {
        return tasks.isEmpty();
    }

    /**
     * Runs what was added before; what these tasks add waits for the next time.
     *
     * @return how many tasks ran
     */
    public int run() {
        int count = tasks.size();
        for (int i = 0; i < count; i++) {
            tasks.poll().run();
        }
        return count;
    }
}
