package org.nettyrdma.example.nfs.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.util.NetUtil;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.RandomAccessFile;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.codec.oncrpc.rpcbind.PrivateRpcbind;
import org.nettyrdma.example.nfs.LocalNames;
import org.nettyrdma.example.nfs.NfsServer;
import org.nettyrdma.example.nfs.NfsServerOptions;
import org.nettyrdma.example.nfs.Transport;
import org.nettyrdma.example.nfs.server.Export;
import org.nettyrdma.example.nfs.server.Squash;
import org.nettyrdma.testing.Jvm;

/** The command line in processes of its own: what only a process has is signals, exit codes and bytes on standard output. */
class NfsProcessTest {

    private static final int TIMEOUT_SECONDS = 60;
    private static final int SIGINT = 2;

    @TempDir
    private Path directory;

    @Execution(ExecutionMode.CONCURRENT)
    @Test
    void shouldServeUntilItIsTerminatedAndThenExitWith0() throws Exception {
        byte[] content = new byte[2_500_001];
        new Random(3).nextBytes(content);
        Path export = Files.createDirectory(directory.resolve("export"));
        Files.write(export.resolve("file"), content);
        Process server = start("serve", "--port", "0", "--tcp-port", "0", "--bind", "127.0.0.1", "--export", export.toString(),
                "--no-root-squash", "--statistics", "--state-dir", directory.resolve("state").toString());
        try {
            BufferedReader addresses = new BufferedReader(new InputStreamReader(server.getInputStream(), StandardCharsets.UTF_8));
            String rdma = address(addresses, "rdma://127.0.0.1:");
            String tcp = address(addresses, "tcp://127.0.0.1:");
            for (String url : new String[] {rdma, tcp}) {
                Process cat = start("cat", url + "file");
                assertArrayEquals(content, cat.getInputStream().readAllBytes());
                assertEquals(0, exitCode(cat));
            }
            Path large = large(directory.resolve("large"));
            Process put = start("put", "--timeout", "2", "--transfer-size", "4096", large.toString(), rdma);
            awaitBegun(put, export);
            server.destroy();
            assertEquals(0, exitCode(server));
            String error = new String(put.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
            assertEquals(3, exitCode(put), error);
            List<String> lines = error.lines().toList();
            assertEquals(3, lines.size(), error);
            assertTrue(lines.get(0).contains("cannot connect again yet: "), error); // at once, and not for each attempt
            assertTrue(lines.get(1).matches("nfs put: /\\.nfs-copy-[0-9a-f]+ may be left on the server, and can be removed"),
                    error);
            assertTrue(lines.get(2).startsWith("nfs put: the server does not answer: "), error);
        } finally {
            server.destroyForcibly();
        }
    }

    @Execution(ExecutionMode.CONCURRENT)
    @Test
    void shouldLeaveAWholeFlightRecordingWhenItIsTerminated() throws Exception {
        Path recording = directory.resolve("calls.jfr");
        List<String> serving = command("serve", "--port", "0", "--bind", "127.0.0.1");
        serving.addAll(1, List.of("-Xlog:jfr+startup=error", // which would come first on standard output
                "-XX:StartFlightRecording:filename=" + recording + ",+org.nettyrdma.RpcCall#threshold=1ns"));
        Process server = start(serving);
        try {
            String url = address(new BufferedReader(new InputStreamReader(server.getInputStream(), StandardCharsets.UTF_8)),
                    "rdma://127.0.0.1:");
            assertEquals(0, exitCode(start("ls", url)));
            server.destroy();
            assertEquals(0, exitCode(server));
        } finally {
            server.destroyForcibly();
        }
        Set<String> recorded = RecordingFile.readAllEvents(recording).stream().map(event -> event.getEventType().getName())
                .collect(Collectors.toSet());
        assertTrue(recorded.containsAll(Set.of("org.nettyrdma.Connection", "org.nettyrdma.RpcCall")), recorded::toString);
    }

    @Execution(ExecutionMode.CONCURRENT)
    @Test
    void shouldUseSharedMemoryOnThisHostByItselfAndSayWhatCarriedWhat() throws Exception {
        byte[] content = new byte[1_000_001];
        new Random(4).nextBytes(content);
        Path export = Files.createDirectory(directory.resolve("export"));
        Files.write(export.resolve("file"), content);
        Path shared = directory.resolve("shm");
        Process server = start(sharing(shared, "serve", "--port", "0", "--bind", "127.0.0.1", "--export", export.toString(),
                "--no-root-squash", "--statistics", "--state-dir", directory.resolve("state").toString()));
        try {
            String url = address(new BufferedReader(new InputStreamReader(server.getInputStream(), StandardCharsets.UTF_8)),
                    "rdma://127.0.0.1:") + "file";
            assertCarried("shm", content, start(sharing(shared, "cat", "--statistics", url)));
            assertCarried("shm", content, start(sharing(shared, "cat", "--statistics", "--provider", "shm", url)));
            assertCarried("iwarp", content, start(sharing(shared, "cat", "--statistics", "--provider", "iwarp", url)));
            assertCarried("iwarp", content, start(sharing(directory.resolve("other"), "cat", "--statistics", url)));
            assertCarried("iwarp", content, start(withShortFiles(sharing(shared, "cat", "--statistics", url))));
            server.toHandle().destroy(); // unlike that of the process this leaves what it has written
            String log = new String(server.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
            assertEquals(0, exitCode(server), log);
            assertEquals(2, number(log, "nfs.rdma.connections ", " provider=shm "), log);
            assertEquals(3, number(log, "nfs.rdma.connections ", " provider=iwarp "), log);
            assertTrue(number(log, "nfs.rdma.bytes direction=sent ", " provider=shm ") > 2 * content.length, log);
            assertTrue(number(log, "nfs.rdma.bytes direction=sent ", " provider=iwarp ") > 2 * content.length, log);
            assertTrue(number(log, "nfs.rdma.bytes direction=received ", " provider=shm ") > 0, log);
        } finally {
            server.destroyForcibly();
        }
        try (Stream<Path> files = Files.list(shared)) {
            assertEquals(List.of("lock"), files.map(each -> each.getFileName().toString()).toList());
        }
    }

    @Execution(ExecutionMode.CONCURRENT)
    @Test
    void shouldShowItselfOverSharedMemory() throws Exception {
        Path tree = Files.createDirectory(directory.resolve("tree"));
        Files.write(tree.resolve("file"), new byte[1_000_001]);
        Path shared = directory.resolve("shm-demo");
        Process demo = start(sharing(shared, "demo", "--provider", "shm", "--from", tree.toString()));
        String output = new String(demo.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        String error = new String(demo.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, exitCode(demo), output + error);
        assertTrue(output.contains("with the RDMA provider shm"), output);
        try (Stream<Path> files = Files.list(shared)) { // it was used
            assertEquals(List.of("lock"), files.map(each -> each.getFileName().toString()).toList());
        }
    }

    /** The version of Netty stands for all that a provider may want: it is there on every machine. */
    @Execution(ExecutionMode.CONCURRENT)
    @ParameterizedTest
    @ValueSource(strings = {"serve --port 0", "demo", "ping rdma://127.0.0.1"})
    void shouldSayInOneLineWhyThereIsNoProvider(String arguments) throws Exception {
        List<String> command = command(arguments.split(" "));
        command.add(1, "-Dorg.nettyrdma.nettyVersion=9.9.Final");
        Process process = start(command);
        String error = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(1, exitCode(process), error);
        assertTrue(error.startsWith("nfs " + arguments.split(" ")[0] + ": not tested with this version of Netty: "), error);
        assertEquals(1, error.lines().count(), error);
    }

    private static void assertCarried(String provider, byte[] content, Process cat) throws Exception {
        assertArrayEquals(content, cat.getInputStream().readAllBytes());
        String statistics = new String(cat.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, exitCode(cat), statistics);
        assertEquals(1, number(statistics, "nfs.rdma.connections ", ""), statistics);
        assertEquals(1, number(statistics, "nfs.rdma.connections ", " provider=" + provider + ' '), statistics);
        assertTrue(number(statistics, "nfs.rdma.bytes direction=sent ", " provider=" + provider + ' ') > 0, statistics);
    }

    /** The sum of a meter. */
    private static long number(String statistics, String name, String tag) {
        return statistics.lines().filter(line -> line.startsWith(name) && line.contains(tag))
                .mapToLong(line -> Long.parseLong(line.substring(line.lastIndexOf(' ') + 1))).sum();
    }

    private static List<String> sharing(Path shared, String... arguments) throws IOException {
        List<String> command = command(arguments);
        command.add(1, "-Dorg.nettyrdma.shm.directory=" + shared);
        return command;
    }

    /** With files of at most 100 KiB, less than shared memory needs. */
    private static List<String> withShortFiles(List<String> command) {
        List<String> limited = new ArrayList<>(List.of("sh", "-c", "ulimit -f 200; exec \"$@\"", "sh"));
        limited.addAll(command);
        return limited;
    }

    /** So large that a copy of it in small pieces takes longer than anything else here; a hole, which costs nothing. */
    private static Path large(Path file) throws IOException {
        try (RandomAccessFile hole = new RandomAccessFile(file.toFile(), "rw")) {
            hole.setLength(200 << 20);
        }
        return file;
    }

    /** As in a build that a shell runs in the background: processes have from their parents what they ignore. */
    private static boolean isInterruptIgnored() throws IOException {
        Path status = Path.of("/proc/self/status");
        return Files.exists(status) && Files.readAllLines(status).stream().filter(line -> line.startsWith("SigIgn:"))
                .anyMatch(line -> (Long.parseUnsignedLong(line.substring(7).strip(), 16) & 1 << SIGINT - 1) != 0);
    }

    /** The files that it deletes then are not missing. */
    @Execution(ExecutionMode.CONCURRENT)
    @Test
    void shouldBlameNoFileWhenTheDemonstrationIsTerminated() throws Exception {
        List<String> demo = command("demo");
        demo.add(1, "-Djava.io.tmpdir=" + directory);
        Process process = start(demo);
        while (generatedFiles() < 300) {
            assertFalse(process.waitFor(1, TimeUnit.MILLISECONDS));
        }
        process.toHandle().destroy(); // without closing the streams
        String error = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(143, exitCode(process), error);
        assertEquals("", error.replace("nfs demo: interrupted" + System.lineSeparator(), ""));
        assertEquals(0, directory.toFile().list().length);
    }

    private int generatedFiles() {
        for (String work : directory.toFile().list()) {
            String[] names = directory.resolve(work).resolve("source/small").toFile().list();
            return names == null ? 0 : names.length;
        }
        return 0;
    }

    /** Of the file that a copy is working on, which has no name of its own yet. */
    private static long unfinishedBytes(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(file -> file.getFileName().toString().startsWith(".nfs-copy-"))
                    .mapToLong(file -> file.toFile().length())
                    .sum();
        }
    }

    /** Another process has no other way to say that it has begun. To look all the time would take a processor from it. */
    private static void awaitBegun(Process copy, Path to) throws Exception {
        while (unfinishedBytes(to) == 0) {
            assertFalse(copy.waitFor(1, TimeUnit.MILLISECONDS));
        }
    }

    @Execution(ExecutionMode.CONCURRENT)
    @ParameterizedTest
    @CsvSource({"INT, put, 130", "TERM, put, 143", "INT, get, 130", "TERM, get, 143"})
    void shouldLeaveTheOldFileAndSaySoWhenACopyIsInterrupted(String signal, String command, int exitCode) throws Exception {
        Path export = Files.createDirectory(directory.resolve("export"));
        Path local = Files.createDirectory(directory.resolve("local"));
        Path from = command.equals("put") ? local : export;
        Path to = command.equals("put") ? export : local;
        large(from.resolve("file"));
        Files.writeString(to.resolve("file"), "old");
        try (NfsServer server = NfsServer.start(Export.of(export).withSquash(Squash.NONE),
                new NfsServerOptions().setBindAddress(NetUtil.LOCALHOST4).setPort(Transport.RDMA, 0))) {
            String url = "rdma://127.0.0.1:" + server.address(Transport.RDMA).getPort() + "/file";
            String file = local.resolve("file").toString();
            List<String> copying = command(command, "--transfer-size", "4096", command.equals("put") ? file : url,
                    command.equals("put") ? url : file);
            if (isInterruptIgnored()) {
                copying.addAll(0, List.of("env", "--default-signal=INT"));
            }
            Process copy = start(copying);
            awaitBegun(copy, to);
            assertEquals(0, new ProcessBuilder("kill", "-" + signal, String.valueOf(copy.pid())).start().waitFor());
            String error = new String(copy.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
            assertEquals(exitCode, exitCode(copy), error);
            assertEquals("nfs " + command + ": interrupted; what was not copied whole is as it was before\n", error);
        }
        assertEquals("old", Files.readString(to.resolve("file")));
        try (Stream<Path> left = Files.list(to)) {
            assertEquals(1, left.count());
        }
    }

    @Execution(ExecutionMode.CONCURRENT)
    @Test
    void shouldTellAnRdmaClientOnTheTcpPortInOneLine() throws Exception {
        Process server = start("serve", "--port", "0", "--tcp-port", "0", "--bind", "127.0.0.1", "--export",
                Files.createDirectory(directory.resolve("export")).toString());
        try {
            BufferedReader addresses = new BufferedReader(new InputStreamReader(server.getInputStream(), StandardCharsets.UTF_8));
            address(addresses, "rdma://127.0.0.1:");
            String tcp = address(addresses, "tcp://127.0.0.1:");
            Process ls = start("ls", tcp.replace("tcp:", "rdma:"));
            String error = new String(ls.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
            assertEquals(3, exitCode(ls), error);
            assertEquals(1, error.lines().count(), error);
            server.toHandle().destroy(); // unlike that of the process this leaves what it has written
            String log = new String(server.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
            assertEquals(0, exitCode(server), log);
            assertEquals(1, log.lines().filter(line -> line.contains("RPC record of")).count(), log);
            assertFalse(log.contains("\tat "), log);
        } finally {
            server.destroyForcibly();
        }
    }

    @Execution(ExecutionMode.CONCURRENT)
    @ParameterizedTest
    @ValueSource(strings = {"get", "put"})
    void shouldShowRateTimeLeftAndPercentOnATerminal(String command) throws Exception {
        Path export = Files.createDirectory(directory.resolve("export"));
        Path local = Files.createDirectory(directory.resolve("local"));
        large((command.equals("put") ? local : export).resolve("file"));
        try (NfsServer server = NfsServer.start(Export.of(export).withSquash(Squash.NONE),
                new NfsServerOptions().setBindAddress(NetUtil.LOCALHOST4).setPort(Transport.RDMA, 0))) {
            String url = "rdma://127.0.0.1:" + server.address(Transport.RDMA).getPort() + "/file";
            String file = local.resolve("file").toString();
            List<String> copying = command(command, "--transfer-size", "16384", command.equals("put") ? file : url,
                    command.equals("put") ? url : file);
            copying.add(1, "-Dnfs.terminal=true");
            Process copy = start(copying);
            String shown = new String(copy.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
            assertEquals(0, exitCode(copy), shown);
            String time = "\\d+:\\d\\d:\\d\\d";
            String bar = ".*" + command + " +\\d+%.* \\d+/200 MiB \\(" + time + " / " + time + "\\) \\d+\\.\\d MiB/s.*";
            assertTrue(shown.lines().anyMatch(line -> line.matches(bar)), shown);
        }
    }

    @Execution(ExecutionMode.CONCURRENT)
    @Test
    void shouldFailWhenStandardOutputCannotBeWritten() throws Exception {
        Path export = Files.createDirectory(directory.resolve("export"));
        Files.writeString(export.resolve("file"), "content");
        try (NfsServer server = NfsServer.start(Export.of(export), new NfsServerOptions().setBindAddress(NetUtil.LOCALHOST4)
                .setPort(Transport.RDMA, 0))) {
            String url = "rdma://127.0.0.1:" + server.address(Transport.RDMA).getPort() + "/";
            for (String[] arguments : new String[][] {{"ls", url}, {"stat", url}, {"cat", url + "file", url + "file"},
                    {"ping", url},
                {"--help"}, {"dump", "0000002a", "00000001", "00000020", "00000003"}}) {
                Process process = new ProcessBuilder(command(arguments)).redirectOutput(Path.of("/dev/full").toFile()).start();
                String error = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
                assertEquals(1, exitCode(process), error);
                assertTrue(error.matches("nfs( cat)?: standard output: No space left on device\n"), error);
            }
        }
    }

    @Execution(ExecutionMode.CONCURRENT)
    @Test
    void shouldWriteOneFileBehindTheOtherAndGoOnBehindAMissingOne() throws Exception {
        Path export = Files.createDirectory(directory.resolve("export"));
        Files.writeString(export.resolve("one"), "1");
        Files.writeString(export.resolve("two"), "22");
        try (NfsServer server = NfsServer.start(Export.of(export), new NfsServerOptions().setBindAddress(NetUtil.LOCALHOST4)
                .setPort(Transport.RDMA, 0))) {
            String url = "rdma://127.0.0.1:" + server.address(Transport.RDMA).getPort() + "/";
            Process cat = start("cat", url + "missing", url + "one", url + "two");
            String output = new String(cat.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            String error = new String(cat.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
            assertEquals("nfs cat: /missing: no such file or directory (NFS3ERR_NOENT), answered to LOOKUP\n", error);
            assertEquals("122", output);
            assertEquals(1, exitCode(cat));
        }
    }

    /** Java itself loses what the locale does not know; the locale C knows ASCII only. */
    @Execution(ExecutionMode.CONCURRENT)
    @ParameterizedTest
    @ValueSource(strings = {"C", "C.UTF-8"})
    void shouldTakeNamesOfAnyBytes(String locale) throws Exception {
        Path export = Files.createDirectory(directory.resolve("export"));
        Path local = Files.createDirectory(directory.resolve("local"));
        Files.writeString(LocalNames.child(local, "\udcff\u00e9"), "content");
        try (NfsServer server = NfsServer.start(Export.of(export).withSquash(Squash.NONE),
                new NfsServerOptions().setBindAddress(NetUtil.LOCALHOST4).setPort(Transport.RDMA, 0))) {
            String url = "rdma://127.0.0.1:" + server.address(Transport.RDMA).getPort() + "/";
            // A shell passes bytes on, which ProcessBuilder cannot.
            String script = "nfs() { \"$@\" || exit 9; }; name=$(printf '\\377\\303\\251'); cd '" + local + "'; n=\""
                    + String.join(" ", command()) + "\"\n"
                    + "nfs $n put \"$name\" " + url + "; nfs $n cat \"" + url + "$name\"; nfs $n get \"" + url
                    + "$name\" ./back; nfs $n ls " + url;
            ProcessBuilder builder = new ProcessBuilder("sh", "-c", script);
            builder.environment().put("LC_ALL", locale);
            Process process = builder.start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            String error = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
            assertEquals(0, exitCode(process), error);
            assertTrue(output.startsWith("content\\xff"), output);
        }
        assertEquals("content", Files.readString(LocalNames.child(export, "\udcff\u00e9")));
        assertEquals("content", Files.readString(local.resolve("back")));
    }

    @Execution(ExecutionMode.CONCURRENT)
    @Test
    void shouldSayThatRootIsSquashed() throws Exception {
        assumeTrue(ProcessUser.current().isRoot(), "needs to be root");
        Path export = Files.createDirectory(directory.resolve("export"));
        Files.setPosixFilePermissions(export, PosixFilePermissions.fromString("rwxr-xr-x"));
        Process server = start("serve", "--port", "0", "--bind", "127.0.0.1", "--export", export.toString(),
                "--state-dir", directory.resolve("state").toString());
        try {
            BufferedReader output = new BufferedReader(new InputStreamReader(server.getInputStream(), StandardCharsets.UTF_8));
            String url = address(output, "rdma://127.0.0.1:");
            assertTrue(output.readLine().contains("--no-root-squash"));
            Process mkdir = start("mkdir", url + "new");
            String error = new String(mkdir.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
            assertEquals(1, exitCode(mkdir));
            assertTrue(error.contains("/new: permission denied (NFS3ERR_ACCES)"), error);
            assertTrue(error.contains("you are user 0, whom servers take for nobody unless told otherwise"), error);
        } finally {
            server.destroyForcibly();
        }
    }

    @Execution(ExecutionMode.CONCURRENT)
    @Test
    void shouldExitWith1WhenThePortIsTaken() throws Exception {
        Process first = start("serve", "--port", "0", "--bind", "127.0.0.1");
        try {
            String address = address(new BufferedReader(new InputStreamReader(first.getInputStream(), StandardCharsets.UTF_8)),
                    "rdma://127.0.0.1:");
            String port = address.replaceAll(".*:(\\d+)/", "$1");
            Process second = start("serve", "--port", port, "--bind", "127.0.0.1");
            String error = new String(second.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
            assertEquals(1, exitCode(second));
            assertTrue(error.startsWith("nfs serve: cannot listen on rdma port " + port + " of 127.0.0.1: "), error);
        } finally {
            first.destroyForcibly();
        }
    }

    /** A class that cannot be loaded stands for all that can go wrong while a failure is told, such as a lack of memory. */
    @Execution(ExecutionMode.CONCURRENT)
    @Test
    void shouldEndWhenAFailureCannotEvenBeTold() throws Exception {
        Path broken = directory.resolve("classes").resolve(ErrorMessage.class.getName().replace('.', '/') + ".class");
        Files.createDirectories(broken.getParent());
        Files.createFile(broken);
        List<String> serving = command("serve", "--metrics-port", "0", "--bind", "127.0.0.1", "--export", directory.toString(),
                "--state-dir", directory.toString());
        int classPath = serving.indexOf("-cp") + 1;
        serving.set(classPath, directory.resolve("classes") + File.pathSeparator + serving.get(classPath));
        Process server = start(serving);
        try {
            assertEquals(1, exitCode(server)); // what it says fits into the pipe
            String error = new String(server.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
            assertTrue(error.contains("ClassFormatError"), error);
        } finally {
            server.destroyForcibly();
        }
    }

    @Execution(ExecutionMode.CONCURRENT)
    @Test
    void shouldBeFoundThroughRpcbind() throws Exception {
        try (PrivateRpcbind rpcbind = PrivateRpcbind.start()) {
            Process server = start(rpcbind.besideRpcbind(command("serve", "--port", "0", "--tcp-port", "0", "--rpcbind")));
            try {
                BufferedReader output = new BufferedReader(new InputStreamReader(server.getInputStream(),
                        StandardCharsets.UTF_8));
                address(output, "rdma://");
                for (String url : new String[] {"rdma://127.0.0.1/", "rdma://[::1]/", "tcp://127.0.0.1/", "tcp://[::1]/"}) {
                    Process ping = start(rpcbind.besideRpcbind(command("ping", "--rpcbind", "-c", "1", url)));
                    String printed = new String(ping.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
                    String error = new String(ping.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
                    assertEquals(0, exitCode(ping), () -> url + ": " + printed + error);
                }
                String registered = rpcbind.rpcinfo();
                for (String netid : new String[] {"rdma 0.0.0.0.", "rdma6 ::.", "tcp 0.0.0.0.", "tcp6 ::."}) {
                    assertTrue(registered.contains(" 100003 3 " + netid), registered);
                    assertTrue(registered.contains(" 100005 3 " + netid), registered);
                }
                server.destroy();
                assertEquals(0, exitCode(server));
                assertFalse(rpcbind.rpcinfo().contains(" 3 rdma"), "taken back at the end");
                Process ping = start(rpcbind.besideRpcbind(command("ping", "--rpcbind", "-c", "1", "rdma://127.0.0.1/")));
                String error = new String(ping.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
                assertTrue(error.endsWith("nfs ping: rpcbind of 127.0.0.1 does not know NFS version 3 over rdma\n"), error);
                assertEquals(3, exitCode(ping));
            } finally {
                server.destroyForcibly();
            }
        }
    }

    static String address(BufferedReader output, String prefix) throws IOException {
        String line = output.readLine();
        assertTrue(line != null && line.contains(" on " + prefix), line);
        return line.substring(line.indexOf(prefix));
    }

    private static Process start(String... arguments) throws IOException {
        return start(command(arguments));
    }

    private static Process start(List<String> command) throws IOException {
        // A build that runs in the background of a shell ignores SIGINT, and so would all that it starts.
        List<String> withSignals = new ArrayList<>(List.of("env", "--default-signal=INT"));
        withSignals.addAll(command);
        return new ProcessBuilder(withSignals).start();
    }

    static List<String> command(String... arguments) {
        // Most are over before the better compiler pays.
        List<String> options = new ArrayList<>(List.of("-XX:TieredStopAtLevel=1"));
        // As the launcher does where the JDK needs it.
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(argument -> argument.matches("--(sun-misc-unsafe-memory-access|enable-native-access)=.*"))
                .forEach(options::add);
        return Jvm.command(options, NfsCommand.class, arguments);
    }

    private static int exitCode(Process process) throws InterruptedException {
        assertTrue(process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS), "the process did not end");
        return process.exitValue();
    }
}
