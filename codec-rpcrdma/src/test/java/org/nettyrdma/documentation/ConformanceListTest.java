package org.nettyrdma.documentation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The module's {@code CONFORMANCE.md} must not rot: each row has a section, a rule, an answer and tests that exist. A row is
 * {@code | section | rule | answer | `Class.method`, ... |}; the tests may be in any module.
 */
class ConformanceListTest {

    private static final Path LIST = Path.of("CONFORMANCE.md");
    private static final Pattern CELL_BORDER = Pattern.compile("(?<!\\\\)\\|");
    private static final Pattern ANSWER = Pattern.compile("(Done|Not applicable|Upper layer|Otherwise)\\b.*");
    private static final Pattern TEST = Pattern.compile("`(\\w+)\\.(\\w+)`");

    private record Row(int line, List<String> cells) {
    }

    @Test
    void shouldHaveFourFilledCellsInEachRow() throws IOException {
        for (Row row : rows()) {
            assertEquals(4, row.cells.size(), row.toString());
            assertTrue(row.cells.stream().noneMatch(String::isBlank), row.toString());
        }
    }

    /** Done; not applicable or left to the upper layer, and why; or otherwise than the rule says, and why. */
    @Test
    void shouldAnswerEachRuleInOneOfFourWays() throws IOException {
        for (Row row : rows()) {
            Matcher answer = ANSWER.matcher(row.cells.get(2));
            assertTrue(answer.matches(), row.toString());
            assertTrue(answer.group(1).equals("Done") || row.cells.get(2).length() > answer.group(1).length() + 2,
                    "without a reason: " + row);
        }
    }

    @Test
    void shouldNameTestsThatExist() throws IOException {
        List<Path> sources = testSources();
        List<String> missing = new ArrayList<>();
        for (Row row : rows()) {
            List<String> names = TEST.matcher(row.cells.get(3)).results().map(name -> name.group(1) + '.' + name.group(2)).toList();
            assertTrue(!names.isEmpty(), "without a test: " + row);
            assertEquals("", TEST.matcher(row.cells.get(3)).replaceAll("").replaceAll("[ ,]", ""), "no test: " + row);
            for (String name : names) {
                if (!exists(sources, name)) {
                    missing.add("line " + row.line + ": " + name);
                }
            }
        }
        assertEquals(List.of(), missing);
    }

    private static boolean exists(List<Path> sources, String name) throws IOException {
        int dot = name.indexOf('.');
        Pattern method = Pattern.compile("\\bvoid " + name.substring(dot + 1) + "\\(");
        for (Path source : sources) {
            if (source.endsWith(name.substring(0, dot) + ".java") && method.matcher(Files.readString(source)).find()) {
                return true;
            }
        }
        return false;
    }

    private static List<Row> rows() throws IOException {
        List<Row> rows = new ArrayList<>();
        List<String> lines = Files.readAllLines(LIST);
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i).strip();
            if (line.startsWith("|") && !line.matches("\\| *section *\\|.*|[|: -]+")) {
                assertTrue(line.endsWith("|"), "line " + (i + 1));
                rows.add(new Row(i + 1, CELL_BORDER.splitAsStream(line.substring(1)).map(String::strip).toList()));
            }
        }
        assertTrue(!rows.isEmpty(), "no rows in " + LIST.toAbsolutePath());
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
