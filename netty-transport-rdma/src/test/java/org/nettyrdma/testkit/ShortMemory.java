package org.nettyrdma.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.verbs.VerbsProvider;

/** Uses up the memory that a provider allocates, in a JVM of its own that has little of it. */
final class ShortMemory {

    private static final int MIB = 1 << 20;
    private static final int LIMIT_MIB = 32;
    private static final int REFUSALS = 100;

    private ShortMemory() {
    }

    /**
     * Runs the program below for a provider that {@link ServiceLoader} finds by its name; fails if the program does.
     *
     * @param noUnsafe whether memory is freed by the garbage collector only, as it is where nobody may use Unsafe
     */
    static void run(String provider, boolean noUnsafe) throws Exception {
        List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        // The compilers, the collector and the archive of classes that this JVM was given: an emulated processor needs them.
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(argument -> argument.matches("-XX:(TieredStopAtLevel=.*|\\+Use.*GC|SharedArchiveFile=.*)"))
                .forEach(command::add);
        command.addAll(List.of("-XX:+ErrorFileToStdout", // what is said about a crash is to be a part of the failure
                "-XX:MaxDirectMemorySize=" + LIMIT_MIB + "m", "-Dio.netty.noUnsafe=" + noUnsafe,
                "-cp", System.getProperty("java.class.path"), ShortMemory.class.getName(), provider));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(process.waitFor(60, TimeUnit.SECONDS));
        assertEquals(0, process.exitValue(), output);
    }

    public static void main(String[] arguments) throws IOException {
        VerbsProvider provider = ServiceLoader.load(VerbsProvider.class).stream().map(ServiceLoader.Provider::get)
                .filter(each -> each.name().equals(arguments[0])).findFirst().orElseThrow();
        List<ByteBuffer> pieces = new ArrayList<>();
        String refusal = fill(provider, pieces);
        int size = pieces.size();
        if (refusal == null) {
            return; // its memory is not limited by that of the JVM
        }
        require(!refusal.isBlank(), "a refusal without a reason");
        long startNanos = System.nanoTime();
        for (int i = 0; i < REFUSALS; i++) {
            fill(provider, pieces);
        }
        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos);
        require(millis < REFUSALS * 50, REFUSALS + " refusals took " + millis + " ms");
        for (int i = 0; i < pieces.size(); i++) {
            require(pieces.get(i).get(0) == (byte) i && pieces.get(i).get(MIB - 1) == (byte) i, "piece " + i + " has changed");
        }
        pieces.forEach(provider::free);
        pieces.clear(); // without Unsafe the garbage collector frees what nobody refers to
        System.gc();
        fill(provider, pieces);
        require(pieces.size() >= size - 1, size + " pieces at first, " + pieces.size() + " after all were given back");
    }

    /** Allocates until there is no more; returns the message of the refusal, {@code null} without one. */
    private static String fill(VerbsProvider provider, List<ByteBuffer> pieces) {
        while (pieces.size() < 2 * LIMIT_MIB) {
            try {
                byte number = (byte) pieces.size();
                pieces.add(provider.allocate(MIB).put(0, number).put(MIB - 1, number));
            } catch (OutOfMemoryError | IOException e) {
                return String.valueOf(e.getMessage());
            }
        }
        return null;
    }

    private static void require(boolean condition, String message) {
        if (!condition) {
            throw new AssertionError(message);
        }
    }
}
