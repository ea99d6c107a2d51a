package org.nettyrdma.example.nfs.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystem;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.example.nfs.TestServer;
import org.nettyrdma.example.nfs.Transport;
import org.nettyrdma.example.nfs.demo.DemoTree;
import org.nettyrdma.example.nfs.demo.TreeSnapshot;
import org.nettyrdma.example.nfs.protocol.DirectoryOperationArguments;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.nettyrdma.example.nfs.protocol.RenameArguments;
import org.nettyrdma.example.nfs.protocol.Sattr;
import org.nettyrdma.example.nfs.server.MemoryFileSystem;

class TreeCopyTest {

    private FileSystem memory;
    private TestServer server;

    @BeforeEach
    void start() throws IOException {
        memory = MemoryFileSystem.create(256 << 20);
        server = TestServer.start();
    }

    @AfterEach
    void stop() throws IOException {
        server.close();
        memory.close();
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void shouldCopyATreeThereAndBackInMemory(Transport transport) throws IOException {
        copyThereAndBack(transport, memory.getPath("/"));
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void shouldCopyATreeThereAndBackOnDisk(Transport transport, @TempDir Path directory) throws IOException {
        copyThereAndBack(transport, directory);
        makeDeletable(directory);
    }

    private void copyThereAndBack(Transport transport, Path directory) throws IOException {
        Path source = DemoTree.writeSmall(Files.createDirectory(directory.resolve("source")));
        Path copy = directory.resolve("copy");
        AtomicLong copiedBytes = new AtomicLong();
        CopyOptions options = new CopyOptions().setCallsPerFile(3).setFilesAtOnce(2).setListener(new CopyListener() {
            @Override
            public void copied(long bytes) {
                copiedBytes.addAndGet(bytes);
            }

            @Override
            public void skipped(String path, String reason) {
                throw new AssertionError(path + " was skipped: " + reason);
            }
        });
        TreeSnapshot expected = TreeSnapshot.of(source);
        try (NfsSession session = server.open(transport)) {
            TreeCopy.put(session.files(), source, session.files().root(), "tree", options);
            assertEquals(expected.bytes(), copiedBytes.get());
            assertEquals(Optional.empty(), expected.firstDifference(TreeSnapshot.of(server.root().resolve("tree"))));
            TreeCopy.get(session.files(), session.files().find("/tree"), copy, options);
            assertEquals(Optional.empty(), expected.firstDifference(TreeSnapshot.of(copy)));
            assertEquals(2 * expected.bytes(), copiedBytes.get());
            // Onto what is there already.
            TreeCopy.put(session.files(), source, session.files().root(), "tree", options);
            assertEquals(Optional.empty(), expected.firstDifference(TreeSnapshot.of(server.root().resolve("tree"))));
        }
    }

    /** What identifies a file is given to another one when it is gone. */
    @Test
    void shouldNotTakeAFileForAnotherThatWasRemovedMeanwhile(@TempDir Path directory) throws Exception {
        assumeTrue(directory.getFileSystem().supportedFileAttributeViews().contains("unix"));
        Path first = Files.writeString(directory.resolve("first"), "of the first");
        Object fileKey = Files.readAttributes(first, BasicFileAttributes.class).fileKey();
        try (NfsSession session = server.open(Transport.RDMA); CopyJobs jobs = new CopyJobs(1)) {
            PutTree copy = new PutTree(session.files(), new CopyOptions(), jobs);
            copy.put(first, session.files().root(), "first");
            CountDownLatch copied = new CountDownLatch(1);
            jobs.start(copied::countDown); // there is one thread
            copied.await();
            Files.delete(first);
            Path second = Files.writeString(directory.resolve("second"), "of the second");
            assumeTrue(fileKey.equals(Files.readAttributes(second, BasicFileAttributes.class).fileKey()));
            copy.put(second, session.files().root(), "second");
            jobs.finish();
        }
        assertEquals("of the first", Files.readString(server.root().resolve("first")));
        assertEquals("of the second", Files.readString(server.root().resolve("second")));
    }

    @Test
    void shouldReplaceFilesAndLinksButNotDirectories() throws IOException {
        Path source = Files.createDirectory(memory.getPath("/source"));
        Files.writeString(source.resolve("a"), "new");
        Files.createSymbolicLink(source.resolve("b"), memory.getPath("new"));
        Path target = Files.createDirectory(server.root().resolve("target"));
        Files.createSymbolicLink(target.resolve("a"), server.root().resolve("elsewhere"));
        Files.writeString(target.resolve("b"), "a longer old content");
        try (NfsSession session = server.open(Transport.RDMA)) {
            RemoteFiles files = session.files();
            TreeCopy.put(files, source, files.root(), "target", new CopyOptions());
            assertEquals("new", Files.readString(target.resolve("a")));
            assertTrue(Files.isRegularFile(target.resolve("a"), LinkOption.NOFOLLOW_LINKS));
            assertEquals("new", Files.readSymbolicLink(target.resolve("b")).toString());
            Files.createDirectory(target.resolve("c"));
            Path file = Files.writeString(memory.getPath("/c"), "file");
            IOException refused = assertThrows(IOException.class,
                    () -> TreeCopy.put(files, file, files.find("/target"), "c", new CopyOptions()));
            assertTrue(refused.getMessage().startsWith("/target/c: "), refused.getMessage());
        }
    }

    @Test
    void shouldReplaceLocalLinksInsteadOfFollowingThem() throws IOException {
        Path outside = Files.writeString(memory.getPath("/outside"), "outside");
        Path copy = Files.createDirectory(memory.getPath("/copy"));
        Files.createSymbolicLink(copy.resolve("file"), outside);
        Path tree = Files.createDirectory(server.root().resolve("tree"));
        Files.writeString(tree.resolve("file"), "inside");
        try (NfsSession session = server.open(Transport.RDMA)) {
            TreeCopy.get(session.files(), session.files().find("/tree"), copy, new CopyOptions());
        }
        assertEquals("outside", Files.readString(outside));
        assertEquals("inside", Files.readString(copy.resolve("file")));
        assertTrue(Files.isRegularFile(copy.resolve("file"), LinkOption.NOFOLLOW_LINKS));
    }

    @Test
    void shouldNotCopyThroughALocalLinkToADirectory() throws IOException {
        Path outside = Files.createDirectory(memory.getPath("/outside"));
        Path copy = Files.createDirectory(memory.getPath("/copy"));
        Files.createSymbolicLink(copy.resolve("directory"), outside);
        Files.createDirectories(server.root().resolve("tree/directory"));
        Files.writeString(server.root().resolve("tree/directory/file"), "inside");
        try (NfsSession session = server.open(Transport.RDMA)) {
            assertThrows(IOException.class,
                    () -> TreeCopy.get(session.files(), session.files().find("/tree"), copy, new CopyOptions()));
        }
        assertTrue(Files.notExists(outside.resolve("file")));
    }

    @Test
    void shouldReportTheFirstFailureWithItsPath() throws IOException {
        Path source = Files.createDirectory(memory.getPath("/source"));
        for (int i = 0; i < 50; i++) {
            Files.writeString(source.resolve("file-" + i), "content");
        }
        try (NfsSession session = server.open(Transport.RDMA)) {
            RemoteFile root = session.files().root();
            RemoteFile gone = session.files().makeDirectory("/gone", Sattr.NONE);
            session.files().removeTree("/gone");
            NfsException failure = assertThrows(NfsException.class,
                    () -> TreeCopy.put(session.files(), source, gone, "x", new CopyOptions()));
            assertEquals(NfsStatus.STALE, failure.status());
            assertTrue(failure.getMessage().startsWith("/gone/x: "), failure.getMessage());
            assertEquals("/", root.path());
        }
    }

    /** No memory, for instance: what is not copied must not look as if it were. */
    @Test
    void shouldFailWithAnErrorOfAThreadAndLeaveNothingBehind() throws IOException {
        Path source = Files.createDirectory(memory.getPath("/source"));
        Files.writeString(source.resolve("file"), "content");
        Path copy = memory.getPath("/copy");
        CopyOptions options = new CopyOptions().setListener(new CopyListener() {
            @Override
            public void copied(long bytes) {
                throw new OutOfMemoryError("as if");
            }

            @Override
            public void skipped(String path, String reason) {
                throw new AssertionError(path);
            }
        });
        try (NfsSession session = server.open(Transport.RDMA)) {
            RemoteFiles files = session.files();
            IOException failure = assertThrows(IOException.class,
                    () -> TreeCopy.put(files, source, files.root(), "tree", options));
            assertEquals("the copy failed: java.lang.OutOfMemoryError: as if", failure.getMessage());
            assertEquals(List.of(), files.list(files.find("/tree")));
            TreeCopy.put(files, source, files.root(), "tree", new CopyOptions());
            assertThrows(IOException.class, () -> TreeCopy.get(files, files.find("/tree"), copy, options));
        }
        try (Stream<Path> left = Files.list(copy)) {
            assertEquals(List.of(), left.toList());
        }
    }

    /** On a read-only file system, too: that refuses to remove what could not be made. */
    @Test
    void shouldSayWhyAFileIsNotCopiedWhereItsBeginningCannotBeRemoved() throws IOException {
        Path shrinking = Files.write(server.root().resolve("file"), new byte[2000]);
        Path copy = Files.createDirectory(memory.getPath("/copy"));
        CopyOptions options = new CopyOptions().setCallsPerFile(1).setMaxTransferBytes(1000).setListener(new CopyListener() {
            @Override
            public void copied(long bytes) {
                try (Stream<Path> begun = Files.list(copy)) {
                    Path made = begun.findAny().orElseThrow();
                    Files.delete(made);
                    Files.createDirectory(made); // which is not removed as a file
                    Files.write(shrinking, new byte[1]);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }

            @Override
            public void skipped(String path, String reason) {
                throw new AssertionError(path);
            }
        });
        try (NfsSession session = server.open(Transport.RDMA)) {
            IOException failure = assertThrows(IOException.class,
                    () -> TreeCopy.get(session.files(), session.files().find("/file"), copy.resolve("file"), options));
            assertEquals("/file: the file became shorter while it was copied", failure.getMessage());
        }
    }

    /** Programs replace files by renaming others to them, and a whole directory is listed before its first file is copied. */
    @Test
    void shouldCopyWhatHasTakenThePlaceOfAFileSinceItWasListed() throws IOException {
        Path tree = Files.createDirectory(server.root().resolve("tree"));
        Path next = Files.createDirectory(server.root().resolve("next"));
        // What has two names is copied by the walk itself, before anything behind it.
        Files.createLink(tree.resolve("b"), Files.writeString(tree.resolve("a"), "first"));
        Files.writeString(tree.resolve("c"), "old");
        Files.createLink(tree.resolve("e"), Files.writeString(tree.resolve("d"), "old"));
        Files.createSymbolicLink(tree.resolve("f"), server.root().resolve("old").getFileName());
        for (String name : List.of("c", "d", "e")) {
            Files.writeString(next.resolve(name), "new " + name);
        }
        Files.createSymbolicLink(next.resolve("f"), server.root().resolve("new").getFileName());
        Path copy = memory.getPath("/copy");
        try (NfsSession session = server.open(Transport.RDMA)) {
            TreeCopy.get(session.files(), session.files().find("/tree"), copy, new CopyOptions().setListener(new CopyListener() {
                private boolean isFirst = true;

                @Override
                public void copied(long bytes) {
                    if (isFirst) {
                        isFirst = false;
                        List.of("c", "d", "e", "f").forEach(name -> replace(session.files(), name));
                    }
                }

                @Override
                public void skipped(String path, String reason) {
                    throw new AssertionError(path + " was skipped: " + reason);
                }
            }).setFilesAtOnce(1));
        }
        assertEquals("first", Files.readString(copy.resolve("b")));
        for (String name : List.of("c", "d", "e")) {
            assertEquals("new " + name, Files.readString(copy.resolve(name)));
        }
        assertEquals("new", Files.readSymbolicLink(copy.resolve("f")).toString());
    }

    private static void replace(RemoteFiles files, String name) {
        try {
            Await.result(files.client().rename(new RenameArguments(
                    new DirectoryOperationArguments(files.find("/next").handle(), name),
                    new DirectoryOperationArguments(files.find("/tree").handle(), name))));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void shouldReadAFileIntoAChannel(Transport transport) throws IOException {
        byte[] content = new byte[3_000_001];
        new Random(1).nextBytes(content);
        Files.write(server.root().resolve("file"), content);
        Path copy = memory.getPath("/copy");
        try (NfsSession session = server.open(transport);
                FileChannel out = FileChannel.open(copy, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            TreeCopy.read(session.files(), session.files().find("/file"), out, "copy",
                    new CopyOptions().setMaxTransferBytes(100_000));
        }
        assertArrayEquals(content, Files.readAllBytes(copy));
    }

    /** JUnit deletes its directories without changing their modes. */
    private static void makeDeletable(Path directory) throws IOException {
        try (Stream<Path> paths = Files.walk(directory)) {
            for (Path path : (Iterable<Path>) paths.filter(path -> Files.isDirectory(path,
                    LinkOption.NOFOLLOW_LINKS))::iterator) {
                Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwx------"));
            }
        }
    }
}
