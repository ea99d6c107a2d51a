package org.nettyrdma.examples.sharedmemory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.nettyrdma.examples.Output;

/** The server is a second JVM, the client this one. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@EnabledOnOs(OS.LINUX)
class SharedMemoryTest {

    private static final int TIMEOUT_SECONDS = 60;

    @Test
    void shouldAskAnotherProcess(@TempDir Path directory) throws Exception {
        String socket = directory.resolve("socket").toString();
        Process server = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1", // it is over before the better compiler pays
                "-cp", System.getProperty("java.class.path"), SharedMemory.class.getName(), "server", socket)
                .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try (BufferedReader lines = server.inputReader()) {
            assertEquals("process " + server.pid() + " serves", lines.readLine());

            List<String> asked = Output.of(SharedMemory::main, "client", socket);

            assertEquals(List.of("process " + ProcessHandle.current().pid() + " has asked process " + server.pid()), asked);
            server.getOutputStream().close();
            assertTrue(server.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS));
            assertEquals(0, server.exitValue());
        } finally {
            server.destroyForcibly().waitFor();
        }
    }
}
