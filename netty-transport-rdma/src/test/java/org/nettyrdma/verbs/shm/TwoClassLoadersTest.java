package org.nettyrdma.verbs.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A JVM has the library twice, as where two web applications bring it along. Locks on files belong to the process of both. */
class TwoClassLoadersTest {

    private static final int ROUNDS = 300;

    @TempDir
    private Path temporary;

    private URLClassLoader loader;
    private ProcessDirectory here;
    private Object there;

    @BeforeEach
    void open() throws Exception {
        loader = new URLClassLoader(classPath(), ClassLoader.getPlatformClassLoader());
        here = ProcessDirectory.of(new ShmSettings(shared(), Set.of()));
        Constructor<?> settings = loader.loadClass(ShmSettings.class.getName()).getDeclaredConstructor(Path.class, Set.class);
        settings.setAccessible(true);
        Method of = method("of", settings.getDeclaringClass());
        there = of.invoke(null, settings.newInstance(shared(), Set.of()));
    }

    @AfterEach
    void close() throws Exception {
        method("forget").invoke(there);
        here.forget();
        loader.close();
    }

    @Test
    void shouldKeepTheLockThatSaysToOtherProcessesThatThisOneLives() throws Exception {
        Path file = Files.createFile(here.file(OwnBlocks.KIND, here.newNumber()));
        assertNotEquals(ProcessDirectory.class, there.getClass());
        Process other = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx64m", "-cp",
                System.getProperty("java.class.path"), TwoClassLoadersTest.class.getName(), shared().toString())
                .inheritIO().start();
        assertEquals(0, other.waitFor());
        assertTrue(Files.exists(file));
    }

    @Test
    void shouldWaitForTheOtherCopyThatLooksAtTheSharedDirectory() throws Exception {
        Method removeDead = method("removeDead");
        CompletableFuture<Void> others = CompletableFuture.runAsync(() -> {
            for (int i = 0; i < ROUNDS; i++) {
                try {
                    removeDead.invoke(there);
                } catch (ReflectiveOperationException e) {
                    throw new IllegalStateException(e);
                }
            }
        });
        for (int i = 0; i < ROUNDS; i++) {
            here.removeDead();
        }
        others.get(30, TimeUnit.SECONDS);
    }

    private Path shared() {
        return temporary.resolve("shm");
    }

    private Method method(String name, Class<?>... parameters) throws ReflectiveOperationException {
        Method method = loader.loadClass(ProcessDirectory.class.getName()).getDeclaredMethod(name, parameters);
        method.setAccessible(true);
        return method;
    }

    private static URL[] classPath() throws IOException {
        String[] paths = System.getProperty("java.class.path").split(File.pathSeparator);
        URL[] urls = new URL[paths.length];
        for (int i = 0; i < paths.length; i++) {
            urls[i] = Path.of(paths[i]).toUri().toURL();
        }
        return urls;
    }

    /** The other process, which removes files of processes that have ended. */
    public static void main(String[] arguments) throws IOException {
        ProcessDirectory.of(new ShmSettings(Path.of(arguments[0]), Set.of()));
    }
}
