package org.nettyrdma.verbs.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Another process puts a pipe in the place of a file after this one has seen that it is a file: nobody waits for a writer. */
@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PipeInPlaceOfFileTest {

    private static final long NANOS = TimeUnit.SECONDS.toNanos(1);

    @TempDir
    private Path temporary;
    private final AtomicBoolean done = new AtomicBoolean();
    private Path contested;
    private Thread swapper;

    @BeforeEach
    void swap() throws Exception {
        Path plain = Files.write(temporary.resolve("plain"), new byte[4096]);
        Path pipe = temporary.resolve("pipe");
        assertEquals(0, new ProcessBuilder("mkfifo", "-m", "600", pipe.toString()).start().waitFor());
        contested = Files.createLink(temporary.resolve("lock"), plain);
        swapper = new Thread(() -> {
            while (!done.get()) {
                put(pipe);
                put(plain);
            }
        });
        swapper.start();
    }

    private void put(Path what) {
        Path next = temporary.resolve("next");
        try {
            Files.createLink(next, what);
            Files.move(next, contested, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    @AfterEach
    void end() throws InterruptedException {
        done.set(true);
        swapper.join();
    }

    @Test
    void shouldMapAFileOfAPeerOrRefuseIt() {
        tryOften(() -> MappedFiles.unmap(MappedFiles.map(contested, 1, 4096)));
    }

    @Test
    void shouldTakeTheSharedLockOrRefuseIt() {
        tryOften(() -> new SharedDirectory(new ShmSettings(temporary, Set.of())).lock(100).close());
    }

    private interface Attempt {

        void run() throws IOException;
    }

    /** For a second, and until one attempt has succeeded: a busy machine may leave the time for few. */
    private static void tryOften(Attempt attempt) {
        boolean succeeded = false;
        for (long start = System.nanoTime(); !succeeded || System.nanoTime() - start < NANOS; ) {
            try {
                attempt.run();
                succeeded = true;
            } catch (IOException e) {
                // It was a pipe.
            }
        }
    }
}
