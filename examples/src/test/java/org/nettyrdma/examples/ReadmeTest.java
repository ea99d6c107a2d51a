package org.nettyrdma.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The table of README, the folders of the examples and the script are of one mind. */
class ReadmeTest {

    private static final Path README = Path.of("README.md");
    private static final Path FOLDERS = Path.of("src/main/java/org/nettyrdma/examples");
    private static final Pattern ROW = Pattern.compile("(?m)^\\| `examples/run (\\w+)[^`]*` \\|");
    private static final Pattern LINK = Pattern.compile("(?:]\\(|(?m:^\\[\\d+]: ))([^)#\\s]+)");
    private static final Pattern COMMAND = Pattern.compile("\\{@code examples/run (\\w+)[^}]*}");
    private static final int MAX_COLUMNS = 120;

    @Test
    void shouldHaveARowForEachExample() throws IOException {
        assertEquals(folders(), names(ROW, README));
    }

    @Test
    void shouldLinkToWhatIsThere() throws IOException {
        for (MatchResult link : LINK.matcher(Files.readString(README)).results().toList()) {
            assertTrue(Files.exists(Path.of("").resolve(link.group(1))), link.group());
        }
    }

    @Test
    void shouldKeepLinesShort() throws IOException {
        assertTrue(Files.readAllLines(README).stream().allMatch(line -> line.length() <= MAX_COLUMNS));
    }

    /** One class with a main, and a page that says how to run it. */
    @Test
    void shouldHaveOneClassInEachFolder() throws IOException {
        for (String folder : folders()) {
            try (Stream<Path> files = Files.list(FOLDERS.resolve(folder))) {
                Path source = files.filter(file -> !file.endsWith("package-info.java"))
                        .collect(Collectors.collectingAndThen(Collectors.toList(), all -> {
                            assertEquals(1, all.size(), all::toString);
                            return all.get(0);
                        }));
                assertTrue(Files.readString(source).contains("public static void main("), source::toString);
            }
            assertEquals(Set.of(folder), names(COMMAND, FOLDERS.resolve(folder).resolve("package-info.java")));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"no-such-example", "none", "..", "echo/", ""})
    void shouldSayWhichExamplesThereAre(String name) throws Exception {
        Process script = new ProcessBuilder(Path.of("run").toAbsolutePath().toString(), name)
                .redirectErrorStream(true).start();
        String output = new String(script.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertTrue(script.waitFor(60, TimeUnit.SECONDS));
        assertEquals(2, script.exitValue(), output);
        assertEquals("usage: examples/run NAME, one of: " + String.join(" ", folders()), output.strip());
    }

    private static Set<String> folders() throws IOException {
        try (Stream<Path> files = Files.list(FOLDERS)) {
            return files.map(file -> file.getFileName().toString()).collect(Collectors.toCollection(TreeSet::new));
        }
    }

    private static Set<String> names(Pattern pattern, Path file) throws IOException {
        return pattern.matcher(Files.readString(file)).results().map(match -> match.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
