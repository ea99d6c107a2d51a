package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.util.Version;
import java.io.File;
import java.lang.reflect.InvocationTargetException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class NettyVersionTest {

    @Test
    void shouldAcceptTheNettyOfTheseTests() {
        assertNull(NettyVersion.refusal());
    }

    @ParameterizedTest
    @ValueSource(strings = {"4.1.118.Final", "4.1.140.Final", "4.1.999.Final", "4.2.0.Final", "4.2.20.Final",
            "4.2.21.Final-SNAPSHOT",
            "4.1.140.Final-redhat-00001"})
    void shouldAcceptBothSeries(String version) {
        assertNull(NettyVersion.refusal(Set.of("netty-buffer=" + version, "netty-transport=" + version)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"4.0.56.Final", "4.1.117.Final", "4.1.9.Final", "4.3.0.Final", "4.10.0.Final", "5.0.0.Alpha5", "4.1",
            "unknown", ""})
    void shouldNameAVersionThatWasNotTested(String version) {
        assertEquals("not tested with this version of Netty: [netty-buffer=" + version + "], but from these on: [4.1.118, 4.2.0]",
                NettyVersion.refusal(Set.of("netty-buffer=" + version)));
    }

    @ParameterizedTest
    @CsvSource({"4.1.140.Final, netty-transport, 4.2.20.Final", "4.2.20.Final, netty-transport, 4.1.140.Final",
            "4.1.140.Final, netty-buffer, 4.2.20.Final"})
    void shouldRefuseTwoSeriesAtOnce(String one, String artifact, String other) {
        String refusal = NettyVersion.refusal(Set.of("netty-buffer=" + one, artifact + "=" + other));

        assertNotNull(refusal);
        assertTrue(refusal.startsWith("two series of Netty are mixed: [") && refusal.contains(one) && refusal.contains(other),
                refusal);
    }

    @Test
    void shouldSayHowToNameAVersionThatIsNotKnown() {
        String refusal = NettyVersion.refusal(Set.of());

        assertNotNull(refusal);
        assertTrue(refusal.contains(" is missing, or is that of another jar of Netty, as where all are packed "), refusal);
        assertTrue(refusal.endsWith("set the system property org.nettyrdma.nettyVersion to it"), refusal);
    }

    @Test
    void shouldGoByTheVersionThatTheProgramNames() {
        System.setProperty(NettyVersion.PROPERTY, "4.3.7.Final");
        try {
            assertEquals("not tested with this version of Netty: [org.nettyrdma.nettyVersion=4.3.7.Final], but from these on: "
                    + "[4.1.118, 4.2.0]",
                    NettyVersion.refusal());
        } finally {
            System.clearProperty(NettyVersion.PROPERTY);
        }
    }

    /** As with the jars of two series on one class path, of which the first is used. */
    @ParameterizedTest
    @CsvSource({"4.3.0.Final, not tested with this version of Netty: ", "OTHER, two series of Netty are mixed: "})
    void shouldSendNothingWhenAnotherSeriesIsThere(String version, String reason, @TempDir Path directory) throws Exception {
        String own = Version.identify().get("netty-buffer").artifactVersion();
        String other = version.equals("OTHER") ? own.startsWith("4.1.") ? "4.2.20.Final" : "4.1.140.Final" : version;
        Path file = Files.createDirectory(directory.resolve("META-INF")).resolve("io.netty.versions.properties");
        Files.writeString(file, "netty-buffer.version=" + other + "\nnetty-buffer.buildDate=2026-11-02 18\\:58\\:21 +0000\n");
        try (URLClassLoader loader = new URLClassLoader(classPathWith(directory), ClassLoader.getPlatformClassLoader())) {
            @SuppressWarnings("unchecked")
            List<String> refusals = (List<String>) Class.forName(OtherSeries.class.getName(), true, loader).getMethod("refusals")
                    .invoke(null);

            assertEquals(3, refusals.size(), refusals.toString());
            for (String refusal : refusals) {
                assertTrue(refusal.startsWith(reason) && refusal.contains("netty-buffer=" + other), refusal);
            }
        } catch (InvocationTargetException e) {
            throw new AssertionError("in the other class loader", e.getCause());
        }
    }

    private static URL[] classPathWith(Path directory) throws MalformedURLException {
        List<URL> entries = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            entries.add(Path.of(entry).toUri().toURL());
        }
        entries.add(directory.toUri().toURL());
        return entries.toArray(URL[]::new);
    }

    /** Runs where Netty says that it is of another series; every way to an event loop is closed there. */
    public static final class OtherSeries {

        private OtherSeries() {
        }

        public static List<String> refusals() {
            List<String> refusals = new ArrayList<>();
            refusals.add(Rdma.unavailabilityCause().getMessage());
            for (Runnable way : List.<Runnable>of(RdmaEventLoopGroup::new, () -> new RdmaEventLoopGroup(1, Runnable::run,
                    Rdma.provider("iwarp"), IdleStrategy.BLOCKING))) {
                try {
                    way.run();
                    refusals.add("none");
                } catch (IllegalStateException e) {
                    refusals.add(e.getMessage());
                }
            }
            return refusals;
        }
    }
}
