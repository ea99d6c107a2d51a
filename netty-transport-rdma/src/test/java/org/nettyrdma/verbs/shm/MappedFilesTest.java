package org.nettyrdma.verbs.shm;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Files that their owner truncates while this side has them mapped. */
class MappedFilesTest {

    private static final int BYTES = 4096;
    private static final int CALLS = 100_000;
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

    private static void settle() {
        for (int i = 0; i < CALLS; i++) {
            MappedFiles.settle();
        }
    }
}
