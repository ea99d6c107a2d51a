package org.nettyrdma.verbs.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.nettyrdma.testing.Jvm;
import org.nettyrdma.verbs.VerbsContext;

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
        loader = newLoader();
        here = ProcessDirectory.of(new ShmSettings(shared(), Set.of()));
        Object settings = newSettings(loader, shared());
        there = method("of", settings.getClass()).invoke(null, settings);
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
        Process other = new ProcessBuilder(Jvm.command(List.of("-Xmx64m"), TwoClassLoadersTest.class, shared().toString()))
                .inheritIO().start();
        assertEquals(0, other.waitFor());
        assertTrue(Files.exists(file));
        try (var files = Files.list(shared())) {
            assertEquals(2, files.filter(each -> each.getFileName().toString().startsWith("i")).count(), "the other's is gone");
        }
    }

    @Test
    void shouldWaitForTheOtherCopyThatLooksAtTheSharedDirectory() throws Exception {
        Object sharedThere = method("shared").invoke(there);
        Method removeDead = sharedThere.getClass().getDeclaredMethod("removeDead");
        removeDead.setAccessible(true);
        CompletableFuture<Void> others = CompletableFuture.runAsync(() -> {
            for (int i = 0; i < ROUNDS; i++) {
                try {
                    removeDead.invoke(sharedThere);
                } catch (ReflectiveOperationException e) {
                    throw new IllegalStateException(e);
                }
            }
        });
        for (int i = 0; i < ROUNDS; i++) {
            here.shared().removeDead();
        }
        others.get(30, TimeUnit.SECONDS);
    }

    /** The JVM goes on, and what this library does at its end must not keep the class loader until then. */
    @Test
    @Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void shouldKeepNoClassLoaderWhoseEventLoopsHaveEndedAndWhoseMemoryWasGivenBack() throws Exception {
        WeakReference<ClassLoader> dropped = useAndDrop(temporary.resolve("dropped"));
        while (dropped.get() != null) {
            System.gc();
        }
    }

    private static WeakReference<ClassLoader> useAndDrop(Path directory) throws Exception {
        try (URLClassLoader loader = newLoader()) {
            Object settings = newSettings(loader, directory);
            Class<?> type = loader.loadClass(ShmProvider.class.getName());
            Constructor<?> constructor = type.getDeclaredConstructor(settings.getClass());
            constructor.setAccessible(true);
            Object provider = constructor.newInstance(settings);
            Object context = provider.getClass().getMethod("openContext").invoke(provider);
            Object memory = provider.getClass().getMethod("allocate", int.class).invoke(provider, 4096);
            loader.loadClass(VerbsContext.class.getName()).getMethod("close").invoke(context);
            provider.getClass().getMethod("free", ByteBuffer.class).invoke(provider, memory);
            return new WeakReference<>(loader);
        }
    }

    private static URLClassLoader newLoader() throws IOException {
        return new URLClassLoader(classPath(), ClassLoader.getPlatformClassLoader());
    }

    private static Object newSettings(ClassLoader loader, Path shared) throws ReflectiveOperationException {
        Constructor<?> settings = loader.loadClass(ShmSettings.class.getName()).getDeclaredConstructor(Path.class, Set.class);
        settings.setAccessible(true);
        return settings.newInstance(shared, Set.of());
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
