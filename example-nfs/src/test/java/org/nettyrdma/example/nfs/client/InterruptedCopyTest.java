package org.nettyrdma.example.nfs.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.util.NetUtil;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystem;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.example.nfs.LocalNames;
import org.nettyrdma.example.nfs.NfsServer;
import org.nettyrdma.example.nfs.NfsServerOptions;
import org.nettyrdma.example.nfs.Transport;
import org.nettyrdma.example.nfs.server.Export;
import org.nettyrdma.example.nfs.server.MemoryFileSystem;
import org.nettyrdma.example.nfs.server.Squash;

/** Copies that do not come to their end, and names that are hard to copy, between two directories on disk. */
class InterruptedCopyTest {

    private static final byte[] OLD = {1, 2, 3};
    private static final int BYTES = 40 << 20;

    @TempDir
    private Path directory;

    private Path served;
    private Path local;
    private NfsServer server;
    private NfsSession session;

    /** A copy in one of the two directions. */
    @FunctionalInterface
    private interface Copy {

        void run(CopyOptions options) throws IOException;
    }

    @BeforeEach
    void start() throws IOException {
        served = Files.createDirectory(directory.resolve("served"));
        local = Files.createDirectory(directory.resolve("local"));
        server = NfsServer.start(Export.of(served).withSquash(Squash.NONE),
                new NfsServerOptions().setBindAddress(NetUtil.LOCALHOST4).setPort(Transport.RDMA, 0));
        session = NfsSession.open(new NfsEndpoint(Transport.RDMA, "127.0.0.1", server.address(Transport.RDMA).getPort(), "/"),
                new NfsClientOptions());
    }

    @AfterEach
    void stop() {
        session.close();
        server.close();
    }

    private void put(Path source, String name, CopyOptions options) throws IOException {
        TreeCopy.put(session.files(), source, session.files().root(), name, options);
    }

    private void get(String name, Path target, CopyOptions options) throws IOException {
        TreeCopy.get(session.files(), session.files().find("/" + name), target, options);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4})
    void shouldLeaveTheOldFileOnTheServerWhenAPutIsInterrupted(int callsPerFile) throws Exception {
        Path source = Files.write(local.resolve("source"), new byte[BYTES]);
        Files.write(served.resolve("file"), OLD);
        interrupt(callsPerFile, options -> put(source, "file", options));
        assertArrayEquals(OLD, Files.readAllBytes(served.resolve("file")));
        assertEquals(Set.of("file"), names(served));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4})
    void shouldLeaveTheOldLocalFileWhenAGetIsInterrupted(int callsPerFile) throws Exception {
        Files.write(served.resolve("file"), new byte[BYTES]);
        Path target = Files.write(local.resolve("target"), OLD);
        interrupt(callsPerFile, options -> get("file", target, options));
        assertArrayEquals(OLD, Files.readAllBytes(target));
        assertEquals(Set.of("target"), names(local));
    }

    private static void interrupt(int callsPerFile, Copy copy) throws Exception {
        CompletableFuture<Void> begun = new CompletableFuture<>();
        CompletableFuture<IOException> failed = new CompletableFuture<>();
        CopyOptions options = new CopyOptions().setMaxTransferBytes(4096).setCallsPerFile(callsPerFile)
                .setListener(new CopyListener() {
            @Override
            public void copied(long bytes) {
                begun.complete(null);
            }

            @Override
            public void skipped(String path, String reason) {
                throw new AssertionError(path);
            }
        });
        Thread thread = new Thread(() -> failed.complete(assertThrows(IOException.class, () -> copy.run(options))));
        thread.start();
        begun.get(60, TimeUnit.SECONDS);
        thread.interrupt();
        assertEquals(InterruptedIOException.class, failed.get(60, TimeUnit.SECONDS).getClass());
        thread.join();
    }

    @Test
    void shouldLeaveTheOldFileAndTellOfTheOtherWhenTheConnectionIsLost() throws IOException {
        Path source = Files.write(local.resolve("source"), new byte[BYTES]);
        Files.write(served.resolve("file"), OLD);
        Set<String> expected = new TreeSet<>(Set.of("file"));
        CopyOptions options = new CopyOptions().setListener(new CopyListener() {
            @Override
            public void copied(long bytes) {
                session.close();
            }

            @Override
            public void skipped(String path, String reason) {
                throw new AssertionError(path);
            }

            @Override
            public void left(String path) {
                expected.add(path.substring(1));
            }
        });
        assertThrows(IOException.class, () -> put(source, "file", options));
        assertArrayEquals(OLD, Files.readAllBytes(served.resolve("file")));
        assertEquals(expected, names(served));
        assertEquals(2, expected.size());
    }

    @Test
    void shouldNameTheLocalFileWhenTheDiskIsFull() throws IOException {
        Files.write(served.resolve("file"), new byte[BYTES]);
        try (FileSystem small = MemoryFileSystem.create(1 << 20)) {
            Path target = Files.write(small.getPath("/target"), OLD);
            FileSystemException failure = assertThrows(FileSystemException.class, () -> get("file", target, new CopyOptions()));
            assertEquals("/target: out of disk space", failure.getMessage());
            assertArrayEquals(OLD, Files.readAllBytes(target));
            assertEquals(Set.of("target"), names(small.getPath("/")));
        }
    }

    /** As root it would be /dev/null that is replaced. */
    @Test
    void shouldNotReplaceADeviceOrPipe() throws Exception {
        Files.write(served.resolve("file"), OLD);
        Path pipe = local.resolve("pipe");
        assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());
        FileSystemException failure = assertThrows(FileSystemException.class, () -> get("file", pipe, new CopyOptions()));
        assertEquals(pipe + ": it is a device, pipe or socket here, and stays one", failure.getMessage());
        assertTrue((Boolean) Files.getAttribute(pipe, "isOther"));
        Files.createDirectory(local.resolve("directory"));
        failure = assertThrows(FileSystemException.class, () -> get("file", local.resolve("directory"), new CopyOptions()));
        assertEquals(local.resolve("directory") + ": it is a directory here, and stays one", failure.getMessage());
        assertEquals(Set.of("pipe", "directory"), names(local));
    }

    @Test
    void shouldCopyNamesOfAnyBytesThereAndBack() throws IOException {
        Path source = Files.createDirectory(local.resolve("source"));
        List<String> names = List.of("\udce9", "\u00e9", "\udcff\udcfe", "\udcff\udcfd");
        for (String name : names) {
            Files.writeString(LocalNames.child(source, name), "content of " + name.length()
                    + (int) name.charAt(name.length() - 1));
        }
        Files.createSymbolicLink(source.resolve("link"), LocalNames.path(source, "a\udcff/../\udce9"));
        put(source, "tree", new CopyOptions());
        get("tree", local.resolve("copy"), new CopyOptions());
        for (Path copy : new Path[] {served.resolve("tree"), local.resolve("copy")}) {
            Set<String> expected = new TreeSet<>(names);
            expected.add("link");
            assertEquals(expected, names(copy));
            for (String name : names) {
                assertEquals(-1, Files.mismatch(LocalNames.child(source, name), LocalNames.child(copy, name)));
            }
            assertEquals("a\udcff/../\udce9", LocalNames.textOf(Files.readSymbolicLink(copy.resolve("link"))));
        }
    }

    @Test
    void shouldSayWhichNamesTheLocalFileSystemCannotHave() throws IOException {
        Files.writeString(LocalNames.child(Files.createDirectory(served.resolve("tree")), "\udcff"), "lost");
        Files.writeString(served.resolve("tree/kept"), "kept");
        try (FileSystem memory = MemoryFileSystem.create(1 << 20)) {
            StringBuilder skipped = new StringBuilder();
            get("tree", memory.getPath("/copy"), new CopyOptions().setListener(new CopyListener() {
                @Override
                public void copied(long bytes) {
                    // Not asked for.
                }

                @Override
                public void skipped(String path, String reason) {
                    skipped.append(path).append(": ").append(reason);
                }
            }));
            assertEquals(Set.of("kept"), names(memory.getPath("/copy")));
            assertTrue(skipped.toString().startsWith("/tree/\udcff: this machine cannot have its name: "), skipped.toString());
        }
    }

    private static Set<String> names(Path directory) throws IOException {
        Set<String> names = new TreeSet<>();
        try (DirectoryStream<Path> children = Files.newDirectoryStream(directory)) {
            children.forEach(child -> names.add(LocalNames.nameOf(child)));
        }
        names.remove("work"); // every file system in memory has it
        return names;
    }
}
