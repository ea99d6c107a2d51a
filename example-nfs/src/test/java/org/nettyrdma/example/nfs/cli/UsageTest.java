package org.nettyrdma.example.nfs.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.example.nfs.Transport;
import org.nettyrdma.example.nfs.client.HostileServer;

/** What the command line makes of mistakes, and of servers whose words it must not trust. */
class UsageTest extends CommandTest {

    @Test
    void shouldRefuseWhatACommandDoesNotUse() {
        assertEquals(2, run("cat", "--files", "2", "tcp://x"));
        assertTrue(err.contains("--files"), err);
    }

    @ParameterizedTest
    @CsvSource({
        "ls --timeout 0 tcp://x,         --timeout, 1 to 86400",
        "ls --timeout -1 tcp://x,        --timeout, 1 to 86400",
        "ls --timeout 1h tcp://x,        --timeout, 1 to 86400",
        "ls --mount-port 0 tcp://x,      --mount-port, 1 to 65535",
        "ls --mount-port 65536 tcp://x,  --mount-port, 1 to 65535",
        "ls --uid -1 tcp://x,            --uid, 0 to 4294967294",
        "ls --uid 4294967295 tcp://x,    --uid, 0 to 4294967294",
        "ls --gid 4294967295 tcp://x,    --gid, 0 to 4294967294",
        "cat --outstanding 0 tcp://x,    --outstanding, 1 to 1024",
        "get --files 0 tcp://x y,        --files, 1 to 256",
        "get --files 257 tcp://x y,      --files, 1 to 256",
        "put --transfer-size 0 x tcp://x, --transfer-size, 1 to 1048576",
        "put --transfer-size 1048577 x tcp://x, --transfer-size, 1 to 1048576",
        "put --transfer-size 99999999999 x tcp://x, --transfer-size, 1 to 1048576",
        "serve --port 65536,             --port, 0 to 65535",
        "serve --port -1,                --port, 0 to 65535",
        "serve --port +80,               --port, 0 to 65535",
        "serve --port \uff18\uff10,         --port, 0 to 65535",
        "serve --port 1000000000000000000000, --port, 0 to 65535",
        "serve --tcp-port x,             --tcp-port, 0 to 65535",
        "serve --credits 1025,           --credits, 1 to 1024",
        "serve --credits +1,             --credits, 1 to 1024",
        "serve --idle-timeout \u0661,     --idle-timeout, 0 to 1000000",
        "serve --threads 0,              --threads, 1 to 1024",
        "serve --event-loops 0,          --event-loops, 1 to 1024",
        "ping -c -1 tcp://x,             -c, 1 to 2147483647",
    })
    void shouldNameTheOptionAndItsRange(String arguments, String option, String range) {
        assertEquals(2, run(arguments.split(" ")));
        assertTrue(err.contains("Invalid value for option '" + option + "'"), err);
        assertTrue(err.contains("is not a number from " + range + "; try 'nfs "), err);
        assertEquals(1, err.lines().count(), err);
    }

    @Test
    void shouldRefuseEmptyAddressesAndPaths() {
        assertEquals(2, run("serve", "--bind", ""));
        assertEquals("nfs serve: Invalid value for option '--bind': '' is neither an address nor the name of a host; try 'nfs "
                + "serve --help'",
                err.strip());
        assertEquals(2, run("serve", "--export", ""));
        assertTrue(err.contains("'--export'"), err);
        assertEquals(2, run("get", url("/file"), ""));
        assertEquals(2, run("put", "", url("/file")));
        assertEquals("nfs put: '' is not a path; try 'nfs put --help'", err.strip());
    }

    @Test
    void shouldSayThatTheStateDirectoryCannotBeUsed() throws IOException {
        Path file = Files.createFile(local.resolve("file"));
        for (Path directory : List.of(file, file.resolve("below"))) {
            assertEquals(1, run("serve", "--port", "0", "--state-dir", directory.toString()));
            assertEquals("nfs serve: the state directory " + directory + " cannot be used: " + file + ": not a directory",
                    err.strip());
        }
    }

    @Test
    @Timeout(30)
    void shouldWaitForAConnectionAsLongAsItWasTold() throws IOException {
        try (ServerSocket silent = new ServerSocket(0)) {
            assertEquals(3, run("ls", "--timeout", "1", "rdma://127.0.0.1:" + silent.getLocalPort() + "/"));
            assertTrue(err.startsWith("nfs ls: cannot connect to rdma://127.0.0.1:"), err);
            assertTrue(err.contains("timed out after 1000 ms"), err);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"ls", "stat", "rm"})
    void shouldGoOnBehindAMissingArgument(String command) throws IOException {
        Files.writeString(server.root().resolve("there"), "content");
        assertEquals(1, run(command, url("/missing"), url("/there")));
        assertEquals("nfs " + command + ": /missing: no such file or directory (NFS3ERR_NOENT), answered to LOOKUP", err.strip());
        assertEquals(!command.equals("rm"), Files.exists(server.root().resolve("there")));
        assertEquals(!command.equals("rm"), out.contains("there"), out);
        assertEquals(1, run("get", url("/missing"), url("/"), local.toString()));
        assertEquals(2, err.lines().count(), err);
    }

    @Test
    void shouldTakeATrailingSlashForADirectory() throws IOException {
        Path file = Files.writeString(local.resolve("file"), "content");
        assertEquals(1, run("put", file.toString(), url("/missing/")));
        assertEquals("nfs put: /missing/: no such directory", err.strip());
        Files.createDirectory(server.root().resolve("directory"));
        assertEquals(0, run("put", file.toString(), url("/directory/")), () -> err);
        assertEquals("content", Files.readString(server.root().resolve("directory/file")));
        assertEquals(1, run("put", file.toString(), url("/directory/file/")));
        assertEquals("nfs put: /directory/file/: not a directory (NFS3ERR_NOTDIR)", err.strip());
        assertEquals(1, run("get", url("/directory/file"), local + "/missing/"));
        assertEquals("nfs get: " + local + "/missing: no such directory", err.strip());
        assertEquals(1, run("get", url("/directory/file"), file + "/"));
        assertEquals("nfs get: " + file + ": not a directory", err.strip());
        assertEquals("content", Files.readString(file));
    }

    @Test
    void shouldTakeNothingButADirectoryBehindASlash() throws IOException {
        Files.writeString(server.root().resolve("file"), "content");
        Files.writeString(Files.createDirectory(server.root().resolve("directory")).resolve("inner"), "content");
        Files.createSymbolicLink(server.root().resolve("link"), server.root().resolve("directory").getFileName());
        for (String name : List.of("file/", "file/.", "file/inner/..")) {
            for (String command : List.of("ls", "stat", "cat", "rm", "rm -r", "mkdir -p")) {
                assertNoDirectory("/file/", (command + ' ' + url("/") + name).split(" "));
            }
            assertNoDirectory("/file/", "get", url("/") + name, local.toString());
        }
        assertNoDirectory("/link/", "rm", url("/link/"));
        assertNoDirectory("/link/", "rm", "-r", url("/link/"));
        assertEquals("content", Files.readString(server.root().resolve("file")));
        assertTrue(Files.isSymbolicLink(server.root().resolve("link")));
        Path file = Files.writeString(local.resolve("other"), "content");
        assertEquals(1, run("put", file + "/", url("/")));
        assertEquals("nfs put: " + file + "/.: Not a directory", err.strip());
        assertTrue(Files.notExists(server.root().resolve("other")));
    }

    private void assertNoDirectory(String path, String... command) {
        assertEquals(1, run(command));
        assertEquals("nfs " + command[0] + ": " + path + ": not a directory (NFS3ERR_NOTDIR)", err.strip());
    }

    @Test
    void shouldTakeTheDirectoryThatALinkBehindASlashLeadsTo() throws IOException {
        for (Path root : List.of(server.root(), local)) {
            Files.writeString(Files.createDirectory(root.resolve("directory")).resolve("inner"), "content");
            Files.createSymbolicLink(root.resolve("link"), root.resolve("directory").getFileName());
        }
        assertEquals(0, run("ls", url("/link/")), () -> err);
        assertEquals("inner\n", out);
        assertEquals(0, run("stat", url("/link/")), () -> err);
        assertTrue(out.contains("/directory\n"), out);
        assertEquals(0, run("put", "-r", local + "/link/", url("/directory/")), () -> err);
        assertEquals("content", Files.readString(server.root().resolve("directory/link/inner")));
        assertEquals(0, run("get", "-r", url("/link/"), Files.createDirectory(local.resolve("copies")) + "/"), () -> err);
        assertEquals("content", Files.readString(local.resolve("copies/link/inner")));
        assertEquals(0, run("mkdir", url("/new/")), () -> err);
        assertEquals(0, run("rm", "-r", url("/new/")), () -> err);
        assertTrue(Files.notExists(server.root().resolve("new")));
    }

    /** A terminal obeys control characters, for example by showing another line than there is. */
    @Test
    void shouldShowControlCharactersOfAServerAsEscapes() throws IOException {
        try (HostileServer hostile = new HostileServer()) {
            hostile.file(2, "").link(3, "to\u001b]0;title\u0007");
            hostile.directory(1, hostile.entry("a\u001b[2Jb", 2), hostile.entry("c\nd", 2), hostile.entry("e\u009bf\u202eg", 2),
                    hostile.entry("h\udcff", 2), hostile.entry("link", 3));
            assertEquals(0, run("ls", hostile.endpoint("/").toString()), () -> err);
            assertEquals(List.of("a\\x1b[2Jb", "c\\x0ad", "e\\u009bf\\u202eg", "h\\xff", "link"), out.lines().toList());
            assertEquals(0, run("ls", "-l", hostile.endpoint("/").toString()), () -> err);
            assertTrue(out.contains("link -> to\\x1b]0;title\\x07"), out);
            hostile.directory(1, hostile.entry("\u001b[2J/x", 2));
            assertEquals(1, run("ls", hostile.endpoint("/").toString()));
            assertEquals("nfs ls: /: the server returns '\\x1b[2J/x', which cannot be a name", err.strip());
            assertEquals(1, run("ls", "--verbose", hostile.endpoint("/").toString()));
            assertTrue(err.contains("\n\tat org.nettyrdma.") && err.indexOf('\u001b') < 0, err);
        }
        assertEquals(2, run("dump", "\u001b[2J"));
        assertTrue(err.startsWith("nfs dump: neither a file nor hexadecimal digits: '\\x1b' is"), err);
    }

    @Test
    void shouldNotKeepTheTargetsOfLinksUntilAllAreKnown() throws IOException {
        try (HostileServer hostile = new HostileServer()) {
            hostile.file(2, "").link(3, "target").link(4, "x".repeat(5000));
            hostile.directory(1, hostile.entry("a", 2), hostile.entry("b", 3), hostile.entry("c", 4));
            assertEquals(1, run("ls", "-l", hostile.endpoint("/").toString()));
            assertEquals(2, out.lines().count(), out);
            assertTrue(out.endsWith("  b -> target\n"), out);
        }
    }

    @Test
    void shouldReadTheArgumentsOfTheProcessByteByByte() {
        byte[] commandLine = {'j', 0, 'M', 0, 'l', 's', 0, (byte) 0xFF, (byte) 0xC3, (byte) 0xA9, 0, 0};
        assertArrayEquals(new String[] {"ls", "\udcff\u00e9", ""}, CommandArguments.of(commandLine,
                new String[] {"ls", "??", ""}));
        String[] more = {"1", "2", "3", "4", "5", "6"};
        assertArrayEquals(more, CommandArguments.of(commandLine, more));
    }

    private String url(String path) {
        return server.endpoint(Transport.RDMA).toString().replaceFirst("/$", path);
    }
}
