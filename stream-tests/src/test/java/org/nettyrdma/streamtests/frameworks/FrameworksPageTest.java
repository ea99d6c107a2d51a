package org.nettyrdma.streamtests.frameworks;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The Java of docs/frameworks.md is that of the tests beside this one, word for word, so it compiles and runs. */
class FrameworksPageTest {

    private static final Path PAGE = Path.of("..", "docs", "frameworks.md");
    private static final Path SOURCES = Path.of("src", "test", "java", "org", "nettyrdma", "streamtests", "frameworks");
    private static final Pattern BLOCK = Pattern.compile("(?ms)^```java\n(.*?)^```$");
    private static final int BLOCKS = 19;

    @Test
    void shouldShowWhatTheTestsRun() throws IOException {
        List<String> blocks = BLOCK.matcher(Files.readString(PAGE)).results()
                .map(block -> withoutMargin(block.group(1))).toList();
        List<String> sources;
        try (Stream<Path> files = Files.list(SOURCES)) {
            sources = files.map(FrameworksPageTest::read).toList();
        }

        assertTrue(blocks.size() >= BLOCKS, blocks::toString);
        for (String block : blocks) {
            assertTrue(sources.stream().anyMatch(source -> source.contains(block)), "in no test:\n" + block);
        }
    }

    private static String read(Path file) {
        try {
            return withoutMargin(Files.readString(file));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The lines as they are, whatever stands before and behind them. */
    private static String withoutMargin(String text) {
        return text.strip().replaceAll("\\s*\n\\s*", "\n");
    }
}
