package org.nettyrdma.example.nfs.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.nettyrdma.example.nfs.Transport;
import org.nettyrdma.example.nfs.client.HostileServer;

/** What fails for some files is told of each of them, and done for the others. */
class PartialFailureTest extends CommandTest {

    private static final String DENIED = ": permission denied (NFS3ERR_ACCES), answered to ";

    @Test
    void shouldGetTheRestBehindWhatCannotBeRead() throws IOException {
        Path tree = Files.createDirectories(server.root().resolve("tree/closed")).getParent();
        Files.writeString(tree.resolve("closed/inside"), "secret");
        Files.writeString(tree.resolve("a"), "secret");
        Files.writeString(tree.resolve("z"), "content");
        Files.writeString(Files.createDirectory(tree.resolve("open")).resolve("file"), "content");
        setMode("rwx------", tree.resolve("closed"), tree.resolve("a"));
        setMode("rwxr-xr-x", tree, tree.resolve("open"));
        Path copy = local.resolve("copy");
        assertEquals(1, runAsUser("get", "-r", url("/tree"), copy.toString()));
        assertEquals(List.of("nfs get: /tree/a" + DENIED + "READ", "nfs get: /tree/closed" + DENIED + "READDIRPLUS"), errors());
        assertEquals("content", Files.readString(copy.resolve("z")));
        assertEquals("content", Files.readString(copy.resolve("open/file")));
        assertEquals("rwxr-xr-x", PosixFilePermissions.toString(Files.getPosixFilePermissions(copy)));
        assertEquals(List.of("closed", "open", "z"), names(copy));
    }

    @Test
    void shouldGetTheRestBehindWhatCannotBeReplaced() throws IOException {
        Files.writeString(Files.createDirectory(server.root().resolve("tree")).resolve("a"), "content");
        Files.writeString(server.root().resolve("tree/b"), "content");
        Files.createDirectories(local.resolve("tree/a"));
        assertEquals(1, run("get", "-r", url("/tree"), local.toString()));
        assertEquals(List.of("nfs get: " + local.resolve("tree/a") + ": it is a directory here, and stays one"), errors());
        assertEquals("content", Files.readString(local.resolve("tree/b")));
        assertEquals(List.of("a", "b"), names(local.resolve("tree")));
    }

    @Test
    void shouldGetAndListTheRestBehindNamesThatCannotBe() throws IOException {
        try (HostileServer hostile = new HostileServer()) {
            String tooLong = "n".repeat(300);
            hostile.file(3, "content");
            hostile.directory(2, hostile.entry("a", 3), hostile.entry("../up", 3), hostile.entry(tooLong, 3),
                    hostile.entry("z", 3));
            hostile.directory(1, hostile.entry("", 3), hostile.entry("..", 3), hostile.entry("b\0", 3), hostile.entry("tree", 2),
                    hostile.entry("z", 3));
            String root = hostile.endpoint("/").toString();
            Path copy = local.resolve("copy");
            assertEquals(1, run("get", "-r", root, copy.toString()));
            String noName = ": the server returns '%s', which cannot be a name";
            assertEquals(Set.of("nfs get: " + copy.resolve("tree").resolve(tooLong) + ": File name too long",
                    "nfs get: /" + String.format(noName, ""), "nfs get: /" + String.format(noName, "b\\x00"),
                    "nfs get: /tree" + String.format(noName, "../up")), Set.copyOf(errors()));
            assertEquals(List.of("tree", "z"), names(copy));
            assertEquals(List.of("a", "z"), names(copy.resolve("tree")));
            assertEquals("content", Files.readString(copy.resolve("tree/z")));

            assertEquals(1, run("ls", root));
            assertEquals(List.of("tree", "z"), out.lines().toList());
            assertEquals(2, errors().size(), err);
            assertEquals(1, run("ls", "-l", root));
            assertEquals(2, out.lines().count(), out);
        }
    }

    @Test
    void shouldPutTheRestBehindWhatCannotBeWritten() throws IOException {
        Path source = Files.createDirectory(local.resolve("source"));
        Files.writeString(Files.createDirectory(source.resolve("closed")).resolve("inside"), "content");
        Files.writeString(source.resolve("a"), "content");
        Files.createLink(Files.createDirectory(source.resolve("other")).resolve("link"), source.resolve("a"));
        Files.writeString(source.resolve("z"), "content");
        Path tree = Files.createDirectories(server.root().resolve("source/closed")).getParent();
        Files.createDirectory(tree.resolve("a"));
        setMode("rwxrwxrwx", tree);
        setMode("rwxr-xr-x", tree.resolve("closed"));
        assertEquals(1, runAsUser("put", "-r", source.toString(), url("/")));
        assertTrue(errors().contains("nfs put: /source/closed/inside" + DENIED + "CREATE"), err);
        assertTrue(err.contains("nfs put: /source/a: it is a directory (NFS3ERR_ISDIR), answered to RENAME"), err);
        assertEquals("content", Files.readString(tree.resolve("z")));
        assertEquals("content", Files.readString(tree.resolve("other/link")));
        assertEquals(List.of("a", "closed", "other", "z"), names(tree));
    }

    @Test
    void shouldPutTheOthersBehindWhatIsNotThereOrADirectory() throws IOException {
        String one = Files.writeString(local.resolve("one"), "1").toString();
        String two = Files.writeString(local.resolve("two"), "2").toString();
        String directory = Files.createDirectory(local.resolve("directory")).toString();
        assertEquals(1, run("put", one, local + "/missing", directory, two, url("/")));
        assertEquals(List.of("nfs put: " + directory + ": it is a directory; use -r to copy it",
                "nfs put: " + local + "/missing: no such file or directory"), errors());
        assertEquals("1", Files.readString(server.root().resolve("one")));
        assertEquals("2", Files.readString(server.root().resolve("two")));
    }

    /** Each of them would fail for the same reason. */
    @Test
    void shouldEndWhereNothingCanBeWritten() throws IOException {
        Path source = Files.createDirectory(local.resolve("source"));
        Files.writeString(source.resolve("a"), "content");
        Files.writeString(source.resolve("b"), "content");
        Files.createDirectory(server.root().resolve("source"));
        server.restartReadOnly();
        assertEquals(1, run("put", "-r", source.toString(), url("/")));
        assertEquals(1, errors().size(), err);
        assertTrue(err.contains("NFS3ERR_ROFS"), err);
    }

    @Test
    void shouldRemoveAllThatCanBeRemoved() throws IOException {
        Path tree = Files.createDirectories(server.root().resolve("tree/closed")).getParent();
        Files.createFile(tree.resolve("closed/file"));
        for (String name : List.of("a", "z")) {
            Files.createFile(Files.createDirectory(tree.resolve(name)).resolve("file"));
            setMode("rwxrwxrwx", tree.resolve(name));
        }
        setMode("rwxrwxrwx", tree);
        setMode("rwxr-xr-x", tree.resolve("closed"));
        assertEquals(1, runAsUser("rm", "-r", url("/tree")));
        assertEquals(List.of("nfs rm: /tree/closed/file" + DENIED + "REMOVE"), errors());
        assertEquals(List.of("closed"), names(tree));
        setMode("rwxrwxrwx", tree.resolve("closed"));
        assertEquals(0, runAsUser("rm", "-r", url("/tree")), () -> err);
        assertFalse(Files.exists(tree));
    }

    /** Whoever may read a directory and not search it gets the names of its files, and nothing else. */
    @Test
    void shouldListTheNamesOfFilesThatNobodyMayLookAt() throws IOException {
        Path directory = Files.createDirectory(server.root().resolve("directory"));
        Files.createFile(directory.resolve("b"));
        Files.createFile(directory.resolve("a"));
        setMode("rwxr--r--", directory);
        assertEquals(0, runAsUser("ls", url("/directory")), () -> err);
        assertEquals("a\nb\n", out);
        assertEquals(1, runAsUser("ls", "-l", url("/directory"), url("/directory/..")));
        assertEquals(List.of("nfs ls: /directory/a" + DENIED + "LOOKUP", "nfs ls: /directory/b" + DENIED + "LOOKUP"), errors());
        assertTrue(out.endsWith("  directory\n"), out);
    }

    private int runAsUser(String command, String... arguments) {
        return run(Stream.concat(Stream.of(command, "--uid", "1000", "--gid", "1000"), Stream.of(arguments))
                .toArray(String[]::new));
    }

    private List<String> errors() {
        return err.lines().sorted().toList();
    }

    private static List<String> names(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    private static void setMode(String permissions, Path... files) throws IOException {
        for (Path file : files) {
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));
        }
    }

    private String url(String path) {
        return server.endpoint(Transport.RDMA, path).toString();
    }
}
