package org.nettyrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The lists name a test for every rule; this one sees to it that the tests exist. */
class ConformanceListTest {

    private static final Map<String, List<String>> SPECIFICATIONS = Map.of(
            "CONFORMANCE.md", List.of("RFC 5040", "RFC 5041", "RFC 5042", "RFC 5044", "RFC 6581"),
            "CONFORMANCE-STREAM.md", List.of("rsockets"));
    private static final Path OVERVIEW = Path.of("../docs/testing.md");
    private static final String HEADER = "| section | rule | answer | test |";
    private static final String RULER = "|---|---|---|---|";
    private static final int COLUMNS = 4;
    private static final Pattern TEST_NAME = Pattern.compile("`(\\w+)\\.(\\w+)`");
    private static final List<String> PACKAGES =
            List.of("org.nettyrdma.verbs.iwarp.", "org.nettyrdma.verbs.", "org.nettyrdma.channel.", "org.nettyrdma.testkit.",
                    "org.nettyrdma.stream.");

    /** The cells of every row of every table, each row with its line as the last cell. */
    private static List<String[]> rows(String list) throws IOException {
        List<String[]> rows = new ArrayList<>();
        for (String line : Files.readAllLines(Path.of(list))) {
            if (line.startsWith("|") && !line.equals(HEADER) && !line.equals(RULER)) {
                String[] cells = Arrays.stream(line.substring(1).split("\\|")).map(String::strip).toArray(String[]::new);
                assertEquals(COLUMNS, cells.length, line);
                rows.add(cells);
            }
        }
        return rows;
    }

    @ParameterizedTest
    @ValueSource(strings = {"CONFORMANCE.md", "CONFORMANCE-STREAM.md"})
    void shouldNameTestsThatExist(String list) throws IOException {
        for (String[] cells : rows(list)) {
            List<MatchResult> names = TEST_NAME.matcher(cells[3]).results().toList();
            assertTrue(!names.isEmpty(), () -> "no test: " + String.join(" | ", cells));
            for (MatchResult name : names) {
                assertTrue(isTest(name.group(1), name.group(2)), () -> "no such test: " + name.group());
            }
        }
    }

    private static boolean isTest(String className, String methodName) {
        return PACKAGES.stream().map(prefix -> find(prefix + className)).filter(found -> found != null)
                .flatMap(found -> Arrays.stream(found.getDeclaredMethods()))
                .anyMatch(method -> method.getName().equals(methodName) && isTest(method));
    }

    private static boolean isTest(Method method) {
        return method.isAnnotationPresent(Test.class) || method.isAnnotationPresent(ParameterizedTest.class);
    }

    private static Class<?> find(String className) {
        try {
            return Class.forName(className, false, ConformanceListTest.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            return null;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"CONFORMANCE.md", "CONFORMANCE-STREAM.md"})
    void shouldAnswerEveryRule(String list) throws IOException {
        for (String[] cells : rows(list)) {
            assertTrue(cells[0].matches("\\d+(\\.\\d+)*"), () -> "no section: " + cells[0]);
            assertTrue(!cells[1].isEmpty(), () -> "no rule: " + cells[0]);
            assertTrue(cells[2].matches("(Done|Not applicable)[.:,;] ?.*"), () -> "no answer: " + cells[1]);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"CONFORMANCE.md", "CONFORMANCE-STREAM.md"})
    void shouldCoverEverySpecification(String list) throws IOException {
        String text = Files.readString(Path.of(list));
        for (String specification : SPECIFICATIONS.get(list)) {
            assertTrue(Pattern.compile("^## " + specification + ".*\\n\\n.*?\\Q" + HEADER + "\\E\\n\\Q" + RULER + "\\E\\n\\| \\d",
                    Pattern.MULTILINE | Pattern.DOTALL).matcher(text).find(), specification);
        }
        Matcher count = Pattern.compile("(\\d+) rules").matcher(text);
        assertTrue(count.find(), "the number of rules");
        int rules = rows(list).size();
        assertEquals(rules, Integer.parseInt(count.group(1)), "the number of rules");
        assertTrue(Files.readAllLines(OVERVIEW).stream().anyMatch(line -> line.contains("](../netty-transport-rdma/" + list + ")")
                && line.endsWith(" | " + rules + " |")), () -> OVERVIEW + " does not say " + rules);
    }
}
