package org.nettyrdma.example.nfs.client;

import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/** Runs the files of one copy on threads of its own, and remembers the first failure. Used by one thread. */
final class CopyJobs implements AutoCloseable {

    /** Something that a copy does. */
    @FunctionalInterface
    interface Job {

        void run() throws IOException;
    }

    private static final int QUEUED_FILES_PER_THREAD = 64;

    private final ThreadPoolExecutor threads;
    private final AtomicReference<IOException> failure = new AtomicReference<>();

    CopyJobs(int threadCount) {
        // A full queue makes the calling thread copy a file itself, which bounds how far it runs ahead.
        threads = new ThreadPoolExecutor(threadCount, threadCount, 0, TimeUnit.SECONDS,
                new ArrayBlockingQueue<>(QUEUED_FILES_PER_THREAD * threadCount), new DefaultThreadFactory("nfs-copy", true),
                new ThreadPoolExecutor.CallerRunsPolicy());
    }

    /**
     * Runs a job, on another thread or before this returns.
     *
     * @throws IOException if an earlier job failed; then {@code job} does not run
     */
    void start(Job job) throws IOException {
        throwFailure();
        threads.execute(() -> runUnlessFailed(job));
    }

    private void runUnlessFailed(Job job) {
        if (failure.get() != null) {
            return;
        }
        try {
            job.run();
        } catch (IOException e) {
            failure.compareAndSet(null, e);
        } catch (RuntimeException | Error e) { // a thread of its own would die of an error, and nobody would know
            failure.compareAndSet(null, new IOException("the copy failed: " + e, e));
        }
    }

    /**
     * Waits until all jobs have ended; none can be started afterwards.
     *
     * @throws IOException the first failure
     */
    void finish() throws IOException {
        threads.shutdown();
        boolean interrupted = false;
        boolean ended = false;
        while (!ended) {
            try {
                ended = threads.awaitTermination(1, TimeUnit.MINUTES);
            } catch (InterruptedException e) {
                // Their calls end with the connection at the latest; until then they use buffers and files.
                interrupted = true;
                if (!threads.shutdownNow().isEmpty()) {
                    failure.compareAndSet(null, new InterruptedIOException("interrupted before all files were copied"));
                }
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        throwFailure();
    }

    private void throwFailure() throws IOException {
        IOException first = failure.get();
        if (first != null) {
            throw first;
        }
    }

    /** Lets what runs come to its end, and drops what has not begun. */
    @Override
    public void close() {
        failure.compareAndSet(null, new IOException("the copy was abandoned"));
        try {
            finish();
        } catch (IOException e) {
            // Thrown before, by the method that failed, or nobody is interested in it any more.
        }
    }
}
