package org.nettyrdma.verbs.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.FileInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nettyrdma.testing.Jvm;

/** Memory comes and goes whatever state the thread or the process is in: a file that stays takes memory until its end. */
class OwnBlocksTest {

    private static final int BYTES = 1 << 20;

    @TempDir
    private Path temporary;

    private static ShmProvider provider(Path directory) {
        return new ShmProvider(new ShmSettings(directory.resolve("shm"), Set.of()));
    }

    private static List<Path> blocks(Path directory) throws IOException {
        try (var files = Files.walk(directory)) {
            return files.filter(each -> each.getFileName().toString().matches("b[0-9]+")).toList();
        }
    }

    @AfterEach
    void clearInterrupt() {
        Thread.interrupted();
    }

    @Test
    void shouldAllocateOnAThreadThatIsInterrupted() throws IOException {
        ShmProvider provider = provider(temporary);
        Thread.currentThread().interrupt();
        ByteBuffer memory = provider.allocate(BYTES);
        assertTrue(Thread.interrupted());
        provider.free(memory);
    }

    @Test
    void shouldFreeOnAThreadThatIsInterrupted() throws IOException {
        ShmProvider provider = provider(temporary);
        ByteBuffer memory = provider.allocate(BYTES);
        Thread.currentThread().interrupt();
        provider.free(memory);
        assertTrue(Thread.interrupted());
        assertEquals(List.of(), blocks(temporary));
    }

    @Test
    void shouldMapTheMemoryOfAPeerOnAThreadThatIsInterrupted() throws IOException {
        ShmProvider provider = provider(temporary);
        ByteBuffer memory = provider.allocate(BYTES);
        Path block = blocks(temporary).get(0);
        Thread.currentThread().interrupt();
        MappedFiles.unmap(MappedFiles.map(block, BYTES, BYTES));
        assertTrue(Thread.interrupted());
        provider.free(memory);
    }

    @Test
    void shouldFreeWhereNoDescriptorIsLeft() throws Exception {
        List<String> command = Jvm.command(List.of("-Xmx64m"), OwnBlocksTest.class, temporary.toString());
        command.addAll(0, List.of("sh", "-c", "ulimit -n 256 && exec \"$0\" \"$@\""));
        Process process = new ProcessBuilder(command).inheritIO().start();
        try {
            assertTrue(process.waitFor(ShmSide.TIMEOUT_SECONDS, TimeUnit.SECONDS));
            assertEquals(0, process.exitValue());
        } finally {
            process.destroyForcibly();
        }
    }

    public static void main(String[] arguments) throws IOException {
        ShmProvider provider = provider(Path.of(arguments[0]));
        provider.free(provider.allocate(BYTES)); // loads what that needs
        blocks(Path.of(arguments[0]));
        ByteBuffer memory = provider.allocate(BYTES);
        List<FileInputStream> others = new ArrayList<>();
        try {
            while (true) {
                others.add(new FileInputStream("/dev/null"));
            }
        } catch (IOException e) {
            provider.free(memory);
        }
        for (FileInputStream other : others) {
            other.close();
        }
        assertEquals(List.of(), blocks(Path.of(arguments[0])));
    }
}
