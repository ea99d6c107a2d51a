package org.nettyrdma.example.nfs.client;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.nettyrdma.example.nfs.protocol.NfsStatus;

/** Waits for calls in code that may block. */
final class Await {

    private Await() {
    }

    /**
     * Waits for a call. Not on an event loop.
     *
     * @throws IOException why it failed
     * @throws InterruptedIOException if the thread was interrupted; the interrupt is kept
     */
    static <T> T result(CompletableFuture<T> call) throws IOException {
        try {
            return call.get();
        } catch (InterruptedException e) {
            throw interrupted(e);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof IOException cause) {
                throw cause;
            }
            throw new IOException("the call failed: " + e.getCause(), e.getCause());
        }
    }

    /** Keeps the interrupt, and returns what to throw. */
    static InterruptedIOException interrupted(InterruptedException cause) {
        Thread.currentThread().interrupt();
        InterruptedIOException interrupted = new InterruptedIOException("interrupted while waiting for the server");
        interrupted.initCause(cause);
        return interrupted;
    }

    /**
     * Waits a little for a call that removes something, also on a thread that was interrupted.
     *
     * @return whether the server has said that it is gone
     */
    static boolean cleanUp(CompletableFuture<?> call, long timeoutMillis) {
        boolean interrupted = Thread.interrupted();
        boolean isGone = false;
        try {
            call.get(timeoutMillis, TimeUnit.MILLISECONDS);
            isGone = true;
        } catch (InterruptedException e) {
            interrupted = true;
        } catch (ExecutionException | TimeoutException e) {
            // What made it necessary is what the user is told.
            isGone = e.getCause() instanceof NfsException refusal && refusal.status() == NfsStatus.NOENT;
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return isGone;
    }
}
