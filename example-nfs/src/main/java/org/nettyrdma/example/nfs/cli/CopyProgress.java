package org.nettyrdma.example.nfs.cli;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import org.nettyrdma.example.nfs.client.CopyListener;
import org.nettyrdma.example.nfs.client.FailureListener;

/** Shows how a long copy goes, if standard output is a terminal, and reports what was skipped. */
final class CopyProgress implements CopyListener, AutoCloseable {

    /** A copy that is done before it has come so far needs no bar. */
    private static final long LONG_COPY_BYTES = 32L << 20;
    private static final int MEBI = 1 << 20;

    /** For a copy of which nobody knows how much it will be. */
    static final long UNKNOWN_BYTES = -1;

    private final String task;
    private final long totalBytes;
    private final Consumer<String> warn;
    private final FailureListener failures;
    private final boolean terminal = isTerminal();
    private final LongAdder copiedBytes = new LongAdder();
    private final AtomicBoolean skippedAny = new AtomicBoolean();
    private ProgressBar bar;

    CopyProgress(String task, long totalBytes, Consumer<String> warn, FailureListener failures) {
        this.task = task;
        this.totalBytes = totalBytes;
        this.warn = warn;
        this.failures = failures;
    }

    @Override
    public void copied(long bytes) {
        copiedBytes.add(bytes);
        if (terminal) {
            show();
        }
    }

    private synchronized void show() {
        long bytes = copiedBytes.sum();
        if (bar == null && bytes >= LONG_COPY_BYTES) {
            bar = new ProgressBarBuilder().setTaskName(task).setInitialMax(totalBytes).setUnit(" MiB", MEBI)
                    .showSpeed().setUpdateIntervalMillis(200).clearDisplayOnFinish().build();
        }
        if (bar != null) {
            bar.stepTo(bytes);
        }
    }

    @Override
    public void skipped(String path, String reason) {
        skippedAny.set(true);
        warn.accept(path + " was skipped: " + reason);
    }

    @Override
    public void left(String path) {
        warn.accept(path + " may be left on the server, and can be removed");
    }

    @Override
    public void failed(IOException failure) throws IOException {
        failures.failed(failure);
    }

    /** Says whether anything was left out. */
    boolean skippedAny() {
        return skippedAny.get();
    }

    @Override
    public synchronized void close() {
        if (bar != null) {
            bar.close();
        }
    }

    /** The launcher looks at standard output alone; Java can only tell whether input and output are both a terminal. */
    private static boolean isTerminal() {
        String told = System.getProperty("nfs.terminal");
        return told == null ? System.console() != null : Boolean.parseBoolean(told);
    }
}
