package org.nettyrdma.streamtests.testsuite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.testsuite.transport.AbstractComboTestsuiteTest;
import io.netty.testsuite.transport.AbstractSingleThreadEventLoopTest;
import io.netty.testsuite.transport.AbstractTestsuiteTest;
import io.netty.testsuite.transport.socket.SocketEchoTest;
import java.io.File;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;

/** Each socket test of Netty's suite is run over the stream, or stands in README.md of this module with the reason. */
class SuiteListTest {

    private static final Pattern CLASS = Pattern.compile("io/netty/testsuite/transport/socket/((?!Datagram)\\w+Test)\\.class");
    private static final Pattern ROW = Pattern.compile("(?m)^\\| `(\\w+)\\.(\\w+)` \\|");
    /** Netty's own subclass of a class whose peer is a socket, and tests of a limit of the system. */
    private static final Set<String> NO_SUITE = Set.of("SocketShutdownOutputByPeerTest", "AbstractSocketReuseFdTest");
    private static final int EVENT_LOOP_TESTS = 10;
    /** In the suites of Netty 4.1 and 4.2. */
    private static final Set<Integer> TESTS = Set.of(82, 83);
    private static final int NOT_RUN = 8;

    @Test
    void shouldRunAllTestsButThoseThatAreListed() throws Exception {
        Set<String> others = new TreeSet<>();
        int all = 0;
        for (Class<?> suite : suites()) {
            Class<?> ours = find(suite.getSimpleName().replaceFirst("^(AbstractSocket|Socket|)", "Stream"));
            assertTrue(ours == null || suite.isAssignableFrom(ours), suite::getName);
            for (Method test : tests(suite)) {
                all++;
                if (ours == null
                        || ours.getMethod(test.getName(), test.getParameterTypes()).isAnnotationPresent(Disabled.class)) {
                    others.add(suite.getSimpleName() + '.' + test.getName());
                }
            }
        }

        assertEquals(listed(), others);
        assertEquals(NOT_RUN, others.size());
        assertTrue(TESTS.contains(all), "tests: " + all);
    }

    @Test
    void shouldRunAllTestsOfEventLoops() {
        List<Method> tests = tests(AbstractSingleThreadEventLoopTest.class).stream()
                .filter(test -> !test.getName().matches(".*(AutoScaling|SuspendedExecutor).*")).toList();

        assertEquals(EVENT_LOOP_TESTS, tests.size());
        assertEquals(List.of(), tests(StreamEventLoopTest.class));
        assertEquals(List.of(), tests(MessageEventLoopTest.class));
    }

    private static Set<String> listed() throws IOException {
        return ROW.matcher(Files.readString(Path.of("README.md"))).results().map(row -> row.group(1) + '.' + row.group(2))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static List<Class<?>> suites() throws Exception {
        List<Class<?>> suites = new ArrayList<>();
        File jar = new File(SocketEchoTest.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        try (JarFile file = new JarFile(jar)) {
            for (String name : file.stream().map(Object::toString).filter(CLASS.asMatchPredicate()).toList()) {
                Class<?> suite = Class.forName(name.replace('/', '.').replaceFirst("\\.class$", ""), false,
                        SuiteListTest.class.getClassLoader());
                if (takesAnyChannel(suite) && !NO_SUITE.contains(suite.getSimpleName())) {
                    suites.add(suite);
                }
            }
        }
        return suites;
    }

    private static boolean takesAnyChannel(Class<?> suite) {
        return AbstractTestsuiteTest.class.isAssignableFrom(suite) || AbstractComboTestsuiteTest.class.isAssignableFrom(suite);
    }

    private static List<Method> tests(Class<?> type) {
        return Arrays.stream(type.getDeclaredMethods())
                .filter(method -> method.isAnnotationPresent(Test.class) || method.isAnnotationPresent(ParameterizedTest.class))
                .toList();
    }

    private static Class<?> find(String name) {
        try {
            return Class.forName(SuiteListTest.class.getPackageName() + '.' + name, false, SuiteListTest.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            return null;
        }
    }
}
