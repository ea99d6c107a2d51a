package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.nettyrdma.testing.Jvm;

/** What happens at the limit of the JVM's direct memory, in a JVM of its own. */
class DirectMemoryTest {

    private static final int MIB = 1 << 20;
    private static final int REFUSED = 200;

    @Test
    void shouldRefuseAtOnceAndRecover() throws Exception {
        Process process = new ProcessBuilder(Jvm.command(
                List.of("-XX:MaxDirectMemorySize=32m", "-Dio.netty.leakDetection.level=disabled"), Program.class))
                .redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(process.waitFor(60, TimeUnit.SECONDS));
        assertEquals(0, process.exitValue(), output);
        assertTrue(output.contains("No more registered memory for provider memory-only"), output);
        assertEquals(1, output.lines().filter(line -> line.contains("No more registered memory")).count(), output);
    }

    /** Uses the memory up, asks for more, and gives it back. */
    static final class Program {

        public static void main(String[] arguments) {
            var allocator = new RegisteredByteBufAllocator(new MemoryOnlyProvider(), 256L * MIB);
            List<ByteBuf> buffers = new ArrayList<>();
            String refusal = fill(allocator, buffers);
            require(refusal.contains("-XX:MaxDirectMemorySize") && refusal.contains(String.valueOf(32 * MIB)), refusal);
            require(buffers.size() >= 28, "only " + buffers.size());
            require(allocator.shortage().contains("-XX:MaxDirectMemorySize"), allocator.shortage());
            long startNanos = System.nanoTime();
            for (int i = 0; i < REFUSED; i++) {
                fill(allocator, new ArrayList<>());
            }
            long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos);
            require(millis < REFUSED * 500 / 10, REFUSED + " refusals took " + millis + " ms");
            buffers.forEach(ByteBuf::release);
            buffers.clear(); // without Unsafe the garbage collector frees what nobody refers to
            ByteBuf large = allocator.directBuffer(16 * MIB);
            require(allocator.isRegistered(large, 0, 16 * MIB), allocator.shortage());
            large.release();
        }

        private static String fill(RegisteredByteBufAllocator allocator, List<ByteBuf> buffers) {
            try {
                while (true) {
                    buffers.add(allocator.directBuffer(MIB));
                }
            } catch (OutOfMemoryError e) {
                return e.getMessage();
            }
        }

        private static void require(boolean condition, String message) {
            if (!condition) {
                throw new AssertionError(message);
            }
        }
    }
}
