package org.nettyrdma.verbs.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nettyrdma.testing.Jvm;

/** Where no file can be made or grow; a limit of the process stands for a full file system. The reason names the directory. */
class FullFileSystemTest {

    @TempDir
    private Path temporary;

    @Test
    void shouldNameTheDirectoryAndLeaveNothing() throws Exception {
        Path shared = temporary.resolve("shm");
        List<String> command = Jvm.command(List.of("-Xmx64m", "-XX:-UsePerfData"), FullFileSystemTest.class, shared.toString());
        command.addAll(0, List.of("sh", "-c", "ulimit -f 0 && exec \"$0\" \"$@\""));
        Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        List<String> lines = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).lines().toList();
        assertEquals(0, process.waitFor());
        assertEquals(4, lines.size(), lines::toString);
        assertTrue(lines.get(0).startsWith("no shared memory for 12288 bytes in " + shared + ": "), lines.get(0));
        assertTrue(lines.get(1).startsWith("no shared memory for 16 bytes in " + shared + ": "), lines.get(1));
        assertTrue(lines.get(2).startsWith("no shared memory for 4096 bytes in " + shared + ": "), lines.get(2));
        assertEquals("lock", lines.get(3));
    }

    /** As by {@code rm}, or by logind, which removes the files of a user who has logged out. */
    @Test
    void shouldTellThatItsDirectoryWasRemoved() throws IOException {
        ShmSettings settings = new ShmSettings(temporary.resolve("shm"), Set.of());
        ProcessDirectory directory = ProcessDirectory.of(settings);
        Path own = directory.file(OwnBlocks.KIND, 1).getParent();
        Files.delete(own.resolve("lock"));
        Files.delete(own);
        for (ChannelTask<?> task : List.<ChannelTask<?>>of(() -> new OwnControl(directory),
                () -> HostProof.create(directory), () -> new ShmProvider(settings).allocate(4096))) {
            String message = assertThrows(IOException.class, task::run).getMessage();
            assertEquals(own + " was removed by another process: until this one starts again it can share no more memory",
                    message);
        }
        directory.forget();
    }

    /** The process whose files cannot grow. */
    public static void main(String[] arguments) throws IOException {
        ShmSettings settings = new ShmSettings(Path.of(arguments[0]), Set.of());
        ProcessDirectory directory = ProcessDirectory.of(settings);
        print(() -> new OwnControl(directory));
        print(() -> HostProof.create(directory));
        print(() -> new ShmProvider(settings).allocate(4096));
        try (var files = Files.list(directory.file(OwnBlocks.KIND, 1).getParent())) {
            files.forEach(file -> System.out.println(file.getFileName()));
        }
    }

    private static void print(ChannelTask<?> task) {
        try {
            System.out.println("succeeded: " + task.run());
        } catch (IOException e) {
            System.out.println(e.getMessage());
        }
    }
}
