package org.nettyrdma.verbs.iwarp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.testing.Jvm;
import org.nettyrdma.verbs.support.DirectMemory;

/** The buffers of software iWARP at the limit of the JVM's direct memory, in a JVM of its own. */
class DirectMemoryShortageTest {

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldRefuseAtOnceAndRecover(boolean noUnsafe) throws Exception {
        Process process = new ProcessBuilder(Jvm.command(
                List.of("-XX:MaxDirectMemorySize=4m", "-Dio.netty.noUnsafe=" + noUnsafe), Program.class))
                .redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(process.waitFor(60, TimeUnit.SECONDS));
        assertEquals(0, process.exitValue(), output);
    }

    /** Takes what there is, asks for more, and gives it back. */
    static final class Program {

        private static final int REFUSED = 20;
        private static final long MAX_IDLE_BYTES = 64 * 8192 + 65536;

        public static void main(String[] arguments) {
            StagingBuffers buffers = new StagingBuffers();
            List<ByteBuffer> taken = new ArrayList<>();
            fill(() -> buffers.take(StagingBuffers.LARGE_BYTES), taken); // and then small ones
            long startNanos = System.nanoTime();
            for (int i = 0; i < REFUSED; i++) {
                String refusal = fill(FpduBatch::new, new ArrayList<>());
                require(refusal.contains("-XX:MaxDirectMemorySize"), refusal);
                fill(() -> buffers.take(1), taken);
            }
            long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos);
            require(millis < REFUSED * 500 / 4, 2 * REFUSED + " refusals took " + millis + " ms");
            int count = taken.size();
            taken.forEach(buffers::give);
            taken.clear();
            if (!DirectMemory.isFreedAtOnce()) {
                return; // the garbage collector frees, when it is asked again
            }
            require(usedBytes() <= MAX_IDLE_BYTES, usedBytes() + " bytes are kept");
            fill(() -> buffers.take(StagingBuffers.LARGE_BYTES), taken);
            require(taken.size() == count, count + " buffers at first, " + taken.size() + " after all were given back");
        }

        private static <T> String fill(Supplier<T> source, List<T> taken) {
            try {
                while (true) {
                    taken.add(source.get());
                }
            } catch (OutOfMemoryError e) {
                return e.getMessage();
            }
        }

        private static long usedBytes() {
            return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                    .filter(pool -> pool.getName().equals("direct")).findFirst().orElseThrow().getTotalCapacity();
        }

        private static void require(boolean condition, String message) {
            if (!condition) {
                throw new AssertionError(message);
            }
        }
    }
}
