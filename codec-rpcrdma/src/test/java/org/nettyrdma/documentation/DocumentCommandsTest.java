package org.nettyrdma.documentation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The shell commands of the documents: the shell can parse all of them, and their programs, modules, tests and scenarios exist.
 * Most of them take minutes to hours, a device or root, so they are not run here; {@code .ci/run} runs those of README. A test
 * in {@code example-nfs} runs the documented commands of its own, and one in {@code benchmarks} parses those of its own.
 */
class DocumentCommandsTest {

    /** Programs of the system, which need root or a device, or come with Java. */
    private static final Set<String> OF_THE_SYSTEM = Set.of("apt", "grep", "java", "jfr", "make", "modprobe", "mount",
            "rdma", "rping", "tcpdump", "ulimit", "umount");
    private static final Set<String> OF_MAVEN = Set.of("skipTests", "test", "surefire.failIfNoSpecifiedTests",
            "surefire.rerunFailingTestsCount", "maven.main.skip");
    private static final Pattern PLACEHOLDER = Pattern.compile("[A-Z]+|\\.\\.\\.");
    private static final Pattern NUMBER = Pattern.compile("\\d+");

    /** One command, without its comment. */
    private record Command(Path document, List<String> words) {

        String program() {
            return words.get(0);
        }

        List<String> arguments() {
            return words.subList(1, words.size());
        }

        @Override
        public String toString() {
            return document + ": " + String.join(" ", words);
        }
    }

    static List<Command> commands() throws IOException {
        List<Path> documents = new ArrayList<>(Documents.all());
        documents.add(Documents.ROOT.resolve("CONTRIBUTING.md"));
        documents.add(Documents.ROOT.resolve("interop").resolve("README.md"));
        documents.add(Documents.ROOT.resolve("example-nfs").resolve("README.md"));
        List<Command> commands = new ArrayList<>();
        for (Path document : documents) {
            for (Documents.Block block : Documents.blocks(document, "sh")) {
                block.text().replace("\\\n", " ").lines().map(line -> line.replaceFirst("(^|\\s+)#.*", "").strip())
                        .filter(line -> !line.isEmpty())
                        .forEach(line -> commands.add(new Command(document, words(line))));
            }
        }
        return commands;
    }

    private static List<String> words(String line) {
        return Arrays.stream(line.split("\\s+")).map(word -> word.replace("'", "")).toList();
    }

    @ParameterizedTest
    @MethodSource("commands")
    void shouldNameWhatIsThere(Command command) throws IOException {
        switch (command.program()) {
            case "mvn" -> maven(command);
            case "fuzz/run" -> fuzz(command);
            case "interop/run" -> interop(command);
            default -> {
                if (!OF_THE_SYSTEM.contains(command.program())) {
                    assertTrue(Files.isExecutable(Documents.ROOT.resolve(command.program())), command::toString);
                }
            }
        }
        if (command.program().contains("/")) {
            assertTrue(Files.isExecutable(Documents.ROOT.resolve(command.program())), command::toString);
        }
    }

    @ParameterizedTest
    @MethodSource("commands")
    void shouldBeShell(Command command) throws Exception {
        Process shell = new ProcessBuilder("sh", "-n", "-c", String.join(" ", command.words)).redirectErrorStream(true).start();

        assertTrue(shell.waitFor(60, TimeUnit.SECONDS), command::toString);
        assertEquals(0, shell.exitValue(), command::toString);
    }

    /** README's two commands are what the complete run starts with. */
    @Test
    void shouldRunTheCommandsOfReadme() throws IOException {
        List<String> run = Files.readAllLines(Documents.ROOT.resolve(".ci").resolve("run"));
        List<String> ofReadme = commands().stream().filter(command -> command.document.equals(Documents.README))
                .map(command -> String.join(" ", command.words)).toList();

        assertEquals(List.of("example-nfs/nfs demo", "mvn verify"), ofReadme);
        for (String command : ofReadme) {
            assertTrue(run.contains(command) || run.contains(command.replace("mvn ", "mvn -B -ntp ")), command);
        }
    }

    private static void maven(Command command) throws IOException {
        String poms = sources(Documents.ROOT, "pom.xml");
        Set<String> modules = new TreeSet<>();
        for (int i = 0; i < command.arguments().size(); i++) {
            String argument = command.arguments().get(i);
            if (argument.equals("-pl")) {
                modules.addAll(List.of(command.arguments().get(i + 1).split(",")));
            } else if (argument.startsWith("-P")) {
                for (String profile : argument.substring(2).split(",")) {
                    assertTrue(poms.contains("<id>" + profile + "</id>"), command::toString);
                }
            } else if (argument.startsWith("-D")) {
                String[] property = argument.substring(2).split("=", 2);
                assertTrue(OF_MAVEN.contains(property[0]) || poms.contains(property[0]) || isReadByTests(modules, property[0]),
                        command::toString);
                if (property[0].equals("test")) {
                    assertTrue(hasTest(modules.isEmpty() ? Set.of("") : modules, property[1]), command::toString);
                }
            } else if (!argument.startsWith("-") && !modules.contains(argument)) {
                assertTrue(Set.of("test", "verify", "install", "package").contains(argument), command::toString);
            }
        }
        for (String module : modules) {
            assertTrue(PLACEHOLDER.matcher(module).matches() || Files.exists(Documents.ROOT.resolve(module).resolve("pom.xml")),
                    command::toString);
        }
    }

    private static boolean isReadByTests(Set<String> modules, String property) throws IOException {
        for (String module : modules) {
            if (sources(Documents.ROOT.resolve(module).resolve("src/test/java"), ".java").contains('"' + property + '"')) {
                return true;
            }
        }
        return false;
    }

    private static boolean hasTest(Set<String> modules, String pattern) throws IOException {
        PathMatcher matcher = FileSystems.getDefault().getPathMatcher("glob:" + pattern + ".java");
        for (String module : modules) {
            if (PLACEHOLDER.matcher(module).matches()) {
                return true;
            }
            try (Stream<Path> files = Files.walk(Documents.ROOT.resolve(module).resolve("src/test/java"))) {
                if (files.map(Path::getFileName).anyMatch(matcher::matches)) {
                    return true;
                }
            }
        }
        return false;
    }

    private static void fuzz(Command command) throws IOException {
        for (String argument : command.arguments()) {
            assertTrue(NUMBER.matcher(argument).matches() || argument.endsWith("FuzzTest")
                    && hasTest(Set.of("netty-transport-rdma", "codec-rpcrdma", "example-nfs"), argument), command::toString);
        }
    }

    private static void interop(Command command) {
        for (String argument : command.arguments()) {
            assertTrue(argument.startsWith("-") || Files.exists(Documents.ROOT.resolve("interop/scenarios/" + argument + ".sh")),
                    command::toString);
        }
    }

    private static String sources(Path directory, String suffix) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            StringBuilder all = new StringBuilder();
            for (Path file : files.filter(file -> file.toString().endsWith(suffix) && !file.toString().contains("target"))
                    .sorted(Comparator.naturalOrder()).toList()) {
                all.append(Files.readString(file));
            }
            return all.toString();
        }
    }
}
