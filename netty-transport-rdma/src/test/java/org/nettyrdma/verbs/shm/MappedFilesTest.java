package org.nettyrdma.verbs.shm;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.verbs.support.DirectMemory;

/** Files that their owner truncates while this side has them mapped, and those that stay mapped. */
class MappedFilesTest {

    private static final int BYTES = 4096;
    private static final int CALLS = 100_000;
    private static final long RECOVERY_NANOS = TimeUnit.SECONDS.toNanos(20);
    /** An empty array of arrays on JDK 17, nothing on those that throw at the end of a native method. */
    private static final int MOST_BYTES_PER_CALL = Runtime.version().feature() < 21 ? 16 : 0;

    private static long sum;

    /** What is read is compiled after so many calls by neither, the first or the second of the compilers. */
    @ParameterizedTest
    @ValueSource(ints = {0, 3_000, 300_000})
    void shouldThrowWhatAnAccessHasFailedWith(int callsBefore, @TempDir Path directory) throws IOException {
        Path file = Files.write(directory.resolve("file"), new byte[BYTES]);
        MappedByteBuffer memory;
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            memory = channel.map(FileChannel.MapMode.READ_ONLY, 0, BYTES);
        }
        for (int i = 0; i < callsBefore; i++) {
            read(memory);
        }
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.truncate(0);
        }
        for (int i = 0; i < 10; i++) {
            assertThrows(InternalError.class, () -> read(memory));
        }
        MappedFiles.unmap(memory);
        MappedFiles.settle(); // there is nothing left of it
    }

    private static void read(MappedByteBuffer memory) {
        sum += (long) ControlLayout.LONG.getAcquire(memory, 0);
        MappedFiles.settle();
    }

    @Test
    void shouldTakeHardlyAnyMemory() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        settle(); // loads what it needs
        threads.getCurrentThreadAllocatedBytes();
        long before = threads.getCurrentThreadAllocatedBytes();
        settle();
        long bytes = threads.getCurrentThreadAllocatedBytes() - before;
        assertTrue(bytes <= (long) MOST_BYTES_PER_CALL * CALLS + 1000, () -> bytes + " bytes for " + CALLS + " calls");
    }

    /** Without {@code sun.misc.Unsafe}, as with the newest JDK and no options. */
    @Test
    void shouldMapNoMoreWhereTheCollectorDoesNotFindWhatIsUnused(@TempDir Path directory) throws IOException {
        assumeFalse(DirectMemory.isFreedAtOnce());
        Path file = Files.write(directory.resolve("file"), new byte[BYTES]);
        List<MappedByteBuffer> kept = new ArrayList<>();
        IOException refusal = assertThrows(IOException.class, () -> {
            for (int i = 0; i <= MappedFiles.MAX_UNUSED; i++) {
                kept.add(MappedFiles.map(file, BYTES, BYTES));
                MappedFiles.unmap(kept.get(i));
            }
        });
        assertTrue(refusal.getMessage().contains("(expected: less than " + MappedFiles.MAX_UNUSED + ")"), refusal.getMessage());
        kept.clear();
        long start = System.nanoTime();
        while (!isMapped(file) && System.nanoTime() - start < RECOVERY_NANOS) {
            Thread.onSpinWait();
        }
        assertTrue(isMapped(file));
    }

    /** Other tests map files as well, in the same JVM. */
    @BeforeEach
    @AfterEach
    void collect() {
        long start = System.nanoTime();
        while (!isQuiet() && System.nanoTime() - start < RECOVERY_NANOS) {
            System.gc();
        }
        assertTrue(isQuiet(), () -> MappedFiles.unused() + " unused files");
    }

    private static boolean isQuiet() {
        return MappedFiles.unused() <= MappedFiles.MAX_UNUSED / 2 && MappedFiles.mayCollect();
    }

    /** However soon after the last time: only what the collector does not find must not make it look again and again. */
    @Test
    void shouldHaveWhatIsUnusedCollectedWheneverThatIsTooMuch(@TempDir Path directory) throws IOException {
        assumeFalse(DirectMemory.isFreedAtOnce());
        Path file = Files.write(directory.resolve("file"), new byte[BYTES]);
        for (int i = 0; i < 4 * MappedFiles.MAX_UNUSED; i++) {
            MappedFiles.unmap(MappedFiles.map(file, BYTES, BYTES));
        }
        assertTrue(MappedFiles.unused() <= MappedFiles.MAX_UNUSED);
    }

    private static boolean isMapped(Path file) {
        try {
            MappedFiles.unmap(MappedFiles.map(file, BYTES, BYTES));
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    private static void settle() {
        for (int i = 0; i < CALLS; i++) {
            MappedFiles.settle();
        }
    }
}
