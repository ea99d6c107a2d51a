package org.nettyrdma.example.nfs.client;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

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
            Thread.currentThread().interrupt();
            InterruptedIOException interrupted = new InterruptedIOException("interrupted while waiting for the server");
            interrupted.initCause(e);
            throw interrupted;
        } catch (ExecutionException e) {
            if (e.getCause() instanceof IOException cause) {
                throw cause;
            }
            throw new IOException("the call failed: " + e.getCause(), e.getCause());
        }
    }
}
