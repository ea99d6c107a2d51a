package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * The table of versions in docs/migrating.md says what the transport accepts, what the build has, and what the complete run
 * tests.
 */
class SupportedVersionsTest {

    private static final Path ROOT = Path.of("..");

    @Test
    void shouldTellTheSeriesOfNettyThatAreAccepted() throws IOException {
        List<MatchResult> rows = rows("\\| Netty (\\d\\.\\d) \\| (\\S+) \\| ((\\d\\.\\d)\\.(\\d+)\\.Final) and newer \\|");

        assertEquals(NettyVersion.LOWEST_PATCH_LEVELS.size(), rows.size());
        for (MatchResult row : rows) {
            int lowest = Integer.parseInt(row.group(5));
            assertEquals(row.group(1), row.group(4));
            assertEquals(lowest, NettyVersion.LOWEST_PATCH_LEVELS.get(row.group(1)));
            assertNull(NettyVersion.refusal(Set.of("netty-buffer=" + row.group(3))));
            assertNull(NettyVersion.refusal(Set.of("netty-buffer=" + row.group(2))));
            if (lowest > 0) {
                assertNotNull(NettyVersion.refusal(Set.of("netty-buffer=" + row.group(1) + '.' + (lowest - 1) + ".Final")));
            }
        }
    }

    @Test
    void shouldTestTheVersionsOfNetty() throws IOException {
        String build = Files.readString(ROOT.resolve("pom.xml"));
        String run = Files.readString(ROOT.resolve(".ci").resolve("run"));
        List<MatchResult> rows = rows("\\| Netty 4\\.(\\d) \\| (\\S+) \\| (\\S+) and newer \\|");

        assertEquals(2, rows.size());
        assertTrue(build.contains("<netty.version>" + rows.get(0).group(2) + "</netty.version>"), rows.get(0)::group);
        assertTrue(build.contains("<name>netty.version</name><value>" + rows.get(1).group(2) + "</value>"), rows.get(1)::group);
        assertTrue(run.contains("\nmvn -B -ntp verify\n"), run);
        String other = "-Dnetty.version=" + rows.get(1).group(2) + " -Dmaven.main.skip ";
        assertTrue(run.contains("[[ -z $newest ]] || export JAVA_HOME=$newest\n    mvn -B -ntp verify " + other), run);
        assertTrue(run.contains("for version in " + rows.get(0).group(3) + ' ' + rows.get(1).group(3) + "; do\n"), run);
        assertTrue(run.contains("\n    mvn -B -ntp test " + other), run);
        assertTrue(run.contains("\n    JAVA_HOME=$newest mvn -B -ntp clean test "), run);
    }

    @Test
    void shouldTestTheVersionsOfJava() throws IOException {
        MatchResult row = rows("\\| JDK \\| (\\d+) and (\\d+) \\| (\\d+) and newer \\|").get(0);
        String build = Files.readString(ROOT.resolve("pom.xml"));
        String run = Files.readString(ROOT.resolve(".ci").resolve("run"));

        assertEquals(row.group(1), row.group(3));
        assertTrue(build.contains("<maven.compiler.release>" + row.group(1) + "</maven.compiler.release>"), row::group);
        assertTrue(build.contains("<requireJavaVersion><version>[" + row.group(1) + ",)</version>"), row::group);
        assertTrue(run.contains("/usr/lib/jvm/*" + row.group(2) + "*/bin/javac"), run);
    }

    private static List<MatchResult> rows(String pattern) throws IOException {
        Matcher matcher = Pattern.compile(pattern).matcher(Files.readString(ROOT.resolve("docs").resolve("migrating.md")));
        List<MatchResult> rows = matcher.results().toList();
        assertTrue(!rows.isEmpty(), pattern);
        return rows;
    }
}
