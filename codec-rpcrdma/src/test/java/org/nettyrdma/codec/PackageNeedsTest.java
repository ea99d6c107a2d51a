package org.nettyrdma.codec;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.nettyrdma.codec.oncrpc.RpcClient;

/** What packages need of this project, in their compiled form. */
class PackageNeedsTest {

    private static final Pattern NEED = Pattern.compile("\\s+(org\\.nettyrdma\\.\\S+)\\s+->\\s+(org\\.nettyrdma\\.\\S+).*");

    private static final String LEGACY = "org.nettyrdma.codec.rpcrdma.legacy";

    @Test
    void shouldNeedNothingOfRdmaForOncRpc() throws Exception {
        Set<String> needed = needs().filter(need -> need.group(1).startsWith("org.nettyrdma.codec.oncrpc"))
                .map(need -> need.group(2)).filter(name -> !name.startsWith("org.nettyrdma.codec.oncrpc"))
                .collect(Collectors.toCollection(TreeSet::new));

        assertEquals(Set.of("org.nettyrdma.handler.credit", "org.nettyrdma.handler.credit.support", "org.nettyrdma.peer"),
                needed);
    }

    @Test
    void shouldNeedTheOldestFormOnlyWhereItIsInstalled() throws Exception {
        Set<String> needing = needs().filter(need -> need.group(2).startsWith(LEGACY)).map(need -> need.group(1))
                .filter(name -> !name.startsWith(LEGACY)).collect(Collectors.toCollection(TreeSet::new));

        assertEquals(Set.of("org.nettyrdma.codec.rpcrdma"), needing);
    }

    /** The package that needs, then the one that is needed. */
    private static Stream<MatchResult> needs() throws Exception {
        Path classes = Path.of(RpcClient.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        StringWriter output = new StringWriter();
        PrintWriter writer = new PrintWriter(output);

        assertEquals(0, ToolProvider.findFirst("jdeps").orElseThrow()
                .run(writer, writer, "-verbose:package", "-filter:none", classes.toString()));

        return output.toString().lines().map(NEED::matcher).filter(Matcher::matches).map(Matcher::toMatchResult);
    }
}
