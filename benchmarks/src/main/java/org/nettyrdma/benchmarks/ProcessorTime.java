package org.nettyrdma.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * Processor time of this process.
 *
 * @param nanos of all of its threads, those that have ended not counted where the kernel tells nanoseconds
 */
record ProcessorTime(long nanos) {

    private static final Path THREADS = Path.of("/proc/self/task");

    static ProcessorTime now() {
        try {
            return new ProcessorTime(ofThreads());
        } catch (IOException e) { // a kernel without scheduler statistics; ticks of 10 ms instead
            return new ProcessorTime(((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime());
        }
    }

    private static long ofThreads() throws IOException {
        long sum = 0;
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(THREADS)) {
            for (Path thread : threads) {
                try {
                    String statistics = Files.readString(thread.resolve("schedstat"));
                    sum += Long.parseLong(statistics.substring(0, statistics.indexOf(' ')));
                } catch (NoSuchFileException e) {
                    if (Files.exists(thread)) {
                        throw e;
                    }
                    // else the thread has just ended
                }
            }
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
        return sum;
    }
}
