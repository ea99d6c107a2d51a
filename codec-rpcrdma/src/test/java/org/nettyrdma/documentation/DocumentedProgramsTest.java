package org.nettyrdma.documentation;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the programs of the documents do when they are started as these say. */
class DocumentedProgramsTest {

    @Execution(ExecutionMode.CONCURRENT)
    @Test
    void shouldEchoAndSayWhichProviderIsUsed(@TempDir Path directory) throws Exception {
        try (var programs = DocumentedPrograms.onClassPath(directory, DocumentedPrograms.libraries())) {
            programs.startServer();

            String output = programs.start("EchoClient").ending(0);

            assertTrue(output.contains("RDMA provider: iwarp ("), output);
        }
    }

    @Execution(ExecutionMode.CONCURRENT)
    @Test
    void shouldEchoFromTheServerOfReadme(@TempDir Path directory) throws Exception {
        try (var programs = DocumentedPrograms.withServerOfReadme(directory, DocumentedPrograms.libraries())) {
            programs.startServer();

            String output = programs.start("EchoClient").ending(0);

            assertTrue(output.lines().toList().contains("42"), output);
        }
    }

    @Execution(ExecutionMode.CONCURRENT)
    @ParameterizedTest
    @ValueSource(ints = {4, 65536, 1_000_000})
    void shouldEchoAsMuchAsTheClientAsks(int bytes, @TempDir Path directory) throws Exception {
        try (var programs = DocumentedPrograms.onClassPath(directory, DocumentedPrograms.libraries(), bytes)) {
            programs.startServer();

            String output = programs.start("EchoClient").ending(0);

            assertTrue(output.lines().toList().contains("42"), output);
        }
    }

    @Execution(ExecutionMode.CONCURRENT)
    @Test
    void shouldEndWhenTheServerIsDown(@TempDir Path directory) throws Exception {
        try (var programs = DocumentedPrograms.onClassPath(directory, DocumentedPrograms.libraries())) {
            programs.freePort();

            String output = programs.start("EchoClient").ending(1);

            assertTrue(output.contains("Connection refused"), output);
        }
    }

    @Execution(ExecutionMode.CONCURRENT)
    @Test
    void shouldEndWhenThePortIsTaken(@TempDir Path directory) throws Exception {
        try (var programs = DocumentedPrograms.onClassPath(directory, DocumentedPrograms.libraries())) {

            String output = programs.start("EchoServer").ending(1);

            assertTrue(output.contains("Address already in use"), output);
        }
    }
}
