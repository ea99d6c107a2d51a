package org.nettyrdma.documentation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import java.io.IOException;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What {@code META-INF/native-image} of each library tells GraalVM: all that is named exists, and all that the libraries find by
 * reflection, as services and as resources is named. No image is built.
 */
class NativeImageMetadataTest {

    private static final List<String> MODULES = List.of("netty-transport-rdma", "handler-credit", "codec-rpcrdma");
    /** Each stands on a line of its own. */
    private static final Pattern ENTRY = Pattern.compile("(?m)^ *\\{\"name\": \"([\\w.$]+)\", (.*)}[,\\n]");
    private static final Pattern FIELDS =
            Pattern.compile("\"fields\": \\[\\{\"name\": \"(\\w+)\"}(?:, \\{\"name\": \"(\\w+)\"})*]");
    private static final Pattern NAME = Pattern.compile("\\{\"name\": \"(\\w+)\"}");
    private static final Pattern UPDATER = Pattern.compile("FieldUpdater\\.newUpdater\\((\\w+)\\.class, \"(\\w+)\"\\)");
    private static final Pattern HANDLE = Pattern.compile(" = handleOf\\(\"(\\w+)\"\\)");
    private static final Pattern REFLECTION = Pattern.compile("Class\\.forName\\(|\\.getDeclared"
            + "|\\.newUpdater\\(|\\.findVarHandle\\("
            + "|\\.findVirtual\\(|\\.findStatic\\(|\\.getMethod\\(|\\.getField\\(|\\.getResource"
            + "|ServiceLoader\\.load\\(|newProxyInstance");

    /** A type of a library's metadata, and what is said of it. */
    private record Entry(String type, String said) {

        List<String> fields() {
            return FIELDS.matcher(said).find() ? NAME.matcher(said.substring(said.indexOf("\"fields\""))).results()
                    .map(match -> match.group(1)).toList() : List.of();
        }

        boolean hasConstructor() {
            return said.contains("\"methods\": [{\"name\": \"<init>\", \"parameterTypes\": []}]");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"netty-transport-rdma", "handler-credit", "codec-rpcrdma"})
    void shouldNameWhatIsThere(String module) throws Exception {
        for (Entry entry : entries(module)) {
            if (entry.type.startsWith("com.ibm.disni.")) {
                continue; // only who has a device has it; see shouldKnowAllReflection
            }
            Class<?> type = Class.forName(entry.type, false, getClass().getClassLoader());
            for (String field : entry.fields()) {
                type.getDeclaredField(field);
            }
            if (entry.hasConstructor()) {
                type.getDeclaredConstructor();
            }
            assertTrue(entry.said.endsWith("\"condition\": {\"typeReachable\": \"" + entry.type + "\"}")
                    || entry.type.startsWith("sun.misc."), entry::toString);
        }
    }

    /** Netty asks each handler which of its methods it may skip, and makes channels by their constructor. */
    @ParameterizedTest
    @ValueSource(strings = {"netty-transport-rdma", "handler-credit", "codec-rpcrdma"})
    void shouldNameHandlersAndChannels(String module) throws Exception {
        Set<String> handlers = new TreeSet<>();
        Set<String> channels = new TreeSet<>();
        Path classes = Documents.ROOT.resolve(module).resolve("target/classes");
        for (Path file : files(classes, ".class")) {
            String name = classes.relativize(file).toString().replace('/', '.').replaceFirst("\\.class$", "");
            if (name.endsWith("-info") || name.contains(".disni.")) {
                continue;
            }
            Class<?> type = Class.forName(name, false, getClass().getClassLoader());
            if (ChannelHandler.class.isAssignableFrom(type) && !type.isInterface()) {
                handlers.add(name);
            }
            if (Channel.class.isAssignableFrom(type) && Modifier.isPublic(type.getModifiers())
                    && !Modifier.isAbstract(type.getModifiers())) { // bootstraps take the class of a public one
                channels.add(name);
            }
        }
        List<Entry> entries = entries(module);
        assertEquals(handlers, types(entries.stream().filter(entry -> entry.said.contains("\"queryAllPublicMethods\": true"))));
        assertEquals(channels, types(entries.stream()
                .filter(entry -> entry.hasConstructor() && entry.type.startsWith("org.nettyrdma.channel."))));
    }

    @Test
    void shouldNameFieldsThatAreFoundByName() throws IOException {
        for (String module : MODULES) {
            Set<String> found = new TreeSet<>();
            for (Path source : sources(module)) {
                String text = Files.readString(source);
                String own = source.getFileName().toString().replace(".java", "");
                UPDATER.matcher(text).results().forEach(match -> found.add(
                        (match.group(1).equals(own) ? own : own + '$' + match.group(1)) + '.' + match.group(2)));
                HANDLE.matcher(text).results().forEach(match -> found.add(own + '.' + match.group(1)));
            }
            Set<String> named = new TreeSet<>();
            for (Entry entry : entries(module)) {
                if (entry.type.startsWith("org.nettyrdma.")) {
                    String type = entry.type.substring(entry.type.lastIndexOf('.') + 1);
                    entry.fields().forEach(field -> named.add(type + '.' + field));
                }
            }
            assertEquals(found, named, module);
        }
    }

    @Test
    void shouldNameServices() throws IOException {
        for (String module : MODULES) {
            Path services = Documents.ROOT.resolve(module).resolve("src/main/resources/META-INF/services");
            if (!Files.exists(services)) {
                continue;
            }
            for (Path service : files(services, "")) {
                String quoted = "\\\\QMETA-INF/services/" + service.getFileName() + "\\\\E";
                assertTrue(resources(module).contains(quoted), quoted);
                Set<String> named = types(entries(module).stream().filter(Entry::hasConstructor));
                for (String provider : Files.readAllLines(service)) {
                    assertTrue(named.contains(provider), provider);
                }
            }
        }
    }

    /** A class that begins to use reflection is looked at, and what it finds is named. */
    @Test
    void shouldKnowAllReflection() throws IOException {
        Set<String> found = new TreeSet<>();
        for (String module : MODULES) {
            for (Path source : sources(module)) {
                if (REFLECTION.matcher(Files.readString(source)).find()) {
                    found.add(source.getFileName().toString().replace(".java", ""));
                }
            }
        }
        assertEquals(Set.of("BlockStack", "CreditWindow", "DirectMemory", "DisniProvider", "LibraryFile", "NativeLibrary",
                "NativeVerbs", "NettyVersion", "Rdma", "RegisteredByteBuf", "RpcCall", "ServedCall"), found);
        Set<String> named = types(entries("netty-transport-rdma").stream());
        assertTrue(named.containsAll(Set.of("sun.misc.Unsafe", "com.ibm.disni.verbs.RdmaVerbs",
                "com.ibm.disni.verbs.impl.NativeDispatcher")), named::toString);
        assertTrue(resources("netty-transport-rdma").contains("\\\\QMETA-INF/native/libnettyrdma_disni_\\\\E"));
        assertTrue(resources("netty-transport-rdma").contains("\\\\QMETA-INF/io.netty.versions.properties\\\\E"));
    }

    private static Set<String> types(Stream<Entry> entries) {
        return entries.map(Entry::type).collect(Collectors.toCollection(TreeSet::new));
    }

    private static List<Entry> entries(String module) throws IOException {
        String text = Files.readString(metadata(module).resolve("reflect-config.json"));
        List<Entry> entries = new ArrayList<>();
        for (MatchResult match : ENTRY.matcher(text).results().toList()) {
            entries.add(new Entry(match.group(1), match.group(2)));
        }
        assertEquals(text.lines().count() - 2, entries.size(), "lines that are no entries: " + module);
        return entries;
    }

    private static String resources(String module) throws IOException {
        return Files.readString(metadata(module).resolve("resource-config.json"));
    }

    private static Path metadata(String module) {
        return Documents.ROOT.resolve(module).resolve("src/main/resources/META-INF/native-image/org.nettyrdma").resolve(module);
    }

    private static List<Path> sources(String module) throws IOException {
        return files(Documents.ROOT.resolve(module).resolve("src/main/java"), ".java");
    }

    private static List<Path> files(Path directory, String suffix) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.filter(file -> Files.isRegularFile(file) && file.toString().endsWith(suffix)).toList();
        }
    }
}
