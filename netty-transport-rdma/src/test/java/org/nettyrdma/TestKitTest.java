package org.nettyrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.Member;
import java.lang.reflect.Modifier;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.nettyrdma.testkit.RdmaTransportContract;
import org.nettyrdma.testkit.TestAddress;
import org.nettyrdma.testkit.VerbsContract;

/** The test kit is an artifact of its own: what it consists of must do without the other tests. */
class TestKitTest {

    private static final String KIT = "org.nettyrdma.testkit.";
    private static final Pattern NEED = Pattern.compile("\\s+" + Pattern.quote(KIT) + "\\S+\\s+->\\s+(\\S+)\\s+(\\S.*)");

    @Test
    void shouldNeedNothingOfTheOtherTests() throws Exception {
        Path tests = Path.of(VerbsContract.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        StringWriter output = new StringWriter();
        PrintWriter writer = new PrintWriter(output);
        ToolProvider.findFirst("jdeps").orElseThrow().run(writer, writer, "-verbose:class", "-filter:none", tests.toString());
        Set<String> needed = new TreeSet<>();
        for (String line : output.toString().split("\\R")) {
            Matcher need = NEED.matcher(line);
            if (need.matches() && need.group(2).equals(tests.getFileName().toString())) {
                needed.add(need.group(1));
            }
        }
        assertTrue(needed.contains(TestAddress.class.getName()), needed::toString);
        assertEquals(List.of(), needed.stream().filter(type -> !type.startsWith(KIT)).toList());
    }

    /** Somebody outside sees only what is public or protected. */
    @Test
    void shouldAskForOneMethodOnly() {
        for (Class<?> contract : List.of(VerbsContract.class, RdmaTransportContract.class)) {
            assertTrue(Modifier.isPublic(contract.getModifiers()));
            List<String> open = Stream.of(contract.getDeclaredMethods())
                    .filter(method -> Modifier.isAbstract(method.getModifiers()))
                    .map(Member::getName).toList();
            assertEquals(List.of("provider"), open);
        }
    }
}
