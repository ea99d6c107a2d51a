package org.nettyrdma.verbs.disni;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;

/** The provider where it cannot be used. */
class DisniProviderTest {

    @Test
    void shouldSayWhatIsMissingWithoutADevice() {
        assumeTrue(SystemDevices.names().isEmpty(), "this machine has a device");
        DisniProvider provider = new DisniProvider();
        Throwable cause = provider.unavailabilityCause();
        assertTrue(cause.getMessage().contains("no RDMA device") && cause.getMessage().contains("rdma link"), cause.getMessage());
        assertSame(cause, provider.unavailabilityCause());
        assertTrue(assertThrows(IllegalStateException.class, provider::capabilities).getMessage().contains("no RDMA device"));
        assertThrows(IllegalStateException.class, provider::openContext);
    }

    @Test
    void shouldLoadWithoutTheJarOfDisni() throws Exception {
        try (URLClassLoader loader = withoutDisni()) {
            assertThrows(ClassNotFoundException.class, () -> loader.loadClass("com.ibm.disni.verbs.IbvQP"));
            Class<?> providerType = loader.loadClass("org.nettyrdma.verbs.VerbsProvider");
            List<Object> names = new ArrayList<>();
            List<Object> causes = new ArrayList<>();
            for (Object provider : ServiceLoader.load(providerType, loader)) {
                names.add(providerType.getMethod("name").invoke(provider));
                causes.add(providerType.getMethod("unavailabilityCause").invoke(provider));
            }
            assertEquals(List.of("disni", "iwarp", "shm", "iwarp-shm"), names);
            assertNotNull(causes.get(0));
            Class<?> rdma = loader.loadClass("org.nettyrdma.channel.Rdma");
            Object chosen = rdma.getMethod("provider").invoke(null);
            assertEquals("iwarp", providerType.getMethod("name").invoke(chosen));
        }
    }

    private static URLClassLoader withoutDisni() throws Exception {
        List<URL> urls = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            if (!Path.of(entry).getFileName().toString().startsWith("disni-")) {
                urls.add(new File(entry).toURI().toURL());
            }
        }
        return new URLClassLoader(urls.toArray(new URL[0]), ClassLoader.getPlatformClassLoader());
    }
}
