package org.nettyrdma.verbs.disni;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.ibm.disni.verbs.impl.NativeDispatcher;
import java.io.File;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** Where the native library comes from, each time in a process of its own: Java loads a library once. */
@EnabledIfSystemProperty(named = NativeLibraryTest.BUILT, matches = "true")
class NativeLoadingTest {

    private static final Path JAR = Path.of("target/native/jar").toAbsolutePath();
    private static final String NAME_IN_JAR = "libnettyrdma_disni_x86_64.so";
    private static final Path BUILT = JAR.resolve("META-INF/native").resolve(NAME_IN_JAR);

    @TempDir
    private Path directory;
    private Path work;

    /** Prints what class loaders of their own, one for each argument, say of the library, then the libraries of the process. */
    public static void main(String[] arguments) throws Exception {
        for (int i = 0; i < arguments.length; i++) {
            // Never closed: each library stays.
            ClassLoader loader = new URLClassLoader(classPath(), ClassLoader.getPlatformClassLoader());
            Class<?> library = loader.loadClass(NativeLibrary.class.getName());
            Throwable cause = (Throwable) call(library, "unavailabilityCause");
            System.out.println(cause != null ? cause.getMessage() : "extensions: " + call(library, "hasExtensions"));
        }
        try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
            maps.filter(line -> line.contains("disni") && line.contains(" r-xp ") && line.contains(".so"))
                    .forEach(line -> System.out.println("mapped: " + line.substring(line.indexOf('/'))));
        }
    }

    private static URL[] classPath() throws MalformedURLException {
        List<URL> urls = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            urls.add(Path.of(entry).toUri().toURL());
        }
        return urls.toArray(new URL[0]);
    }

    private static Object call(Class<?> library, String name) throws ReflectiveOperationException {
        Method method = library.getDeclaredMethod(name);
        method.setAccessible(true);
        return method.invoke(null);
    }

    @BeforeEach
    void makeFolders() throws IOException {
        work = Files.createDirectory(directory.resolve("work"));
        Files.createDirectory(directory.resolve("path"));
    }

    /** Runs {@link #main}; {@code jar} takes the place of the jar with the library. */
    private List<String> run(Path jar, int loaders, String... options) throws Exception {
        List<String> command = new ArrayList<>(List.of(ProcessHandle.current().info().command().orElseThrow(), "-Xmx64m",
                "-XX:+UseSerialGC", "-Dio.netty.native.workdir=" + work));
        command.addAll(List.of(options));
        String classPath = System.getProperty("java.class.path").replace(JAR.toString(), jar.toString());
        command.addAll(List.of("-cp", classPath, NativeLoadingTest.class.getName()));
        for (int i = 0; i < loaders; i++) {
            command.add("again");
        }
        Process process = new ProcessBuilder(command).redirectError(directory.resolve("errors").toFile()).start();
        List<String> lines = process.inputReader(StandardCharsets.UTF_8).lines().toList();
        assertEquals(0, process.waitFor(), () -> String.join("\n", lines));
        try (Stream<Path> left = Files.list(work)) {
            assertEquals(List.of(), left.toList(), "left behind");
        }
        return lines;
    }

    /** A copy of the library in which one text has become another. */
    private void changed(Path target, String text, String other) throws IOException {
        String bytes = Files.readString(BUILT, StandardCharsets.ISO_8859_1);
        assertTrue(bytes.contains(text) && text.length() == other.length());
        Files.createDirectories(target.getParent());
        Files.writeString(target, bytes.replace(text, other), StandardCharsets.ISO_8859_1);
    }

    private Path onLibraryPath() {
        return directory.resolve("path/libdisni.so");
    }

    private String libraryPath() {
        return "-Djava.library.path=" + directory.resolve("path");
    }

    @Test
    void shouldTakeTheLibraryOutOfTheJarAndRemoveTheFile() throws Exception {
        List<String> lines = run(JAR, 1);
        assertEquals("extensions: true", lines.get(0));
        assertEquals(2, lines.size(), lines::toString);
        assertTrue(lines.get(1).startsWith("mapped: " + work + "/libnettyrdma_disni_x86_64"), lines::toString);
        assertTrue(lines.get(1).endsWith("(deleted)"), lines::toString);
    }

    @Test
    void shouldPreferTheLibraryPath() throws Exception {
        Files.copy(BUILT, onLibraryPath());
        assertEquals(List.of("extensions: true", "mapped: " + onLibraryPath()), run(JAR, 1, libraryPath()));
    }

    @Test
    void shouldPreferTheFileThatThePropertyNames() throws Exception {
        Path named = Files.copy(BUILT, directory.resolve("libdisni-of-mine.so"));
        Files.copy(BUILT, onLibraryPath());
        assertEquals(List.of("extensions: true", "mapped: " + named), run(JAR, 1, libraryPath(), property(named)));
    }

    private static String property(Path file) {
        return "-D" + LibraryFile.PROPERTY + '=' + file;
    }

    @Test
    void shouldSayWhereThePropertyIsWrong() throws Exception {
        String message = run(JAR, 1, property(directory.resolve("none.so"))).get(0);
        assertTrue(message.contains("none.so"), message);
    }

    @Test
    void shouldNotHideALibraryOnThePathThatCannotBeLoaded() throws Exception {
        Files.writeString(onLibraryPath(), "no library");
        List<String> lines = run(JAR, 1, libraryPath());
        assertEquals(1, lines.size(), lines::toString);
        assertTrue(lines.get(0).contains(onLibraryPath().toString()), lines::toString);
    }

    @Test
    void shouldNameTheMissingLibraryOfTheSystemInOneLine() throws Exception {
        for (String missing : List.of("libibverbs.so.1", "librdmacm.so.1")) {
            Path jar = directory.resolve(missing);
            changed(jar.resolve("META-INF/native").resolve(NAME_IN_JAR), missing, missing.replace(".1", ".9"));
            List<String> lines = run(jar, 1);
            assertEquals(1, lines.size(), lines::toString);
            assertTrue(lines.get(0).contains("apt install libibverbs1 librdmacm1"), lines::toString);
            assertTrue(lines.get(0).contains(missing.replace(".1", ".9")), lines::toString);
        }
    }

    @Test
    void shouldTakeUpstreamsLibraryFromTheLibraryPathAlone() throws Exception {
        changed(onLibraryPath(), "Java_org_nettyrdma", "Java_org_elsewhere");
        assertEquals("extensions: false", run(JAR, 1, libraryPath()).get(0));
        String message = run(JAR, 1, property(onLibraryPath())).get(0);
        assertTrue(message.contains("java.library.path alone"), message);
    }

    @Test
    void shouldServeOneClassLoaderOnly() throws Exception {
        List<String> lines = run(JAR, 2);
        assertEquals("extensions: true", lines.get(0));
        assertTrue(lines.get(1).contains("into one class loader"), lines::toString);
    }

    @Test
    void shouldHaveEveryNativeMethodOfDisni() throws Exception {
        String library = Files.readString(BUILT, StandardCharsets.ISO_8859_1);
        List<String> methods = Stream.of(NativeDispatcher.class.getDeclaredMethods())
                .filter(method -> Modifier.isNative(method.getModifiers())).map(Method::getName).toList();
        assertFalse(methods.isEmpty());
        for (String method : methods) {
            String name = '\0' + "Java_com_ibm_disni_verbs_impl_NativeDispatcher_" + method.replace("_", "_1") + '\0';
            assertTrue(library.contains(name), name);
        }
    }
}
