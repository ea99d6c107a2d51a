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
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** README and the pages are short enough to be read, their links lead somewhere, and their Java compiles as it stands there. */
class DocumentsTest {

    private static final Pattern CLASS_NAME = Pattern.compile("public final class (\\w+)");
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");
    private static final Pattern EXPORT = Pattern.compile("(?m)^ *exports ([\\w.]+);");
    private static final Pattern FIGURES = Pattern.compile("\\|.*\\d (µs|GB/s) \\||\\| \\d+,\\d{3} \\|");
    private static final Pattern NUMBER = Pattern.compile("\\d+(\\.\\d+)?");
    private static final int MAX_COLUMNS = 120;
    private static final int MAX_README_LINES = 150;
    private static final int MAX_PROGRAM_LINES = 20;
    private static final int MAX_README_PROGRAM_LINES = 11;

    static List<Path> documents() throws IOException {
        return Documents.all();
    }

    static List<Path> pages() throws IOException {
        return Documents.pages();
    }

    @Test
    void shouldKeepReadmeShort() throws IOException {
        assertTrue(Files.readAllLines(Documents.README).size() <= MAX_README_LINES);
    }

    @ParameterizedTest
    @MethodSource("documents")
    void shouldKeepLinesShort(Path document) throws IOException {
        List<String> lines = Files.readAllLines(document);

        assertEquals(List.of(), lines.stream().filter(line -> line.codePointCount(0, line.length()) > MAX_COLUMNS).toList());
    }

    @ParameterizedTest
    @MethodSource("pages")
    void shouldOpenWithWhatThePageAnswers(Path page) throws IOException {
        List<String> lines = Files.readAllLines(page);

        assertTrue(lines.get(0).startsWith("# "), lines.get(0));
        assertEquals("This page answers:", lines.get(2));
        assertTrue(lines.get(4).startsWith("- "), lines.get(4));
    }

    @ParameterizedTest
    @MethodSource("pages")
    void shouldBeFoundFromReadme(Path page) throws IOException {
        assertTrue(links(Documents.README).contains("docs/" + page.getFileName()), page::toString);
    }

    @ParameterizedTest
    @MethodSource("documents")
    void shouldLinkToWhatIsThere(Path document) throws IOException {
        List<String> broken = new ArrayList<>();
        for (String link : links(document)) {
            if (link.startsWith("https://")) {
                continue;
            }
            int hash = link.indexOf('#');
            String file = hash < 0 ? link : link.substring(0, hash);
            Path target = file.isEmpty() ? document : document.resolveSibling(file);
            if (!Files.exists(target) || hash >= 0 && !anchors(target).contains(link.substring(hash + 1))) {
                broken.add(link);
            }
        }
        assertEquals(List.of(), broken);
    }

    /** README shows a few of the figures that the page about them explains, and no others. */
    @Test
    void shouldShowFiguresOfThePageAboutThem() throws IOException {
        String page = Files.readString(Documents.PAGES.resolve("numbers.md"));
        List<String> rows = Documents.prose(Documents.README).stream().filter(line -> FIGURES.matcher(line).find()).toList();

        assertTrue(rows.size() >= 4, rows::toString);
        for (String row : rows) {
            for (MatchResult figure : NUMBER.matcher(row.replace(",", "")).results().toList()) {
                assertTrue(Pattern.compile("\\b" + Pattern.quote(figure.group()) + "\\b").matcher(page).find(), row);
            }
        }
    }

    private static List<String> links(Path document) throws IOException {
        return LINK.matcher(String.join("\n", Documents.prose(document))).results().map(link -> link.group(1)).toList();
    }

    /** As GitHub makes them of headings. */
    private static Set<String> anchors(Path document) throws IOException {
        return Documents.prose(document).stream().filter(line -> line.startsWith("#"))
                .map(line -> line.replaceFirst("#+ ", "").toLowerCase().replaceAll("[^\\p{L}\\p{N} _-]", "").replace(' ', '-'))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void shouldShowAServerAndAClient() throws IOException {
        assertEquals(List.of("EchoServer", "EchoClient"), classNames(DocumentedPrograms.sources()));
        assertEquals(List.of("EchoServer"), classNames(DocumentedPrograms.programs(Documents.README)));
    }

    @Test
    void shouldKeepTheProgramsShort() throws IOException {
        for (String source : DocumentedPrograms.sources()) {
            assertTrue(lines(source) <= MAX_PROGRAM_LINES, source);
        }
        for (String source : DocumentedPrograms.programs(Documents.README)) {
            assertTrue(lines(source) <= MAX_README_PROGRAM_LINES, source);
        }
    }

    private static long lines(String source) {
        return source.lines().filter(line -> !line.isBlank() && !line.startsWith("import ")).count();
    }

    @ParameterizedTest
    @MethodSource("documents")
    void shouldShowJavaThatCompiles(Path document, @TempDir Path classes) throws IOException {
        if (document.endsWith("frameworks.md")) {
            return; // stream-tests has the frameworks, and FrameworksPageTest there holds the page to tests that run
        }
        List<JavaFileObject> examples = new ArrayList<>();
        for (Documents.Block block : Documents.blocks(document, "java")) {
            String program = CLASS_NAME.matcher(block.text()).find() ? block.text() : asProgram(block.text(), examples.size());
            examples.add(new Source(program));
        }
        if (examples.isEmpty()) {
            return;
        }
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StringWriter messages = new StringWriter();
        boolean compiled = compiler.getTask(messages, null, null,
                List.of("-d", classes.toString(), "-classpath", System.getProperty("java.class.path"), "-Xlint:all", "-Werror"),
                null, examples).call();

        assertTrue(compiled, messages.toString());
    }

    /** A few statements as a method that knows all exported packages, and what the prose around them takes for granted. */
    private static String asProgram(String statements, int number) throws IOException {
        Set<String> packages = new TreeSet<>(Set.of("io.netty.bootstrap", "io.netty.buffer", "io.netty.channel",
                "io.micrometer.core.instrument", "java.util"));
        for (Path descriptor : descriptors()) {
            EXPORT.matcher(Files.readString(descriptor)).results().map(export -> export.group(1)).forEach(packages::add);
        }
        return packages.stream().map(name -> "import " + name + ".*;\n").collect(Collectors.joining())
                + "public final class Fragment" + number + " {\n"
                + "void run(Channel channel, RpcProgram program, RpcProgram callbacks, MeterRegistry registry)\n"
                + "        throws Exception {\n"
                + statements + "}\n}\n";
    }

    private static List<Path> descriptors() throws IOException {
        List<Path> descriptors = new ArrayList<>();
        for (String module : List.of("netty-transport-rdma", "handler-credit", "codec-rpcrdma")) {
            try (Stream<Path> files = Files.walk(Documents.ROOT.resolve(module).resolve("src/main"))) {
                files.filter(file -> file.endsWith("module-info.java")).forEach(descriptors::add);
            }
        }
        assertEquals(3, descriptors.size(), descriptors::toString);
        return descriptors;
    }

    private static List<String> classNames(List<String> programs) {
        return programs.stream().map(DocumentsTest::className).toList();
    }

    private static String className(String code) {
        Matcher matcher = CLASS_NAME.matcher(code);
        assertTrue(matcher.find(), code);
        return matcher.group(1);
    }

    /** A picture that a page shows has an alternative text, and there is none that no page shows. */
    @Test
    void shouldShowAllPictures() throws IOException {
        Set<String> shown = new TreeSet<>();
        for (Path document : Documents.all()) {
            Pattern.compile("!\\[([^]]+)]\\(\\S*pictures/(\\w[\\w-]*)\\.svg\\)").matcher(Files.readString(document)).results()
                    .map((MatchResult picture) -> picture.group(2)).forEach(shown::add);
        }
        Set<String> sources = TextPicture.sources(Documents.PAGES.resolve("pictures")).stream()
                .map(file -> file.getFileName().toString().replace(".txt", "")).collect(Collectors.toCollection(TreeSet::new));

        assertEquals(sources, shown);
    }

    private static final class Source extends SimpleJavaFileObject {

        private final String code;

        Source(String code) {
            super(URI.create("string:///" + className(code) + Kind.SOURCE.extension), Kind.SOURCE);
            this.code = code;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return code;
        }
    }
}
