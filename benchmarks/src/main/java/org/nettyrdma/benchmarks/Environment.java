package org.nettyrdma.benchmarks;

import io.netty.util.Version;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;

/**
 * Where and of what a run was made.
 *
 * @param date        UTC
 * @param command     the options of the run
 * @param wakeUpMicros how long it takes to wake a thread, from {@link WakeUp}
 * @param processor   model name
 * @param processors  how many the run could use
 * @param memory      of the machine, in bytes
 * @param kernel      name and release
 * @param java        virtual machine and version
 * @param commit      of this project, with a plus sign where files have changed since
 * @param versions    of the libraries compared, empty where they do not tell or are missing
 * @param tcpWmem     what Linux lets a send buffer be that nobody has set: least, first, most, in bytes
 * @param tcpCongestion what decides how fast TCP sends
 * @param connections what the connections of each peer say about themselves, sizes of their socket buffers included
 */
record Environment(String date, String command, double wakeUpMicros, String processor, int processors, long memory,
        String kernel, String java, String commit, Map<String, String> versions, String tcpWmem, String tcpCongestion,
        Map<Peer, String> connections) {

    static Environment of(String command, double wakeUpMicros, Map<Peer, String> connections) {
        Map<String, String> versions = new TreeMap<>();
        versions.put("netty", Version.identify().get("netty-transport").artifactVersion());
        versions.put("oncrpc4j", mavenVersion("org.dcache", "oncrpc4j-core"));
        versions.put("jucx", mavenVersion("org.openucx", "jucx"));
        versions.put("libucx0", output("dpkg-query", "-W", "-f", "${Version}", "libucx0"));
        return new Environment(Instant.now().truncatedTo(ChronoUnit.SECONDS).toString(), command, wakeUpMicros,
                valueIn("/proc/cpuinfo", "model name"),
                Runtime.getRuntime().availableProcessors(), memoryBytes(),
                System.getProperty("os.name") + ' ' + System.getProperty("os.version"),
                System.getProperty("java.vm.name") + ' ' + System.getProperty("java.vm.version"), headCommit(), versions,
                firstLine("/proc/sys/net/ipv4/tcp_wmem"), firstLine("/proc/sys/net/ipv4/tcp_congestion_control"), connections);
    }

    private static String mavenVersion(String group, String artifact) {
        try (InputStream in = Environment.class.getResourceAsStream("/META-INF/maven/" + group + '/' + artifact
                + "/pom.properties")) {
            if (in == null) {
                return "";
            }
            Properties properties = new Properties();
            properties.load(in);
            return properties.getProperty("version", "");
        } catch (IOException e) {
            return "";
        }
    }

    private static long memoryBytes() {
        String total = valueIn("/proc/meminfo", "MemTotal");
        return total.endsWith(" kB") ? Long.parseLong(total.substring(0, total.length() - " kB".length())) * 1024 : 0;
    }

    private static String headCommit() {
        String root = System.getProperty("nettyrdma.root", ".");
        String commit = output("git", "-C", root, "rev-parse", "--short=12", "HEAD");
        return commit.isEmpty() ? "unknown"
                : commit + (output("git", "-C", root, "status", "--porcelain", "--untracked-files=no").isEmpty() ? "" : "+");
    }

    private static String output(String... command) {
        try {
            Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            return process.waitFor() == 0 ? output : "";
        } catch (IOException e) {
            return "";
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return "";
        }
    }

    private static String valueIn(String file, String key) {
        try {
            for (String line : Files.readAllLines(Path.of(file))) {
                if (line.startsWith(key)) {
                    return line.substring(line.indexOf(':') + 1).strip();
                }
            }
        } catch (IOException e) {
            return "unknown";
        }
        return "unknown";
    }

    private static String firstLine(String file) {
        try {
            return Files.readAllLines(Path.of(file)).get(0).replace('\t', ' ');
        } catch (IOException e) {
            return "unknown";
        }
    }
}
