package org.nettyrdma.documentation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The module's lists must not rot: each row has a section, a rule, an answer and tests that exist. A row is
 * {@code | section | rule | answer | `Class.method`, ... |}; the tests may be in any module, and what stands in brackets
 * says which cases of the test.
 */
class ConformanceListTest {

    private static final Pattern CELL_BORDER = Pattern.compile("(?<!\\\\)\\|");
    private static final Pattern ANSWER = Pattern.compile("(Done|Not applicable|Upper layer|Otherwise)\\b.*");
    private static final Pattern TEST = Pattern.compile("`(\\w+)(?:\\.(\\w+))?`");
    private static final Path OVERVIEW = Path.of("../docs/testing.md");

    private record Row(int line, List<String> cells) {
    }

    @ParameterizedTest
    @ValueSource(strings = {"CONFORMANCE.md", "CONFORMANCE-V2.md", "CONFORMANCE-LEGACY.md"})
    void shouldHaveFourFilledCellsInEachRow(String list) throws IOException {
        for (Row row : rows(list)) {
            assertEquals(4, row.cells.size(), row.toString());
            assertTrue(row.cells.stream().noneMatch(String::isBlank), row.toString());
        }
    }

    /** Done; not applicable or left to the upper layer, and why; or otherwise than the rule says, and why. */
    @ParameterizedTest
    @ValueSource(strings = {"CONFORMANCE.md", "CONFORMANCE-V2.md", "CONFORMANCE-LEGACY.md"})
    void shouldAnswerEachRuleInOneOfFourWays(String list) throws IOException {
        for (Row row : rows(list)) {
            Matcher answer = ANSWER.matcher(row.cells.get(2));
            assertTrue(answer.matches(), row.toString());
            assertTrue(answer.group(1).equals("Done") || row.cells.get(2).length() > answer.group(1).length() + 2,
                    "without a reason: " + row);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"CONFORMANCE.md", "CONFORMANCE-V2.md", "CONFORMANCE-LEGACY.md"})
    void shouldNameTestsThatExist(String list) throws IOException {
        List<Path> sources = testSources();
        List<String> missing = new ArrayList<>();
        for (Row row : rows(list)) {
            String cell = row.cells.get(3).replaceAll("\\([^)]*\\)", "");
            assertTrue(TEST.matcher(cell).find(), "without a test: " + row);
            assertEquals("", TEST.matcher(cell).replaceAll("").replaceAll("[ ,]", ""), "no test: " + row);
            for (MatchResult name : TEST.matcher(cell).results().toList()) {
                if (!exists(sources, name.group(1), name.group(2))) {
                    missing.add("line " + row.line + ": " + name.group());
                }
            }
        }
        assertEquals(List.of(), missing);
    }

    /** The number stands in the row of the overview that links the list. */
    @ParameterizedTest
    @ValueSource(strings = {"CONFORMANCE.md", "CONFORMANCE-V2.md", "CONFORMANCE-LEGACY.md"})
    void shouldCountTheRulesInTheOverview(String list) throws IOException {
        Matcher count = Pattern.compile("\\| \\[[^]]*]\\(\\.\\./codec-rpcrdma/" + Pattern.quote(list) + "\\)[^|]*\\| (\\d+) \\|")
                .matcher(Files.readString(OVERVIEW));
        assertTrue(count.find(), list);
        assertEquals(rows(list).size(), Integer.parseInt(count.group(1)));
    }

    /** {@code method} is {@code null} where all tests of the class are meant. */
    private static boolean exists(List<Path> sources, String inClass, String method) throws IOException {
        for (Path source : sources) {
            if (source.endsWith(inClass + ".java")
                    && (method == null || Files.readString(source).matches("(?s).*\\bvoid " + method + "\\(.*"))) {
                return true;
            }
        }
        return false;
    }

    private static List<Row> rows(String list) throws IOException {
        List<Row> rows = new ArrayList<>();
        List<String> lines = Files.readAllLines(Path.of(list));
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i).strip();
            if (line.startsWith("|") && !line.matches("\\| *section *\\|.*|[|: -]+")) {
                assertTrue(line.endsWith("|"), "line " + (i + 1));
                rows.add(new Row(i + 1, CELL_BORDER.splitAsStream(line.substring(1)).map(String::strip).toList()));
            }
        }
        assertTrue(!rows.isEmpty(), "no rows in " + Path.of(list).toAbsolutePath());
        return rows;
    }

    private static List<Path> testSources() throws IOException {
        List<Path> sources = new ArrayList<>();
        try (Stream<Path> modules = Files.list(Path.of(".."))) {
            for (Path tests : modules.map(module -> module.resolve("src/test/java")).filter(Files::isDirectory).toList()) {
                try (Stream<Path> files = Files.walk(tests)) {
                    files.filter(file -> file.toString().endsWith(".java")).forEach(sources::add);
                }
            }
        }
        return sources;
    }
}
