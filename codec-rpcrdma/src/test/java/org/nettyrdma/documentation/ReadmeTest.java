package org.nettyrdma.documentation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the README shows must compile as it stands there. */
class ReadmeTest {

    private static final Pattern JAVA_BLOCK = Pattern.compile("```java\\R(.*?)```", Pattern.DOTALL);
    private static final Pattern CLASS_NAME = Pattern.compile("public final class (\\w+)");
    private static final int MAX_LINES = 20;

    @Test
    void shouldShowAServerAndAClientThatCompile(@TempDir Path classes) throws IOException {
        List<JavaFileObject> examples = new ArrayList<>();
        for (String source : javaBlocks()) {
            examples.add(new Source(source));
        }
        assertEquals(2, examples.size(), "a server and a client");

        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StringWriter messages = new StringWriter();
        boolean compiled = compiler.getTask(messages, null, null,
                List.of("-d", classes.toString(), "-classpath", System.getProperty("java.class.path"), "-Xlint:all", "-Werror"),
                null, examples).call();

        assertTrue(compiled, messages.toString());
    }

    @Test
    void shouldKeepTheExamplesShort() throws IOException {
        for (String source : javaBlocks()) {
            long lines = source.lines().filter(line -> !line.isBlank() && !line.startsWith("import ")).count();
            assertTrue(lines <= MAX_LINES, lines + " lines:\n" + source);
        }
    }

    private static List<String> javaBlocks() throws IOException {
        Matcher matcher = JAVA_BLOCK.matcher(Files.readString(Path.of("..", "README.md")));
        return matcher.results().map(result -> result.group(1)).collect(Collectors.toList());
    }

    private static final class Source extends SimpleJavaFileObject {

        private final String code;

        Source(String code) {
            super(URI.create("string:///" + className(code) + Kind.SOURCE.extension), Kind.SOURCE);
            this.code = code;
        }

        private static String className(String code) {
            Matcher matcher = CLASS_NAME.matcher(code);
            assertTrue(matcher.find(), code);
            return matcher.group(1);
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return code;
        }
    }
}
