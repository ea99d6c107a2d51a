package org.nettyrdma.documentation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Holds the types that the modules export to the list in {@code api.txt}, so that none joins them unnoticed. */
class ExportedTypesTest {

    private static final Path PROJECT = Path.of("..");
    private static final List<String> MODULES =
            List.of("netty-transport-rdma", "netty-transport-rdma-iohandler", "handler-credit", "codec-rpcrdma");
    private static final List<String> USERS =
            List.of("example-nfs", "examples", "benchmarks", "transparency-tests", "stream-tests");
    private static final Pattern PACKAGE = Pattern.compile("(?m)^package ([\\w.]+);");
    private static final Pattern IMPORT = Pattern.compile("(?m)^import (?:static )?([a-z.]+)\\.[A-Z].*;");
    private static final Pattern EXPORT = Pattern.compile("(?m)^    exports ([\\w.]+);");
    private static final Pattern PUBLIC = Pattern.compile("(?m)^public ");
    /** The most of all types that may be exported; it may sink, and must not rise. */
    private static final int MOST_PERCENT = 35;

    @Test
    void shouldExportWhatIsListed() throws IOException {
        Set<String> exported = new TreeSet<>();
        for (String module : MODULES) {
            Path sources = PROJECT.resolve(module).resolve("src/main");
            Set<String> packages = exportedBy(module);
            for (Path type : typesOf(module)) {
                String name = nameOf(sources.resolve("java").relativize(type));
                if (packages.contains(name.substring(0, name.lastIndexOf('.')))
                        && PUBLIC.matcher(Files.readString(type)).find()) {
                    exported.add(name);
                }
            }
        }
        assertEquals(Files.readAllLines(PROJECT.resolve("api.txt")), List.copyOf(exported),
                "A type that joins or leaves the API is named in api.txt");
    }

    @Test
    void shouldExportASmallShareOfAllTypes() throws IOException {
        int types = 0;
        for (String module : MODULES) {
            types += typesOf(module).size();
        }
        int exported = Files.readAllLines(PROJECT.resolve("api.txt")).size();
        assertTrue(100 * exported <= MOST_PERCENT * types,
                exported + " of " + types + " types are exported, more than " + MOST_PERCENT + " %");
    }

    /** They are users: what they need, others need. A package of a library in their sources belongs to that library. */
    @Test
    void shouldExportWhatTheExampleAndTheBenchmarksNeed() throws IOException {
        Set<String> hidden = new TreeSet<>();
        for (String module : MODULES) {
            for (Path type : typesOf(module)) {
                String name = nameOf(PROJECT.resolve(module).resolve("src/main/java").relativize(type));
                hidden.add(name.substring(0, name.lastIndexOf('.')));
            }
            hidden.removeAll(exportedBy(module));
        }
        Set<String> needed = new TreeSet<>();
        for (String module : USERS) {
            for (Path file : typesIn(PROJECT.resolve(module).resolve("src"))) {
                String source = Files.readString(file);
                Matcher own = PACKAGE.matcher(source);
                if (own.find() && !hidden.contains(own.group(1))) {
                    IMPORT.matcher(source).results().filter(line -> hidden.contains(line.group(1)))
                            .forEach(line -> needed.add(file.getFileName() + ": " + line.group()));
                }
            }
        }
        assertEquals(Set.of(), needed);
    }

    private static Set<String> exportedBy(String module) throws IOException {
        return EXPORT.matcher(Files.readString(PROJECT.resolve(module).resolve("src/main/module/module-info.java"))).results()
                .map(result -> result.group(1)).collect(Collectors.toSet());
    }

    /** What a package is for, its entry class and its threads. */
    @Test
    void shouldDescribeEachPackage() throws IOException {
        for (String module : MODULES) {
            for (Path type : typesOf(module)) {
                assertTrue(Files.exists(type.resolveSibling("package-info.java")), () -> "no package-info beside " + type);
            }
        }
    }

    private static List<Path> typesOf(String module) throws IOException {
        return typesIn(PROJECT.resolve(module).resolve("src/main/java"));
    }

    private static List<Path> typesIn(Path sources) throws IOException {
        try (Stream<Path> files = Files.walk(sources)) {
            return files.filter(file -> file.toString().endsWith(".java") && !file.endsWith("package-info.java")).toList();
        }
    }

    private static String nameOf(Path file) {
        String name = file.toString();
        return name.substring(0, name.length() - ".java".length()).replace('/', '.');
    }
}
