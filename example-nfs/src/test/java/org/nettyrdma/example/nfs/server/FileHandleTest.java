package org.nettyrdma.example.nfs.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.FileSystem;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.example.nfs.protocol.Fattr;
import org.nettyrdma.example.nfs.protocol.FileHandle;
import org.nettyrdma.example.nfs.protocol.MountProcedure;
import org.nettyrdma.example.nfs.protocol.MountStatus;
import org.nettyrdma.example.nfs.protocol.NfsProcedure;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.nettyrdma.example.nfs.protocol.WccData;

/** Handles: that they last, and that no others are taken. */
@ParameterizedClass
@EnumSource(TestFileSystem.class)
class FileHandleTest extends NfsTest {

    private static final int ISSUER_BITS = 32;

    FileHandleTest(TestFileSystem fileSystem) {
        super(fileSystem);
    }

    @Override
    NfsServiceOptions options() {
        return NfsServiceOptions.DEFAULTS.withStateDirectory(stateDirectory());
    }

    private Path stateDirectory() {
        return root.getParent().resolve("state");
    }

    private void restart() throws IOException {
        restart(export(), options());
    }

    private NfsStatus status(FileHandle handle) {
        return client.call(NfsProcedure.GETATTR, handle).status();
    }

    @Test
    void shouldKeepHandlesOverARestart() throws IOException {
        FileHandle directory = client.makeDirectory(top, "directory");
        List<FileHandle> files = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            files.add(client.create(directory, "file" + i, "content" + i));
        }
        restart();
        for (int i = 19; i >= 0; i--) {
            assertEquals("content" + i, client.read(files.get(i)));
        }
        assertEquals(files.get(3), client.lookup(directory, "file3").handle());
        assertEquals(top, client.mount("/"));
    }

    /** The number of a device is another one when the machine has started again, of btrfs always. */
    @Test
    void shouldNotKnowAFileByItsDeviceWhereItHasAGeneration() throws IOException {
        assumeTrue(fileSystem == TestFileSystem.DIRECTORY);
        FileId id = FileHandles.claimedId(client.create(top, "file"));
        assumeTrue(id.generation() != 0, "the file system keeps no creation times");
        assertEquals(new FileId(0, (Long) Files.getAttribute(root.resolve("file"), "unix:ino"), id.generation()), id);
    }

    @Test
    void shouldKeepHandlesOfFilesRenamedWhileTheServerWasDown() throws IOException {
        FileHandle file = client.create(client.makeDirectory(top, "directory"), "file", "hello");
        service.close();
        Files.move(root.resolve("directory"), root.resolve("moved"), StandardCopyOption.ATOMIC_MOVE);
        Files.move(root.resolve("moved/file"), root.resolve("moved/other"), StandardCopyOption.ATOMIC_MOVE);
        restart();
        assertEquals("hello", client.read(file));
    }

    @Test
    void shouldFindAFileThatAnotherProcessRenamed() throws IOException {
        FileHandle file = client.create(top, "file", "hello");
        Files.move(root.resolve("file"), root.resolve("other"), StandardCopyOption.ATOMIC_MOVE);
        assertEquals("hello", client.read(file));
    }

    @Test
    void shouldFollowSwappedNames() throws IOException {
        FileHandle a = client.create(top, "a", "content of a");
        FileHandle b = client.create(top, "b", "content of b");
        Files.move(root.resolve("a"), root.resolve("c"), StandardCopyOption.ATOMIC_MOVE);
        Files.move(root.resolve("b"), root.resolve("a"), StandardCopyOption.ATOMIC_MOVE);
        Files.move(root.resolve("c"), root.resolve("b"), StandardCopyOption.ATOMIC_MOVE);
        assertEquals("content of a", client.read(a));
        NfsTestClient.Reply reply = client.readReply(b, 0, 100);
        // Two searches in a row may be one too many for now, but never the wrong file.
        assertTrue(reply.status() == NfsStatus.JUKEBOX
                || new String(reply.ok(NfsTestClient.Data::read).bytes()).equals("content of b"));
    }

    @Test
    void shouldKnowAFileAgainThatComesBack() throws IOException {
        FileHandle file = client.create(top, "file", "hello");
        Path aside = root.getParent().resolve("aside");
        Files.move(root.resolve("file"), aside, StandardCopyOption.ATOMIC_MOVE);
        assertEquals(NfsStatus.STALE, status(file));
        Files.move(aside, root.resolve("back"), StandardCopyOption.ATOMIC_MOVE);
        assertEquals(file, client.lookup(top, "back").handle());
        Files.move(root.resolve("back"), root.resolve("renamed"), StandardCopyOption.ATOMIC_MOVE);
        long giveUpNanos = System.nanoTime() + 30_000_000_000L;
        while (status(file) == NfsStatus.JUKEBOX) { // as long as the search rests
            assertTrue(System.nanoTime() < giveUpNanos);
        }
        assertEquals("hello", client.read(file));
    }

    @Test
    void shouldFindAFileThatWasMovedAwayAndBack() throws IOException {
        FileHandle file = client.create(top, "file", "hello");
        Path aside = root.getParent().resolve("aside");
        Files.move(root.resolve("file"), aside, StandardCopyOption.ATOMIC_MOVE);
        assertEquals(NfsStatus.STALE, status(file));
        Files.move(aside, root.resolve("file"), StandardCopyOption.ATOMIC_MOVE);
        long giveUpNanos = System.nanoTime() + 30_000_000_000L;
        while (status(file) != NfsStatus.OK) { // as long as the search rests, it is as stale as it was
            assertTrue(System.nanoTime() < giveUpNanos);
        }
        assertEquals("hello", client.read(file));
    }

    /** A search that has found nothing must not take away what another call has found while it went on. */
    @Test
    void shouldNotForgetWhatAnotherCallHasFoundDuringASearch() throws IOException {
        FileTree tree = newTree(new PortableAttributes(root));
        client.create(top, "file");
        FileId id = tree.lookup(tree.root(), "file").node().id();
        FileHandle handle = tree.atKnownName(id).node().handle();
        assertFalse(tree.notFound(id), "it was seen meanwhile");
        assertEquals(handle, tree.locate(handle).node().handle());
    }

    /** The walk comes by the file, and a look at its name does not find it. */
    @Test
    void shouldBearAFileThatIsAwayForAMomentOfTheSearch() throws IOException {
        client.create(top, "file");
        AttributeStore real = NfsService.attributeStore(root, export());
        AtomicInteger looks = new AtomicInteger();
        AttributeStore store = new DelegatingStore(real) {
            @Override
            public FileStatus read(Path path) throws IOException {
                if (path.endsWith("file") && looks.incrementAndGet() == 2) {
                    throw new NoSuchFileException(path.toString());
                }
                return super.read(path);
            }
        };
        FileHandles handles = new FileHandles(new byte[FileHandles.KEY_BYTES]);
        FileHandle file = handles.handleOf(real.read(root.resolve("file")).id());
        FileTree tree = new FileTree(root, store, handles, 100, 1 << 20);
        assertEquals(NfsStatus.STALE, assertThrows(NfsException.class, () -> find(tree, file)).status());
        assertEquals(2, looks.get());
        tree.child(tree.root(), "file");
        assertEquals(file, tree.locate(file).node().handle());
    }

    @Test
    void shouldBoundTheMemoryOfKnownFiles() throws IOException {
        long maxBytes = 20_000;
        FileTree tree = new FileTree(root, new PortableAttributes(root), new FileHandles(new byte[FileHandles.KEY_BYTES]), 1000,
                maxBytes);
        FileHandle directory = client.makeDirectory(top, "directory");
        List<FileHandle> handles = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            String name = "file" + i + "x".repeat(100);
            client.create(directory, name);
            handles.add(tree.lookup(tree.lookup(tree.root(), "directory"), name).node().handle());
            assertTrue(tree.known().bytes() <= maxBytes, () -> tree.known().bytes() + " bytes");
        }
        assertTrue(tree.known().size() > 20, () -> tree.known().size() + " files");
        long giveUpNanos = System.nanoTime() + 30_000_000_000L;
        for (FileHandle handle : List.of(handles.get(0), handles.get(100), handles.get(199))) {
            assertEquals(handle, locate(tree, handle, giveUpNanos).node().handle(), "found again by a search");
        }
        for (int i = 0; i < 200; i++) {
            client.remove(directory, "file" + i + "x".repeat(100)).ok(WccData::read);
        }
    }

    private static FileObject find(FileTree tree, FileHandle handle) throws IOException {
        try {
            return tree.locate(handle);
        } catch (UnknownFileException e) {
            tree.search(e.id());
            return tree.locate(handle);
        }
    }

    private static FileObject locate(FileTree tree, FileHandle handle, long giveUpNanos) throws IOException {
        while (true) {
            try {
                return find(tree, handle);
            } catch (NfsException e) {
                assertEquals(NfsStatus.JUKEBOX, e.status());
                assertTrue(System.nanoTime() < giveUpNanos);
            }
        }
    }

    @Test
    void shouldForgetFilesThatAnotherProcessRemoved() throws IOException {
        FileHandle file = client.create(top, "file");
        Files.delete(root.resolve("file"));
        assertEquals(NfsStatus.STALE, status(file));
        assertEquals(NfsStatus.STALE, status(file));
    }

    @Test
    void shouldNotTakeAReusedFileNumberForTheSameFile() {
        Set<FileHandle> handles = new HashSet<>();
        FileHandle previous = null;
        for (int i = 0; i < 20; i++) {
            FileHandle file = client.create(top, "file");
            assertTrue(handles.add(file), "a handle was given to two files");
            if (previous != null) {
                assertEquals(NfsStatus.STALE, status(previous));
            }
            client.remove(top, "file").ok(WccData::read);
            previous = file;
        }
    }

    @Test
    void shouldRefuseEveryForgedHandle() {
        byte[] genuine = client.create(top, "file").toByteArray();
        for (int i = 0; i < genuine.length * Byte.SIZE; i++) {
            byte[] forged = genuine.clone();
            forged[i / Byte.SIZE] ^= (byte) (1 << i % Byte.SIZE);
            // One of another issuer may have been good there.
            assertEquals(i < ISSUER_BITS ? NfsStatus.STALE : NfsStatus.BADHANDLE, status(new FileHandle(forged)));
        }
        for (int length = 0; length <= 64; length++) {
            if (length != genuine.length) {
                assertEquals(NfsStatus.BADHANDLE, status(new FileHandle(Arrays.copyOf(genuine, length))));
            }
        }
        assertEquals(NfsStatus.OK, status(new FileHandle(genuine)));
    }

    @Test
    void shouldRefuseHandlesMadeWithAnotherKey() throws IOException {
        FileHandle file = client.create(top, "file");
        restart(export(), NfsServiceOptions.DEFAULTS);
        assertEquals(NfsStatus.STALE, status(file), "it was good, and clients know what to do");
        assertNotEquals(top, client.mount("/"));
    }

    @Test
    void shouldFindNothingOutsideOfTheExport() throws IOException {
        FileHandle file = client.create(top, "file", "secret");
        Files.move(root.resolve("file"), root.getParent().resolve("file"), StandardCopyOption.ATOMIC_MOVE);
        assertEquals(NfsStatus.STALE, status(file));
        restart();
        assertEquals(NfsStatus.STALE, status(file));
        Files.move(root.getParent().resolve("file"), root.resolve("file"), StandardCopyOption.ATOMIC_MOVE);
        assertEquals(file, client.lookup(top, "file").handle());
        assertEquals("secret", client.read(file));
    }

    private Path beside() {
        return root.resolveSibling("beside");
    }

    private void replaceExport() throws IOException {
        Files.move(root, beside(), StandardCopyOption.ATOMIC_MOVE);
        Files.createDirectory(root);
        Files.setPosixFilePermissions(root, PosixFilePermissions.fromString("rwxrwxrwx"));
    }

    @Test
    void shouldMountTheDirectoryThatHasReplacedTheExport() throws IOException {
        FileHandle file = client.create(top, "file", "old");
        replaceExport();
        FileHandle newTop = client.mount("/");
        FileHandle newFile = client.create(newTop, "file", "new");
        assertEquals("new", client.read(newFile));
        assertEquals(newTop, client.lookup(client.makeDirectory(newTop, "directory"), "..").handle());
        assertEquals(NfsStatus.STALE, status(top));
        assertNotEquals(NfsStatus.OK, status(file)); // stale, or later while the search rests
    }

    @Test
    void shouldFollowTheExportIntoTheDirectoryThatHasReplacedIt() throws IOException {
        FileHandle file = client.create(top, "file", "hello");
        replaceExport();
        Files.move(beside(), root.resolve("below"), StandardCopyOption.ATOMIC_MOVE);
        FileHandle newTop = client.mount("/");
        assertEquals(top, client.lookup(newTop, "below").handle());
        assertEquals("hello", client.read(file));
        assertEquals(newTop, client.lookup(top, "..").handle());
    }

    @Test
    void shouldKnowTheExportAgainThatComesBack() throws IOException {
        FileHandle file = client.create(top, "file", "hello");
        replaceExport();
        client.mount("/");
        Files.delete(root);
        assertEquals(NfsStatus.STALE, status(top));
        assertEquals(MountStatus.NOENT,
                MountStatus.read(client.callMount(MountProcedure.MNT, out -> Xdr.writeString(out, "/"))));
        Files.move(beside(), root, StandardCopyOption.ATOMIC_MOVE);
        assertEquals(top, client.mount("/"));
        assertEquals(file, client.lookup(top, "file").handle());
        assertEquals("hello", client.read(file));
    }

    @Test
    void shouldNotFollowALinkInPlaceOfTheExport() throws IOException {
        Files.move(root, beside(), StandardCopyOption.ATOMIC_MOVE);
        Files.createSymbolicLink(root, Files.createDirectory(root.resolveSibling("other")));
        try {
            assertEquals(MountStatus.NOENT,
                    MountStatus.read(client.callMount(MountProcedure.MNT, out -> Xdr.writeString(out, "/"))));
            assertEquals(NfsStatus.STALE, status(top));
        } finally {
            Files.delete(root);
        }
    }

    @Test
    void shouldBoundTheSearch() throws IOException {
        FileHandle file = client.create(top, "file");
        for (int i = 0; i < 50; i++) {
            client.create(client.makeDirectory(top, "directory" + i), "file");
        }
        restart(export(), options().withSearchLimit(10));
        int known = 0;
        for (int i = 0; i < 50; i++) {
            known += status(file) == NfsStatus.OK ? 1 : 0;
        }
        assertTrue(known == 0 || known == 50);
        assertEquals(NfsStatus.OK, status(client.lookup(client.mount("/"), "file").handle()));
    }

    @Test
    void shouldUseOneKeyWhenServersStartAtTheSameTime() throws Exception {
        int servers = 4;
        ExecutorService executor = Executors.newFixedThreadPool(servers);
        try {
            for (int round = 0; round < 50; round++) {
                Path directory = root.resolveSibling("state" + round);
                CyclicBarrier start = new CyclicBarrier(servers);
                Callable<String> server = () -> {
                    start.await();
                    return Arrays.toString(StateDirectory.key(directory, root));
                };
                Set<String> keys = new HashSet<>();
                for (Future<String> key : executor.invokeAll(Collections.nCopies(servers, server))) {
                    keys.add(key.get());
                }
                assertEquals(1, keys.size());
                try (Stream<Path> files = Files.list(directory)) {
                    assertEquals(1, files.count());
                }
            }
        } finally {
            executor.shutdownNow();
        }
    }

    @Test
    void shouldKeepTheKeyToTheOwnerAndOutOfTheExport() throws IOException {
        Path key = stateDirectory().resolve("handle.key");
        assertEquals(32, Files.size(key));
        assertEquals("[OWNER_READ, OWNER_WRITE]", new TreeSet<>(Files.getPosixFilePermissions(key)).toString());
        Path inside = root.resolve("state");
        assertThrows(IOException.class,
                () -> new NfsService(export(), NfsServiceOptions.DEFAULTS.withStateDirectory(inside)));
        byte[] bytes = Files.readAllBytes(key);
        restart();
        assertArrayEquals(bytes, Files.readAllBytes(key));
        Files.write(key, new byte[31], StandardOpenOption.TRUNCATE_EXISTING);
        assertThrows(IOException.class, () -> new NfsService(export(), options()));
    }

    @Test
    void shouldKeepTheKeyInADirectoryWithoutAParent() throws IOException {
        try (FileSystem memory = MemoryFileSystem.create(1 << 20)) {
            Path directory = memory.getPath("/");
            assertArrayEquals(StateDirectory.key(directory, root), StateDirectory.key(directory, root));
        }
    }

    @Test
    void shouldServeVeryDeepDirectories() {
        int depth = fileSystem == TestFileSystem.MEMORY ? 500 : 100;
        FileHandle directory = top;
        for (int i = 0; i < depth; i++) {
            directory = client.makeDirectory(directory, "d");
        }
        FileHandle file = client.create(directory, "file", "deep");
        assertEquals("deep", client.read(file));
        client.attributes(client.lookup(directory, "..").handle());
        assertEquals(Fattr.class, client.attributes(directory).getClass());
    }
}
