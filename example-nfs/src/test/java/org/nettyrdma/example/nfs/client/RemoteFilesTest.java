package org.nettyrdma.example.nfs.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.nettyrdma.example.nfs.TestServer;
import org.nettyrdma.example.nfs.Transport;
import org.nettyrdma.example.nfs.protocol.DirectoryEntry;
import org.nettyrdma.example.nfs.protocol.FileType;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.nettyrdma.example.nfs.protocol.Sattr;

class RemoteFilesTest {

    private TestServer server;
    private NfsSession session;
    private RemoteFiles files;

    @BeforeEach
    void start() throws IOException {
        server = TestServer.start("/export");
        Files.createDirectories(server.root().resolve("a/b"));
        Files.writeString(server.root().resolve("a/b/file"), "content");
        session = NfsSession.open(server.endpoint(Transport.RDMA, "/export/a"), new NfsClientOptions());
        files = session.files();
    }

    @AfterEach
    void stop() throws IOException {
        session.close();
        server.close();
    }

    @Test
    void shouldFindFilesByTheirPathOnTheServer() throws IOException {
        assertEquals("/export", files.root().path());
        RemoteFile file = files.find("/export/a/b/file");
        assertEquals("/export/a/b/file", file.path());
        assertEquals("file", file.name());
        assertEquals(7, file.attributes().size());
        assertEquals(files.root(), files.find("/export"));
    }

    @Test
    void shouldNotLookOutsideOfTheExport() {
        assertThrows(MountException.class, () -> files.find("/"));
        assertThrows(MountException.class, () -> files.find("/exported"));
    }

    @Test
    void shouldNeitherMakeNorRemoveTheMountedDirectoryItself() {
        String message = "/export: it is the mounted directory itself";
        assertEquals(message, assertThrows(IOException.class, () -> files.removeTree("/export")).getMessage());
        assertEquals(message, assertThrows(IOException.class, () -> files.remove("/export")).getMessage());
        assertEquals(message, assertThrows(IOException.class,
                () -> files.makeDirectory("/export", Sattr.NONE)).getMessage());
    }

    @Test
    void shouldNameThePathThatFailed() {
        NfsException failure = assertThrows(NfsException.class, () -> files.find("/export/a/x/file"));
        assertEquals(NfsStatus.NOENT, failure.status());
        assertEquals("/export/a/x: no such file or directory (NFS3ERR_NOENT), answered to LOOKUP", failure.getMessage());
    }

    @Test
    void shouldFollowLinksOnTheWayAndAtTheEndWhenAsked() throws IOException {
        link("a/to-b", "b");
        link("a/to-file", "../a/./to-b/file");
        link("absolute", "/a/to-file");
        assertEquals("/export/a/b/file", files.find("/export/a/to-b/file").path());
        assertEquals(FileType.SYMBOLIC_LINK, files.find("/export/absolute").attributes().type());
        assertEquals("/export/a/b/file", files.findTarget("/export/absolute").path());
        assertEquals("../a/./to-b/file", files.readLink(files.find("/export/a/to-file")));
    }

    @Test
    void shouldNotFollowLinksForEverOrOutOfTheExport() throws IOException {
        link("circle", "circle");
        link("outside", "../../../a");
        IOException failure = assertThrows(IOException.class, () -> files.findTarget("/export/circle"));
        assertEquals("/export/circle: more than 40 symbolic links on the way", failure.getMessage());
        assertEquals("/export/a", files.findTarget("/export/outside").path());
    }

    @Test
    void shouldListAllPagesOfADirectoryInOrder() throws IOException {
        List<String> expected = new ArrayList<>();
        for (int i = 1000; i < 2500; i++) {
            expected.add("file-" + i);
            Files.createFile(server.root().resolve("a/b/file-" + i));
        }
        expected.add(0, "file");
        assertEquals(expected, files.list(files.find("/export/a/b")).stream().map(RemoteFile::name).toList());
    }

    /** The kernel's server gives neither attributes nor handle of a name that is removed while it lists the directory. */
    @Test
    void shouldLeaveOutWhatIsGoneSinceItWasListed() throws IOException {
        try (HostileServer other = new HostileServer().file(2, "content")) {
            DirectoryEntry file = other.entry("file", 2);
            Iterator<List<DirectoryEntry>> states =
                    List.of(List.of(new DirectoryEntry(3, "gone", 1, null, null), file), List.of(file)).iterator();
            other.directory(1, cookie -> new HostileServer.Page(states.next(), true));
            try (NfsSession listing = NfsSession.open(other.endpoint("/"), new NfsClientOptions())) {
                assertEquals(List.of("/file"),
                        listing.files().list(listing.files().root()).stream().map(RemoteFile::path).toList());
            }
            assertFalse(states.hasNext(), "it was looked up");
        }
    }

    @Test
    void shouldMakeDirectoriesWithTheirParents() throws IOException {
        Sattr attributes = Sattr.NONE.withMode(0711);
        assertEquals("/export/x/y/z", files.makeDirectories("/export/x/y/z", attributes).path());
        files.makeDirectories("/export/x/y/z", attributes);
        assertEquals(0711, files.find("/export/x/y").attributes().mode());
        assertEquals(NfsStatus.EXIST, assertThrows(NfsException.class,
                () -> files.makeDirectory("/export/x/y", attributes)).status());
        assertEquals(NfsStatus.NOTDIR, assertThrows(NfsException.class,
                () -> files.makeDirectories("/export/a/b/file", attributes)).status());
    }

    /** A server may look whether it would make a directory before it looks whether it is there, as this one does. */
    @Test
    void shouldTakeDirectoriesThatAreThereOfAServerThatMakesNone() throws IOException {
        server.restartReadOnly();
        session.close();
        session = NfsSession.open(server.endpoint(Transport.RDMA, "/export/a"), new NfsClientOptions());
        files = session.files();
        assertEquals(NfsStatus.ROFS, assertThrows(NfsException.class,
                () -> files.makeDirectory(files.find("/export/a"), "b", Sattr.NONE)).status());
        assertEquals("/export/a/b", files.makeDirectories("/export/a/b", Sattr.NONE).path());
        assertEquals(NfsStatus.ROFS, assertThrows(NfsException.class,
                () -> files.makeDirectories("/export/a/new/below", Sattr.NONE)).status());
    }

    @Test
    void shouldRemoveFilesAndTreesButNotWhatLinksPointTo() throws IOException {
        link("a/link", "../keep");
        Files.createDirectories(server.root().resolve("keep/me"));
        assertEquals(NfsStatus.ISDIR, assertThrows(NfsException.class, () -> files.remove("/export/a")).status());
        files.remove("/export/a/b/file");
        assertFalse(Files.exists(server.root().resolve("a/b/file")));
        files.removeTree("/export/a");
        assertFalse(Files.exists(server.root().resolve("a")));
        assertTrue(Files.exists(server.root().resolve("keep/me")));
        assertThrows(IOException.class, () -> files.removeTree("/export"));
    }

    private void link(String name, String target) throws IOException {
        Path link = server.root().resolve(name);
        Files.createSymbolicLink(link, link.getFileSystem().getPath(target));
    }
}
