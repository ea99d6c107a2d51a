package org.nettyrdma.example.nfs.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The launcher script, in a project of its own whose Maven and Java only note how they were called. */
class LauncherTest {

    private static final Path LAUNCHER = Path.of("nfs").toAbsolutePath();
    private static final int TIMEOUT_SECONDS = 60;

    @TempDir
    private Path directory;

    private Path root;
    private Path module;
    private Path builds;
    private final Map<String, String> environment = new HashMap<>();

    @BeforeEach
    void writeProject() throws IOException {
        root = Files.createDirectory(directory.resolve("a project"));
        module = Files.createDirectories(root.resolve("example-nfs/src/main/java")).getParent().getParent().getParent();
        builds = directory.resolve("builds");
        Files.createFile(root.resolve("pom.xml"));
        Files.createFile(module.resolve("pom.xml"));
        Files.createFile(module.resolve("src/main/java/Source.java"));
        Files.copy(LAUNCHER, module.resolve("nfs"));
        Path programs = Files.createDirectory(directory.resolve("bin"));
        script(programs.resolve("mvn"),
                "echo built >>\"$BUILDS\"; echo \"${LC_ALL:-}\" >\"$BUILDS.locale\"; sleep 0.2",
                "[ ! -e \"$BUILDS.fail\" ] || { echo 'it is broken'; exit 1; }",
                "mkdir -p '" + module + "/target/lib'");
        script(programs.resolve("java"), "echo \"LC_ALL=${LC_ALL:-} LANGUAGE=${LANGUAGE:-}\"", "for a; do echo \"[$a]\"; done");
    }

    @Test
    void shouldBuildOnceAndPassTheArgumentsOn() throws Exception {
        assertTrue(run().contains("[org.nettyrdma.example.nfs.cli.NfsCommand]"));
        String output = run("put", "a b", "*", "");
        assertTrue(output.endsWith("[put]\n[a b]\n[*]\n[]\n"), output);
        assertTrue(output.contains("[" + module + "/target/lib/*]"), output);
        assertEquals(1, builds());
    }

    @Test
    void shouldBuildAgainWhenASourceOrPomIsNewer() throws Exception {
        run();
        Files.writeString(module.resolve("src/main/java/Source.java"), "changed");
        run();
        assertEquals(2, builds());
        Files.writeString(root.resolve("pom.xml"), "changed");
        run();
        assertEquals(3, builds());
        Files.delete(module.resolve("src/main/java/Source.java"));
        run();
        assertEquals(4, builds());
        run();
        assertEquals(4, builds());
    }

    @Test
    void shouldShowWhyABuildFailedAndTryAgainNextTime() throws Exception {
        Path failure = Files.createFile(directory.resolve("builds.fail"));
        Process failed = start(module.resolve("nfs"));
        String error = errors(failed);
        assertEquals(1, exitCode(failed));
        assertEquals("it is broken\nnfs: the build failed, see above\n", error);
        Files.delete(failure);
        run();
        assertEquals(2, builds());
    }

    @Test
    void shouldBuildOnceWhenStartedSeveralTimesAtOnce() throws Exception {
        List<Process> processes = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            processes.add(start(module.resolve("nfs")));
        }
        for (Process process : processes) {
            assertEquals(0, exitCode(process));
        }
        assertEquals(1, builds());
    }

    @Test
    void shouldSayWhereItHasLookedForJava() throws Exception {
        environment.put("JAVA_HOME", "/no/jdk");
        Process process = start(module.resolve("nfs"));
        assertEquals("nfs: no Java found at JAVA_HOME, which is /no/jdk\n", errors(process));
        assertEquals(1, exitCode(process));
    }

    @Test
    void shouldSayThatTooFewFilesMayBeOpen() throws Exception {
        Path limited = directory.resolve("limited");
        script(limited, "ulimit -n 40", "exec '" + module.resolve("nfs") + "'");
        Process process = start(limited);
        assertEquals("nfs: only 40 open files are allowed (ulimit -n); 64 or more are needed\n", errors(process));
        assertEquals(1, exitCode(process));
    }

    /** Else Java takes the first files that it opens for them, and what it writes to standard output goes there. */
    @ParameterizedTest
    @ValueSource(strings = {"example-nfs/nfs", "examples/run", "benchmarks/run"})
    void shouldGiveJavaStreamsThatFailWhereItsOwnAreClosed(String name) throws Exception {
        script(directory.resolve("bin/java"), "[ \"$*\" != -version ] || exit 0", // examples/run asks
                "streams=$(readlink /proc/$$/fd/0 /proc/$$/fd/1 /proc/$$/fd/2)",
                "echo \"$streams\" >\"$BUILDS.streams\"",
                "cat >>\"$BUILDS.streams\" || echo unreadable >>\"$BUILDS.streams\"",
                "echo text || echo unwritable >>\"$BUILDS.streams\"");
        Path launcher = copyOf(name);
        Path closing = directory.resolve("closing");
        script(closing, "exec '" + launcher + "' " + (name.startsWith("examples") ? "echo" : "") + " <&- >&- 2>&-");
        assertEquals(0, exitCode(start(closing)));
        assertEquals("/dev/null\n".repeat(3) + "unreadable\nunwritable\n", Files.readString(directory.resolve("builds.streams")));
    }

    /** Else it ended without a word as soon as it had to say that it builds, which is after a while. */
    @Test
    void shouldBuildForLongWhereStandardErrorIsClosed() throws Exception {
        script(directory.resolve("bin/sleep"), "echo >>\"$BUILDS.sleeps\""); // it says so when it has slept 20 times
        script(directory.resolve("bin/mvn"),
                "until [ \"$(cat \"$BUILDS.sleeps\" | wc -l)\" -gt 30 ] || [ ! -e \"$0\" ]; do :; done",
                "mkdir -p '" + module + "/target/lib'");
        Path closing = directory.resolve("closing");
        script(closing, "exec '" + module.resolve("nfs") + "' ls 2>&-");
        Process process = start(closing);
        assertTrue(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).endsWith("[ls]\n"));
        assertEquals(0, exitCode(process));
    }

    @Test
    void shouldRunThroughASymbolicLink() throws Exception {
        Path link = Files.createSymbolicLink(directory.resolve("link"), module.resolve("nfs"));
        Process process = start(link, "--help");
        assertTrue(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).endsWith("[--help]\n"));
        assertEquals(0, exitCode(process));
    }

    @Test
    void shouldGiveJavaALocaleThatKnowsEveryFileName() throws Exception {
        assertTrue(run().startsWith("LC_ALL=C.UTF-8 "));
    }

    /** Else the build fails where the path of the project has letters that are not of ASCII. */
    @ParameterizedTest
    @ValueSource(strings = {"example-nfs/nfs", "examples/run", "benchmarks/run", "fuzz/run", "fuzz/siege"})
    void shouldGiveMavenALocaleThatKnowsEveryFileName(String name) throws Exception {
        Files.createFile(directory.resolve("builds.fail"));
        Path script = copyOf(name);
        Process process = name.startsWith("examples") ? start(script, "echo") : start(script);
        assertEquals(1, exitCode(process));
        assertEquals("C.UTF-8\n", Files.readString(directory.resolve("builds.locale")));
    }

    /** By these texts the server tells errors of the file system apart. */
    @Test
    void shouldGiveJavaTheTextsOfErrorsInEnglish() throws Exception {
        environment.putAll(Map.of("LC_ALL", "de_DE.UTF-8", "LANGUAGE", "de:en"));
        assertTrue(run().startsWith("LC_ALL=de_DE.UTF-8 LANGUAGE=C\n"));
    }

    /** Java does not start with two. */
    @Test
    void shouldLeaveTheCollectorToWhoNamesOne() throws Exception {
        assertTrue(run().contains("[-XX:+UseParallelGC]\n"));
        environment.put("NFS_JAVA_OPTS", "-Xmx4g -XX:+UseZGC");
        String options = run();
        assertTrue(options.contains("[-Xmx4g]\n[-XX:+UseZGC]\n"));
        assertFalse(options.contains("UseParallelGC"));
        environment.put("NFS_JAVA_OPTS", "-XX:+UseNUMA -XX:MaxGCPauseMillis=50");
        assertTrue(run().contains("[-XX:+UseParallelGC]\n"));
    }

    /** A launcher in the project, with what it looks for there. */
    private Path copyOf(String name) throws IOException {
        Files.createFile(Files.createDirectories(root.resolve("examples/src/main/java/org/nettyrdma/examples/echo"))
                .resolve("Echo.java"));
        Path script = root.resolve(name);
        Files.createDirectories(script.getParent());
        return Files.copy(Path.of("..").resolve(name), script, StandardCopyOption.REPLACE_EXISTING);
    }

    private long builds() throws IOException {
        return Files.readAllLines(builds).size();
    }

    private String run(String... arguments) throws Exception {
        Process process = start(module.resolve("nfs"), arguments);
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals("", errors(process));
        assertEquals(0, exitCode(process));
        return output;
    }

    /** Without what the launcher says when this machine is slow. */
    private static String errors(Process process) throws IOException {
        return new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8)
                .replace("Building netty-rdma ...\n", "");
    }

    private Process start(Path launcher, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(launcher.toString()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile());
        builder.environment().clear();
        builder.environment().put("PATH", directory.resolve("bin") + ":/usr/bin:/bin");
        builder.environment().put("BUILDS", builds.toString());
        builder.environment().putAll(environment);
        return builder.start();
    }

    private static void script(Path path, String... lines) throws IOException {
        Files.writeString(path, "#!/bin/sh\n" + String.join("\n", lines) + "\n");
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private static int exitCode(Process process) throws InterruptedException {
        assertTrue(process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS), "the process did not end");
        return process.exitValue();
    }
}
