package org.nettyrdma.example.nfs.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.SequenceInputStream;
import java.io.StringWriter;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.channel.Rdma;
import org.nettyrdma.codec.rpcrdma.VersionPolicy;
import org.nettyrdma.example.nfs.RdmaSettings;
import org.nettyrdma.example.nfs.TestServer;
import org.nettyrdma.example.nfs.Transport;
import org.nettyrdma.example.nfs.server.Export;
import org.nettyrdma.example.nfs.server.Squash;
import org.nettyrdma.verbs.Capabilities;
import org.nettyrdma.verbs.MemoryRegion;
import org.nettyrdma.verbs.VerbsContext;
import org.nettyrdma.verbs.VerbsProvider;
import picocli.CommandLine;

class NfsCommandTest extends CommandTest {

    private static final ProcessUser ROOT = new ProcessUser(0, 0, List.of());
    private static final ProcessUser ORDINARY = new ProcessUser(1000, 100, List.of(3000));

    @ParameterizedTest
    @ValueSource(strings = {"serve", "demo", "ls", "cat", "get", "put", "stat", "mkdir", "rm", "ping", "dump"})
    void shouldShowExamplesInTheHelpOfEachCommand(String command) {
        assertEquals(0, run(command, "--help"));
        assertTrue(out.contains("Usage: nfs " + command), out);
        assertTrue(out.contains("Examples:\n  nfs " + command), out);
        out.lines().forEach(line -> assertTrue(line.length() <= 80, line));
    }

    @Test
    void shouldShowCommandsAndExitCodesInTheHelp() {
        assertEquals(0, run("--help"));
        assertTrue(out.contains("3     the server cannot be reached, or the connection to it was lost"), out);
        assertTrue(out.contains("Examples:\n  nfs demo"), out);
        assertEquals(0, run("--version"));
        assertTrue(out.startsWith("nfs (netty-rdma"), out);
    }

    @ParameterizedTest
    @CsvSource({
        "'',                 nfs: a command is missing; try 'nfs --help'",
        "frobnicate,         'nfs: Unmatched argument at index 0: ''frobnicate''; try ''nfs --help'''",
        "ls,                 'nfs ls: Missing required parameter: ''URL''; try ''nfs ls --help'''",
        "ls http://x/,       'nfs ls: not an NFS address: ''http://x/'': ''http'' is neither rdma nor tcp; try ''nfs ls "
                + "--help'''",
        "put a rdma://x:y/,  'nfs put: not an NFS address: ''rdma://x:y/'': ''y'' is not a port number; try ''nfs put --help'''",
        "serve --credits 0,  'nfs serve: Invalid value for option ''--credits'': ''0'' is not a number from 1 to 1024; try "
                + "''nfs serve --help'''",
        "serve --max-connections 0, 'nfs serve: Invalid value for option ''--max-connections'': ''0'' is not a number from 1 to "
                + "1000000; try ''nfs serve --help'''",
        "serve --idle-timeout -1,   'nfs serve: Invalid value for option ''--idle-timeout'': ''-1'' is not a number from 0 to "
                + "1000000; try ''nfs serve --help'''",
        "serve --drain-timeout x,   'nfs serve: Invalid value for option ''--drain-timeout'': ''x'' is not a number from 0 to "
                + "1000000; try ''nfs serve --help'''",
        "serve --metrics-bind ::1,  'nfs serve: --metrics-bind is for --metrics-port only; try ''nfs serve --help'''",
        "ls --provider x rdma://x/, 'nfs ls: Invalid value for option ''--provider'': ''x'' is none of disni, iwarp, shm, "
                + "iwarp-shm; try ''nfs ls --help'''",
        "--provider x ls rdma://x/, 'nfs: Invalid value for option ''--provider'': ''x'' is none of disni, iwarp, shm, "
                + "iwarp-shm; try ''nfs --help'''",
        "ping -c 0 tcp://x,  'nfs ping: Invalid value for option ''-c'': ''0'' is not a number from 1 to 2147483647; try ''nfs "
                + "ping --help'''",
    })
    void shouldExitWith2AndOneLineOnWrongUsage(String arguments, String error) {
        assertEquals(2, run(arguments.isEmpty() ? new String[0] : arguments.split(" ")));
        assertEquals(error, err.strip());
    }

    /** Also that of a provider of others on the class path, beside one that cannot be loaded. */
    @Test
    void shouldTakeTheNamesOfAllProviders(@TempDir Path directory) throws IOException {
        Path services = Files.createDirectories(directory.resolve("META-INF/services"));
        Files.writeString(services.resolve(VerbsProvider.class.getName()), "is.Missing\n" + OtherProvider.class.getName());
        var converter = new NfsCommand.ProviderConverter();
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        try (var loader = new URLClassLoader(new URL[] {directory.toUri().toURL()}, before)) {
            thread.setContextClassLoader(loader);
            for (VerbsProvider provider : Rdma.providers()) {
                assertEquals(provider.name(), converter.convert(provider.name()));
            }
            assertEquals("other", converter.convert("other"));
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    /** Has a name. */
    public static final class OtherProvider implements VerbsProvider {

        @Override
        public String name() {
            return "other";
        }

        @Override
        public Throwable unavailabilityCause() {
            return new UnsupportedOperationException();
        }

        @Override
        public Capabilities capabilities() {
            throw new IllegalStateException();
        }

        @Override
        public MemoryRegion registerMemory(ByteBuffer memory) {
            throw new IllegalStateException();
        }

        @Override
        public VerbsContext openContext() {
            throw new IllegalStateException();
        }
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void shouldExitWith3WhereNobodyListens(Transport transport) throws IOException {
        try (Socket taken = new Socket()) { // or another process could listen there meanwhile
            taken.bind(new InetSocketAddress("127.0.0.1", 0));
            String address = transport.scheme() + "://127.0.0.1:" + taken.getLocalPort();
            assertEquals(3, run("ls", address + "/"));
            assertEquals("nfs ls: cannot connect to " + address + ": Connection refused", err.strip());
        }
    }

    @Test
    void shouldSayWhoOfTheClientsCanUseAServedFolder() {
        assertEquals("", ServeCommand.ownersHint(ROOT, Squash.NONE));
        assertEquals("user 0 of clients is user 65534 here and may do little; --no-root-squash makes it user 0\n",
                ServeCommand.ownersHint(ROOT, Squash.ROOT));
        assertEquals("all users of clients are user 65534 here and may do little\n", ServeCommand.ownersHint(ROOT, Squash.ALL));
        assertEquals("new files belong to user 1000, as whom this server runs; of the users of clients only that one has the "
                + "rights of an owner; --all-squash makes all that one\n", ServeCommand.ownersHint(ORDINARY, Squash.ROOT));
        assertEquals("new files belong to user 1000, as whom this server runs; of the users of clients only that one and user 0 "
                + "have the rights of an owner; --all-squash makes all that one\n",
                ServeCommand.ownersHint(ORDINARY, Squash.NONE));
        assertEquals("all users of clients are user 1000 here, as whom this server runs\n",
                ServeCommand.ownersHint(ORDINARY, Squash.ALL));
    }

    @Test
    void shouldServeAllUsersAsThatOfTheServerButNeverAsUser0() {
        Export ofUser = ServeCommand.export(Path.of("/"), Squash.ALL, ORDINARY);
        assertEquals(List.of(Squash.ALL, 1000, 100, List.of(3000)), List.of(ofUser.squash(), ofUser.anonymousUserId(),
                ofUser.anonymousGroupId(), ofUser.anonymousGroupIds()));
        for (Export other : List.of(ServeCommand.export(Path.of("/"), Squash.ALL, ROOT),
                ServeCommand.export(Path.of("/"), Squash.ROOT, ORDINARY))) {
            assertEquals(List.of(65534, 65534, List.of()),
                    List.of(other.anonymousUserId(), other.anonymousGroupId(), other.anonymousGroupIds()));
        }
    }

    @Test
    void shouldRefuseToSquashAllAndNotUser0() {
        assertEquals(2, run("serve", "--all-squash", "--no-root-squash"));
        assertTrue(err.contains("--all-squash and --no-root-squash exclude each other"), err);
    }

    @Test
    void shouldExitWith1AndOneLineWhenTheServerRefuses() {
        assertEquals(1, run("ls", url(Transport.RDMA, "/nothing")));
        assertEquals("nfs ls: /nothing: no such file or directory (NFS3ERR_NOENT), answered to LOOKUP", err.strip());
        assertEquals(1, run("put", "/no/such/file", url(Transport.RDMA, "/")));
        assertEquals("nfs put: /no/such/file: no such file or directory", err.strip());
    }

    @Test
    void shouldAddAStackTraceWhenVerbose() {
        assertEquals(1, run("stat", "--verbose", url(Transport.RDMA, "/nothing")));
        assertTrue(err.contains("\tat org.nettyrdma.example.nfs.client."), err);
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void shouldCopyListShowAndRemove(Transport transport) throws IOException {
        Path source = Files.createDirectories(local.resolve("source/inner"));
        Files.write(source.resolve("file"), new byte[100_000]);
        Files.createSymbolicLink(source.resolve("link"), Path.of("file"));
        assertEquals(0, run("mkdir", "-p", url(transport, "/a/b")), () -> err);
        assertEquals(0, run("put", "-r", local.resolve("source").toString(), url(transport, "/a/b")), () -> err);
        assertEquals(0, run("ls", url(transport, "/a/b/source/inner")), () -> err);
        assertEquals("file\nlink\n", out);
        assertEquals(0, run("ls", "-l", url(transport, "/a/b/source/inner")), () -> err);
        assertTrue(out.lines().findFirst().orElse("").matches("-rw.*  1 +\\d+ +\\d+  100000  \\d{4}-.* file"), out);
        assertTrue(out.endsWith("link -> file\n"), out);
        assertEquals(0, run("stat", url(transport, "/a/b/source/inner/link")), () -> err);
        assertTrue(out.contains("symbolic link") && out.contains("target:    file"), out);
        assertEquals(0, run("get", "-r", url(transport, "/a/b/source"), local.resolve("copy").toString()), () -> err);
        assertEquals(-1, Files.mismatch(source.resolve("file"), local.resolve("copy/inner/file")));
        assertEquals("file", Files.readSymbolicLink(local.resolve("copy/inner/link")).toString());
        assertEquals(1, run("rm", url(transport, "/a")));
        assertEquals(0, run("rm", "-r", url(transport, "/a")), () -> err);
        assertEquals(0, run("ls", url(transport, "/")), () -> err);
        assertEquals("", out);
    }

    @Test
    void shouldCopyWithChecksumsAndOneCredit() throws IOException {
        Path source = Files.write(local.resolve("source"), new byte[300_001]);
        assertEquals(0, run("put", "--checksum", "--credits", "1", source.toString(), url(Transport.RDMA, "/copied")), () -> err);
        assertEquals(-1, Files.mismatch(source, server.root().resolve("copied")));
    }

    @Test
    void shouldPrintWhatWasAgreedOnAndWhatMovedWhenAsked() throws IOException {
        Path source = Files.write(local.resolve("source"), new byte[3 << 20]);
        assertEquals(0, run("put", "--statistics", source.toString(), url(Transport.RDMA, "/copied")), () -> err);
        List<String> lines = err.lines().toList();
        String connections = "nfs.rdma.connections invalidated=true invalidates=true provider=iwarp receive=%d "
                + "role=client send=%1$d version=1 1";
        boolean isLong = lines.contains(connections.formatted(69632)); // where there is memory for it
        assertTrue(isLong || lines.contains(connections.formatted(4096)), err);
        assertTrue(lines.contains("rpcrdma.chunks.calls.with.read.chunk role=client 3"), err);
        // One for the data of each WRITE, and where it may be longer than a Send one for the reply of MOUNT's EXPORT.
        int exposures = isLong ? 3 : 4;
        assertTrue(lines.contains("rpcrdma.chunks.exposures role=client " + exposures), err);
        assertTrue(lines.contains("rpcrdma.chunks.remote.invalidations role=client " + exposures), err);
        assertTrue(lines.contains("rpcrdma.chunks.read.chunk.bytes role=client 3145728"), err);
        assertEquals(0, run("put", source.toString(), url(Transport.RDMA, "/copied")));
        assertEquals("", err);
    }

    /** Meters keep nothing alive that they show. */
    @Test
    void shouldPrintWhatAllSessionsHaveCountedWhateverIsCollected() throws Exception {
        Files.write(server.root().resolve("file"), new byte[10]);
        String[] command = {"ls", "--statistics", url(Transport.RDMA, "/file"), url(Transport.RDMA, "/file"),
            url(Transport.RDMA, "/file"), url(Transport.TCP, "/file")};
        AtomicBoolean ended = new AtomicBoolean();
        Thread collector = new Thread(() -> {
            while (!ended.get()) {
                System.gc();
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50)); // or nothing else is ever done
            }
        });
        collector.start();
        try {
            assertEquals(0, run(command), () -> err);
        } finally {
            ended.set(true);
            collector.join();
        }
        for (String each : List.of("nfs.rdma.connections ", "rdma.channel.receives ",
                "rpc.client.connects transport=rdma count 1")) {
            assertEquals(3, err.lines().filter(line -> line.startsWith(each)).count(), err);
        }
        assertEquals(1, err.lines().filter(line -> line.equals("rpc.client.connects transport=tcp count 1")).count(), err);
    }

    @ParameterizedTest
    @CsvSource({"V1_ONLY,v1,1", "V1_ONLY,prefer-v2,1", "PREFER_V2,v1,1", "PREFER_V2,v2,2", "PREFER_V2,prefer-v2,2",
            "V2_ONLY,v2,2"})
    void shouldCopyInTheVersionThatBothSidesSpeak(VersionPolicy accepted, String called, int version) throws IOException {
        Path source = Files.write(local.resolve("source"), new byte[300_001]);
        server.close();
        server = TestServer.start(new RdmaSettings(16, false, accepted));
        assertEquals(0, run("put", "--statistics", "--rpcrdma", called, source.toString(), url(Transport.RDMA, "/copied")),
                () -> err);
        assertTrue(err.lines().anyMatch(line -> line.startsWith("nfs.rdma.connections ")
                && line.endsWith(" version=" + version + " 1")),
                err);
        assertEquals(0, run("get", "--rpcrdma", called, url(Transport.RDMA, "/copied"), local.resolve("back").toString()),
                () -> err);
        assertEquals(-1, Files.mismatch(source, local.resolve("back")));
    }

    @Test
    void shouldSayWhichVersionsTheServerSpeaksWhereTheyDiffer() {
        assertEquals(1, run("ls", "--rpcrdma", "v2", url(Transport.RDMA, "/")));
        assertTrue(err.contains("refused with ERR_VERS, the responder speaks versions 1 to 1"), err);
        assertEquals(2, run("ls", "--rpcrdma", "2", url(Transport.RDMA, "/")));
        assertTrue(err.contains("'2' is none of v1, v2, prefer-v2"), err);
    }

    @Test
    void shouldCopySeveralFilesIntoADirectoryAndOneToAName() throws IOException {
        Path one = Files.writeString(local.resolve("one"), "1");
        Path two = Files.writeString(local.resolve("two"), "22");
        assertEquals(0, run("put", one.toString(), two.toString(), url(Transport.RDMA, "/")), () -> err);
        assertEquals(0, run("put", one.toString(), url(Transport.RDMA, "/three")), () -> err);
        assertEquals("1", Files.readString(server.root().resolve("three")));
        Path copies = Files.createDirectory(local.resolve("copies"));
        assertEquals(0, run("get", url(Transport.RDMA, "/two"), url(Transport.RDMA, "/three"), copies.toString()), () -> err);
        assertEquals("22", Files.readString(copies.resolve("two")));
        assertEquals("1", Files.readString(copies.resolve("three")));
        assertEquals(1, run("put", one.toString(), two.toString(), url(Transport.RDMA, "/missing")));
        assertEquals("nfs put: /missing: no such directory", err.strip());
    }

    /** The last one would take the place of the others, and the exit code would say that all were copied. */
    @Test
    void shouldRefuseToMakeOneFileOfSeveral() throws IOException {
        for (Path root : new Path[] {local, server.root()}) {
            Files.writeString(Files.createDirectory(root.resolve("a")).resolve("file"), "1");
            Files.writeString(Files.createDirectory(root.resolve("b")).resolve("file"), "2");
        }
        String one = local.resolve("a/file").toString();
        String two = local.resolve("b/file").toString();
        assertEquals(1, run("put", one, two, url(Transport.RDMA, "/")));
        assertEquals("nfs put: " + one + " and " + two + " would be copied to the same name", err.strip());
        assertFalse(Files.exists(server.root().resolve("file")));
        assertEquals(1, run("get", url(Transport.RDMA, "/a/file"), url(Transport.RDMA, "/b/file"), local.toString()));
        assertEquals("nfs get: " + url(Transport.RDMA, "/a/file") + " and " + url(Transport.RDMA, "/b/file")
                + " would be copied to the same name", err.strip());
        assertFalse(Files.exists(local.resolve("file")));
        assertEquals(0, run("put", one, one, url(Transport.RDMA, "/")), () -> err);
        assertEquals(0, run("get", url(Transport.RDMA, "/a/file"), url(Transport.RDMA, "/a/file"), local.toString()), () -> err);
        assertEquals("1", Files.readString(local.resolve("file")));
    }

    /** Into a home directory, for instance, which a server could otherwise open to everybody. */
    @Test
    void shouldLeaveTheModeOfADirectoryInWhichTheFilesOfAServerGo() throws IOException {
        Files.setPosixFilePermissions(server.root(), PosixFilePermissions.fromString("rwxrwxrwx"));
        Files.setPosixFilePermissions(Files.createDirectory(server.root().resolve("inner")),
                PosixFilePermissions.fromString("rwxr-x--x"));
        Files.writeString(server.root().resolve("file"), "content");
        Path home = Files.createDirectory(local.resolve("home"), PosixFilePermissions.asFileAttribute(
                PosixFilePermissions.fromString("rwx------")));
        assertEquals(0, run("get", "-r", url(Transport.RDMA, "/"), home.toString()), () -> err);
        assertEquals("content", Files.readString(home.resolve("file")));
        assertEquals("rwxr-x--x", PosixFilePermissions.toString(Files.getPosixFilePermissions(home.resolve("inner"))));
        assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(home)));
        assertEquals(0, run("get", "-r", url(Transport.RDMA, "/"), local.resolve("new").toString()), () -> err);
        assertEquals("rwxrwxrwx", PosixFilePermissions.toString(Files.getPosixFilePermissions(local.resolve("new"))));
    }

    @Test
    void shouldPutALinkThatLeadsNowhere() throws IOException {
        Path link = Files.createSymbolicLink(local.resolve("link"), Path.of("nowhere"));
        assertEquals(0, run("put", link.toString(), url(Transport.RDMA, "/")), () -> err);
        assertEquals("nowhere", Files.readSymbolicLink(server.root().resolve("link")).toString());
        assertEquals(0, run("get", url(Transport.RDMA, "/link"), local.resolve("copy").toString()), () -> err);
        assertEquals(Path.of("nowhere"), Files.readSymbolicLink(local.resolve("copy")));
    }

    @Test
    void shouldCopyDirectoriesOnlyWhenAsked() throws IOException {
        Path directory = Files.createDirectory(local.resolve("directory"));
        Files.createDirectory(server.root().resolve("directory"));
        assertEquals(1, run("put", directory.toString(), url(Transport.RDMA, "/x")));
        assertEquals("nfs put: " + directory + ": it is a directory; use -r to copy it", err.strip());
        assertEquals(1, run("get", url(Transport.RDMA, "/directory"), local.resolve("x").toString()));
        assertEquals("nfs get: /directory: it is a directory; use -r to copy it", err.strip());
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void shouldPing(Transport transport) {
        assertEquals(0, run("ping", "-c", "3", url(transport, "/")), () -> err);
        assertEquals(4, out.lines().count(), out);
        assertTrue(out.lines().skip(3).findFirst().orElse("").matches(
                "3 calls: min [0-9.]+, avg [0-9.]+, p50 [0-9.]+, p99 [0-9.]+ us"), out);
    }

    @ParameterizedTest
    @CsvSource({
        "'',                RPC-over-RDMA version 1;RPC-over-RDMA version 2",
        "--rpcrdma v1,      RPC-over-RDMA version 1",
        "--rpcrdma v2,      RPC-over-RDMA version 2",
        "--transport tcp,   TCP",
    })
    void shouldShowThatAFolderOfTheUserIsCopiedWithoutADifference(String options, String shown) throws IOException {
        Path folder = Files.createDirectories(local.resolve("folder/inner")).getParent();
        Files.write(folder.resolve("large"), new byte[3_000_000]);
        Files.writeString(folder.resolve("inner/small"), "content");
        assertEquals(0, run(("demo --from " + folder + ' ' + options).split(" ")), () -> err);
        List<String> headings = out.lines().filter(line -> line.startsWith("NFS version 3 over "))
                .map(line -> line.replaceAll("NFS version 3 over |, with the RDMA provider .*", "")).toList();
        assertEquals(List.of(shown.split(";")), headings, out);
        assertEquals(shown.equals("TCP") ? 0 : headings.size(), out.lines()
                .filter(line -> line.endsWith(", with the RDMA provider " + Rdma.provider().name())).count(), out);
        assertEquals(headings.size(), lines("All 3 entries are equal on the server and in the copy"), out);
        assertEquals(shown.equals("TCP") ? 0 : headings.size(), lines("RDMA Reads by the server"), out);
        assertEquals(headings.size(), lines("put "), out);
        assertEquals(1, lines("read "), out);
        out.lines().forEach(line -> assertTrue(line.length() <= 80, line));
    }

    @Test
    void shouldNotDemonstrateAVersionOfRpcOverRdmaOverTcp() {
        assertEquals(2, run("demo", "--transport", "tcp", "--rpcrdma", "v2"));
        assertEquals("nfs demo: --rpcrdma is for --transport rdma only; try 'nfs demo --help'", err.strip());
    }

    @Test
    void shouldShowAMessageFromItsDigits() {
        assertEquals(0, run("dump", "0000002a 00000002", "00000020", "00000005", "00000000 00000000"), () -> err);
        assertEquals("v2 (version-two-08) RDMA2_CONNPROP xid 0000002a credits 32 flags 0 properties []\n", out);
        assertEquals(2, run("dump", "no-such-file.pcap"));
        assertEquals("nfs dump: neither a file nor hexadecimal digits: 'n' is no hexadecimal digit; try 'nfs dump --help'",
                err.strip());
        assertEquals(2, run("dump"));
        assertTrue(err.contains("Missing required parameter: 'FILE.pcap|HEX'"), err);
    }

    @Test
    void shouldShowMessagesFromStandardInputAndGoOnBehindABadOne() {
        InputStream before = System.in;
        try {
            System.setIn(new ByteArrayInputStream(("0000002a 00000001 00000020 00000003\n\n0000x\n"
                    + "0000002b000000010000002000000003\n").getBytes(StandardCharsets.US_ASCII)));
            assertEquals(0, run("dump", "-"), () -> err);
        } finally {
            System.setIn(before);
        }
        assertEquals(List.of("v1 RDMA_DONE xid 0000002a credits 32", "malformed line 3: 'x' is no hexadecimal digit",
                "v1 RDMA_DONE xid 0000002b credits 32"), out.lines().toList());
    }

    @Test
    void shouldRefuseALineThatDoesNotEnd() {
        InputStream endless = new SequenceInputStream(new ByteArrayInputStream("0000002a 00000001 00000020 00000003\n"
                .getBytes(StandardCharsets.US_ASCII)), new InputStream() {
                    @Override
                    public int read() {
                        return '0';
                    }
                });
        InputStream before = System.in;
        try {
            System.setIn(endless);
            assertEquals(1, run("dump", "-"));
        } finally {
            System.setIn(before);
        }
        assertEquals("v1 RDMA_DONE xid 0000002a credits 32\n", out);
        assertEquals("nfs dump: line 2 is longer than 1048576 characters, the digits of the longest message and a space between "
                + "any two",
                err.strip());
    }

    @Test
    void shouldSayWhyACaptureCannotBeShown() throws IOException {
        Path capture = Files.write(local.resolve("capture"), new byte[] {0x0A, 0x0D, 0x0D, 0x0A});
        assertEquals(1, run("dump", capture.toString()));
        assertEquals("nfs dump: a capture in pcapng format; convert it first: editcap -F pcap IN OUT", err.strip());
    }

    private long lines(String start) {
        return out.lines().filter(line -> line.startsWith(start)).count();
    }

    @Test
    void shouldExitWith1AndNameTheFirstDifferenceOfADemonstration() {
        StringWriter error = new StringWriter();
        CommandLine demo = NfsCommand.newCommandLine().getSubcommands().get("demo").setErr(new PrintWriter(error));
        DemoCommand command = demo.getCommand();
        assertEquals(1, command.judge(Optional.of("in the copy: a/b: mode is rwx------ instead of rw-------"), null));
        assertEquals("nfs demo: the trees differ; first difference in the copy: a/b: mode is rwx------ instead of rw-------",
                error.toString().strip());
    }

    private String url(Transport transport, String path) {
        return server.endpoint(transport, path).toString();
    }
}
