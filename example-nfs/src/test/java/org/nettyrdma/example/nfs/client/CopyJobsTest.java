package org.nettyrdma.example.nfs.client;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.InterruptedIOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** The jobs of one copy. */
class CopyJobsTest {

    /** The job that runs has come so far that nothing interrupts it any more; the other has not begun. */
    @Test
    void shouldSayThatItWasInterruptedBeforeAllFilesWereCopied() throws Exception {
        CountDownLatch runs = new CountDownLatch(1);
        AtomicBoolean copied = new AtomicBoolean();
        try (CopyJobs jobs = new CopyJobs(1)) {
            jobs.start(() -> {
                runs.countDown();
                while (!Thread.interrupted()) {
                    Thread.onSpinWait();
                }
            });
            jobs.start(() -> copied.set(true));
            runs.await();
            Thread.currentThread().interrupt();
            assertThrows(InterruptedIOException.class, jobs::finish);
            assertTrue(Thread.interrupted());
        }
        assertFalse(copied.get());
    }
}
