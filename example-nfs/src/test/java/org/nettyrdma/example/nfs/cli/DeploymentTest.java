package org.nettyrdma.example.nfs.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** The unit of systemd and the files for containers name what is there. No container is started. */
class DeploymentTest {

    private static final Path UNIT = Path.of("systemd/nfs-rdma.service");
    private static final Path DOCKERFILE = Path.of("docker/Dockerfile");
    private static final Path COMPOSE = Path.of("docker/compose.yaml");
    private static final Path ANALYZER = Path.of("/usr/bin/systemd-analyze");
    private static final Path JAVA = Path.of("/usr/bin/java");
    private static final Pattern QUOTED = Pattern.compile("\"([^\"]*)\"");

    @Test
    void shouldStartTheServerFromTheUnit() throws IOException {
        List<String> words = Arrays.asList(unit().get("Service.ExecStart").split("\\s+"));

        assertEquals(JAVA.toString(), words.get(0));
        assertServes(words.subList(words.indexOf(NfsCommand.class.getName()) + 1, words.size()));
    }

    /** The folder is closed to all but a user whose number nobody knows before; with user 0 squashed no client got in. */
    @Test
    void shouldLetUserZeroOfClientsIntoTheFolderOfTheUnit() throws IOException {
        Map<String, String> unit = unit();

        assertEquals("0700", unit.get("Service.StateDirectoryMode"));
        assertTrue(unit.get("Service.ExecStart").contains(" serve --statistics --no-root-squash "), unit::toString);
    }

    @Test
    void shouldLetTheUnitWriteWhereTheServerDoes() throws IOException {
        Map<String, String> unit = unit();

        assertEquals("/var/lib/nfs-rdma", unit.get("Service.ReadWritePaths"));
        assertEquals("nfs-rdma nfs-rdma/export nfs-rdma/keys", unit.get("Service.StateDirectory"));
        assertTrue(unit.get("Service.ExecStart").endsWith(
                "--export /var/lib/nfs-rdma/export --state-dir /var/lib/nfs-rdma/keys"), unit::toString);
    }

    /** The system may give a service its language, which wins over LC_ALL in the texts of errors. */
    @Test
    void shouldGiveTheUnitEnglishAndNamesInUtf8() throws IOException {
        assertEquals("LC_ALL=C.UTF-8 LANGUAGE=C", unit().get("Service.Environment"));
    }

    /** Java holds jars open. A class of a folder that it has no descriptor for once is missing for good. */
    @Test
    void shouldTakeClassesFromJarsAlone() throws IOException {
        assertTrue(unit().get("Service.ExecStart").contains(" -cp /opt/nfs-rdma/lib/* "), unit().get("Service.ExecStart"));
    }

    @Test
    void shouldHardenTheUnit() throws IOException {
        Map<String, String> unit = unit();

        for (String name : List.of("DynamicUser", "PrivateTmp", "NoNewPrivileges", "ProtectHome", "RestrictNamespaces")) {
            assertEquals("yes", unit.get("Service." + name), name);
        }
        assertEquals("strict", unit.get("Service.ProtectSystem"));
        assertEquals("", unit.get("Service.CapabilityBoundingSet"));
        assertEquals("infinity", unit.get("Service.LimitMEMLOCK"));
        assertEquals(Set.of("AF_UNIX", "AF_INET", "AF_INET6", "AF_NETLINK"),
                Set.of(unit.get("Service.RestrictAddressFamilies").split(" ")));
        assertFalse(unit.containsKey("Service.MemoryDenyWriteExecute"), "Java compiles while it runs");
        assertFalse(unit.containsKey("Service.PrivateDevices"), "cards are devices");
    }

    @Test
    void shouldPassTheCheckOfSystemd(@TempDir Path directory) throws Exception {
        assumeTrue(Files.isExecutable(ANALYZER) && Files.isExecutable(JAVA), "no systemd-analyze, or no java in /usr/bin");
        Path copy = Files.copy(UNIT, directory.resolve(UNIT.getFileName()));
        Process analyzer = new ProcessBuilder(ANALYZER.toString(), "verify", "--man=no", copy.toString())
                .redirectErrorStream(true).start();
        String output = new String(analyzer.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertTrue(analyzer.waitFor(60, TimeUnit.SECONDS));
        assertEquals(0, analyzer.exitValue(), output);
        assertFalse(output.contains("nfs-rdma.service"), output); // units of the system may have faults
    }

    @Test
    void shouldCopyWhatTheBuildMakesIntoTheImage() throws IOException {
        List<String> lines = Files.readAllLines(DOCKERFILE);

        assertTrue(lines.stream().anyMatch(line -> line.startsWith("RUN mvn ") && line.contains("-pl example-nfs -am package")));
        assertTrue(lines.contains("COPY --from=build /src/example-nfs/target/lib /opt/nfs-rdma/lib"));
        String start = lines.get(lines.size() - 1);
        assertTrue(start.startsWith("ENTRYPOINT ["), start);
        List<String> words = quoted(start);
        assertEquals(NfsCommand.class.getName(), words.get(words.size() - 1));
        assertTrue(words.contains("/opt/nfs-rdma/lib/*"), start);
        assertEquals(List.of("USER 65532", "EXPOSE 20049"),
                lines.stream().filter(line -> line.startsWith("USER") || line.startsWith("EXPOSE")).toList());
    }

    @Test
    void shouldComposeCommandsThatAreThere() throws IOException {
        Map<String, Map<String, Object>> services = services();

        assertEquals(Set.of("server", "client", "ping", "prometheus", "grafana"), services.keySet());
        assertServes(words(services.get("server").get("command")));
        for (String name : List.of("client", "ping")) {
            List<String> command = words(services.get(name).get("command"));
            NfsCommand.newCommandLine().parseArgs(command.toArray(String[]::new));
            assertEquals("rdma://server/", command.get(command.size() - 1));
        }
        Map<?, ?> build = (Map<?, ?>) services.get("server").get("build");
        Path context = COMPOSE.resolveSibling((String) build.get("context"));
        assertTrue(Files.isSameFile(DOCKERFILE, context.resolve((String) build.get("dockerfile"))));
        assertTrue(Files.readAllLines(Path.of("docker/Dockerfile.dockerignore")).contains("**/target"));
    }

    @Test
    void shouldMountFilesThatAreThere() throws IOException {
        for (String name : List.of("prometheus", "grafana")) {
            for (String volume : words(services().get(name).get("volumes"))) {
                assertTrue(Files.isRegularFile(COMPOSE.resolveSibling(volume.substring(0, volume.indexOf(':')))), volume);
            }
        }
    }

    @Test
    void shouldShowPrometheusTheMetersOfTheServer() throws IOException {
        List<String> command = words(services().get("server").get("command"));
        String port = command.get(command.indexOf("--metrics-port") + 1);

        assertTrue(Files.readString(COMPOSE.resolveSibling("prometheus.yml")).contains("[\"server:" + port + "\"]"), port);
    }

    private static void assertServes(List<String> arguments) {
        var parsed = NfsCommand.newCommandLine().parseArgs(arguments.toArray(String[]::new));

        assertEquals("serve", parsed.subcommand().commandSpec().name());
    }

    /** Section and name of each line to its value; of several lines with one name, the last. */
    private static Map<String, String> unit() throws IOException {
        Map<String, String> values = new LinkedHashMap<>();
        String section = "";
        for (String line : Files.readString(UNIT).replaceAll("\\\\\n\\s*", "").lines().toList()) {
            if (line.startsWith("[")) {
                section = line.substring(1, line.length() - 1);
            } else if (!line.isBlank() && !line.startsWith("#")) {
                int equals = line.indexOf('=');
                assertTrue(equals > 0, line);
                values.put(section + '.' + line.substring(0, equals), line.substring(equals + 1));
            }
        }
        return values;
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Map<String, Object>> services() throws IOException {
        Map<String, Object> composed = (Map<String, Object>) new Load(LoadSettings.builder().build())
                .loadFromString(Files.readString(COMPOSE));
        return (Map<String, Map<String, Object>>) composed.get("services");
    }

    private static List<String> words(Object list) {
        return ((List<?>) list).stream().map(String.class::cast).toList();
    }

    private static List<String> quoted(String line) {
        List<String> words = new ArrayList<>();
        QUOTED.matcher(line).results().forEach(match -> words.add(match.group(1)));
        return words;
    }
}
