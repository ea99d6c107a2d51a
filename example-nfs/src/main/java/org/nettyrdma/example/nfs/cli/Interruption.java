package org.nettyrdma.example.nfs.cli;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Lets a command that works on the current thread come to its end when a signal ends the process: interrupts it, and holds the
 * process until it has cleaned up, for some seconds at most. The process then reports the signal, as Java always does.
 */
final class Interruption {

    /** What a shell calls the end by SIGINT. */
    static final int EXIT_CODE = 130;

    private static final long CLEAN_UP_SECONDS = 5;

    private final Thread command = Thread.currentThread();
    private final CountDownLatch ended = new CountDownLatch(1);
    private final Thread hook;

    /** {@code whenStuck} runs if the command does not come to its end. */
    Interruption(Runnable whenStuck) {
        hook = new Thread(() -> interrupt(whenStuck), "nfs-interruption");
        Runtime.getRuntime().addShutdownHook(hook);
    }

    private void interrupt(Runnable whenStuck) {
        command.interrupt();
        try {
            if (!ended.await(CLEAN_UP_SECONDS, TimeUnit.SECONDS)) {
                whenStuck.run();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Ends the process, since other threads would keep it. Where a signal ends it already, the status is the signal's: an exit
     * that comes when all hooks have run and the process has not ended yet would end it with {@code exitCode}.
     */
    static void exit(int exitCode) {
        if (isProcessEnding()) {
            while (true) {
                LockSupport.park();
            }
        }
        System.exit(exitCode);
    }

    /** Whether a signal, or somebody else, ends the process. What then fails may fail for that reason. */
    static boolean isProcessEnding() {
        try {
            Runtime.getRuntime().addShutdownHook(new Thread());
            return false;
        } catch (IllegalStateException e) {
            return true;
        }
    }

    /** The command has said all that it has to say. */
    void commandEnded() {
        ended.countDown();
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // The process is ending already.
        }
    }
}
