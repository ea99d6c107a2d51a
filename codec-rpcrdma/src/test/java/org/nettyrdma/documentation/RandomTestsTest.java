package org.nettyrdma.documentation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The tables of docs/testing.md have each test that is tried with random input, and each property of such a test. */
class RandomTestsTest {

    private static final Path PAGE = Documents.ROOT.resolve("docs").resolve("testing.md");
    private static final Pattern PROPERTY = Pattern.compile("(?m)^ +@Property\\b");
    private static final Pattern TIMES = Pattern.compile("(\\d+) × \\d+");

    /** The first word of each row that names such a test, and the last cell. */
    private static Map<String, String> rows(String suffix) throws IOException {
        Pattern row = Pattern.compile("(?m)^\\| `(\\w+" + suffix + ")`.*\\| ([^|]+) \\|$");
        Map<String, String> rows = new TreeMap<>();
        for (MatchResult each : row.matcher(Files.readString(PAGE)).results().toList()) {
            rows.put(each.group(1), each.group(2));
        }
        return rows;
    }

    /** Name and text of each test with an annotation. */
    private static Map<String, String> tests(String suffix, String annotation) throws IOException {
        Map<String, String> tests = new TreeMap<>();
        try (Stream<Path> modules = Files.list(Documents.ROOT)) {
            for (Path folder : modules.map(module -> module.resolve("src/test/java")).filter(Files::isDirectory).toList()) {
                try (Stream<Path> files = Files.walk(folder)) {
                    for (Path file : files.filter(each -> each.toString().endsWith(suffix + ".java")).toList()) {
                        String text = Files.readString(file);
                        if (text.contains(annotation)) {
                            tests.put(file.getFileName().toString().replace(".java", ""), text);
                        }
                    }
                }
            }
        }
        assertTrue(!tests.isEmpty(), suffix);
        return tests;
    }

    @Test
    void shouldHaveARowForEachFuzzTarget() throws IOException {
        assertEquals(tests("FuzzTest", "@FuzzTest").keySet(), rows("FuzzTest").keySet());
    }

    @Test
    void shouldCountThePropertiesOfEachPropertyTest() throws IOException {
        Map<String, Integer> counts = new TreeMap<>();
        tests("PropertyTest", "@Property").forEach((name, text) ->
                counts.put(name, (int) PROPERTY.matcher(text).results().count()));
        Map<String, Integer> documented = new TreeMap<>();
        rows("PropertyTest").forEach((name, cases) -> documented.put(name, TIMES.matcher(cases).results().findFirst()
                .map(times -> Integer.parseInt(times.group(1))).orElse(cases.split(", ").length)));
        assertEquals(counts, documented);
    }

    @Test
    void shouldRefuseToFuzzWhatIsNoTarget() throws Exception {
        List<String> command = new ArrayList<>(List.of(Documents.ROOT.resolve("fuzz").resolve("run").toString(), "1"));
        command.add("RandomTestsTest");
        Process script = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(script.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(script.waitFor(60, TimeUnit.SECONDS));
        assertEquals("fuzz/run: 'RandomTestsTest' is no target", output.strip());
        assertEquals(2, script.exitValue());
    }
}
