package org.nettyrdma.example.nfs.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.security.auth.module.UnixSystem;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.example.nfs.protocol.AccessBits;
import org.nettyrdma.example.nfs.protocol.CreateMode;
import org.nettyrdma.example.nfs.protocol.FileHandle;
import org.nettyrdma.example.nfs.protocol.NfsProcedure;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.nettyrdma.example.nfs.protocol.Sattr;
import org.nettyrdma.example.nfs.protocol.StableHow;
import org.nettyrdma.testing.Jvm;

/** File systems that have to be mounted. Each scenario is a process of its own, whose mounts nobody else sees. */
class OddFileSystemTest {

    private static final int CANNOT_MOUNT = 77;
    private static final int CHANGES = AccessBits.MODIFY | AccessBits.EXTEND | AccessBits.DELETE;

    /** What is to work there. */
    enum Scenario {

        /** The file is copied when it is changed the first time, and has the creation time of the copy from then on. */
        CHANGE_WHAT_IS_IN_A_LOWER_LAYER_OF_AN_OVERLAY {
            @Override
            void run(Path directory) throws Exception {
                Path layers = mountedInMemory(directory.resolve("layers"), "mode=755");
                Path lower = Files.createDirectory(layers.resolve("lower"));
                Files.writeString(lower.resolve("data"), "hello");
                Files.writeString(lower.resolve("mode"), "hello");
                serve(overlay(directory, lower, layers), (client, top) -> {
                    FileHandle data = client.lookup(top, "data").handle();
                    FileHandle mode = client.lookup(top, "mode").handle();
                    client.write(data, 0, "world");
                    assertEquals("world", client.read(data));
                    client.mode(mode, 0600);
                    assertEquals(0600, client.attributes(mode).mode());
                });
            }
        },

        /** Its files have another device than its directories, which is no other file system. */
        RENAME_IN_AN_OVERLAY_OF_TWO_FILE_SYSTEMS {
            @Override
            void run(Path directory) throws Exception {
                Path lower = mountedInMemory(directory.resolve("lower"), "mode=755");
                Files.writeString(lower.resolve("file"), "hello");
                Path upper = mountedInMemory(directory.resolve("upper"), "mode=755");
                serve(overlay(directory, lower, upper), (client, top) -> {
                    client.create(top, "new", "world");
                    assertEquals(NfsStatus.OK, client.rename(top, "new", top, "renamed").status());
                    assertEquals(NfsStatus.OK, client.rename(top, "renamed", top, "file").status());
                    FileHandle file = client.lookup(top, "file").handle();
                    assertEquals("world", client.read(file));
                    assertEquals(NfsStatus.OK, client.link(file, top, "link").status());
                });
            }
        },

        RENAME_BETWEEN_TWO_FILE_SYSTEMS {
            @Override
            void run(Path directory) throws Exception {
                Path root = mountedInMemory(directory.resolve("root"), "mode=755");
                mountedInMemory(root.resolve("mounted"), "mode=755");
                serve(root, (client, top) -> {
                    FileHandle mounted = client.lookup(top, "mounted").handle();
                    FileHandle file = client.create(top, "file");
                    assertEquals(NfsStatus.XDEV, client.rename(top, "file", mounted, "file").status());
                    assertEquals(NfsStatus.XDEV, client.link(file, mounted, "file").status());
                    client.makeDirectory(top, "directory");
                    assertEquals(NfsStatus.XDEV, client.rename(top, "directory", mounted, "directory").status());
                    assertEquals(NfsStatus.ACCES, client.rename(top, "mounted", top, "directory").status());
                    assertEquals(NfsStatus.ACCES, client.removeDirectory(top, "mounted").status());
                });
            }
        },

        /** All in a directory that is mounted once more below itself stays where it is, and is not there again and again. */
        MOUNT_A_DIRECTORY_BELOW_ITSELF {
            @Override
            void run(Path directory) throws Exception {
                Path root = mountedInMemory(directory.resolve("root"), "mode=755");
                for (Path above : List.of(root, Files.createDirectory(root.resolve("above")))) {
                    Files.writeString(above.resolve("file"), "hello");
                    Path below = Files.createDirectory(above.resolve("below"));
                    mount("--bind", above.toString(), below.toString());
                }
                Path twice = Files.createDirectory(root.resolve("twice"));
                mount("--bind", Files.createDirectory(root.resolve("once")).toString(), twice.toString());
                serve(root, (client, top) -> {
                    FileHandle above = client.lookup(top, "above").handle();
                    for (FileHandle directoryOfBoth : List.of(top, above)) {
                        assertEquals(NfsStatus.ACCES,
                                client.call(NfsProcedure.LOOKUP, NfsTestClient.name(directoryOfBoth, "below")).status());
                        assertTrue(client.readDirectoryPlus(directoryOfBoth, 0, 0, 4096, 4096).names().contains("below"));
                        assertEquals("hello", client.read(client.lookup(directoryOfBoth, "file").handle()));
                    }
                    client.create(client.lookup(top, "once").handle(), "file", "world");
                    assertEquals("world", client.read(client.lookup(client.lookup(top, "twice").handle(), "file").handle()));
                });
            }
        },

        /** A client that asks knows that it may not write, and does not find out when it has the data. */
        BE_MOUNTED_FOR_READING_ONLY {
            @Override
            void run(Path directory) throws Exception {
                Path root = mountedInMemory(directory.resolve("root"), "mode=777");
                Files.writeString(root.resolve("file"), "hello");
                Files.createDirectory(root.resolve("directory"));
                Files.createSymbolicLink(root.resolve("link"), Path.of("file"));
                mount("-o", "remount,ro", root.toString());
                serve(root, (client, top) -> {
                    for (String name : List.of("file", "directory", "link")) {
                        assertEquals(name.equals("link") ? CHANGES & ~AccessBits.DELETE : 0,
                                client.access(client.lookup(top, name).handle(), AccessBits.ALL) & CHANGES, name);
                    }
                    assertEquals(AccessBits.READ | AccessBits.LOOKUP, client.access(top, AccessBits.ALL));
                    FileHandle file = client.lookup(top, "file").handle();
                    assertEquals(NfsStatus.ROFS, client.write(file, 0, new byte[1], StableHow.UNSTABLE).status());
                    assertEquals(NfsStatus.ROFS, client.makeDirectoryReply(top, "new", Sattr.NONE).status());
                    assertEquals(NfsStatus.ROFS, client.rename(top, "file", top, "new").status());
                    assertEquals("hello", client.read(file));
                });
            }
        },

        BE_FULL {
            @Override
            void run(Path directory) throws Exception {
                Path root = mountedInMemory(directory.resolve("root"), "size=4k,nr_inodes=1,mode=777");
                serve(root, (client, top) -> {
                    for (CreateMode mode : CreateMode.values()) {
                        assertEquals(NfsStatus.NOSPC, client.create(top, "file", mode, Sattr.NONE, 1).status());
                    }
                    assertEquals(NfsStatus.NOSPC, client.makeDirectoryReply(top, "directory", Sattr.NONE).status());
                    assertEquals(NfsStatus.NOSPC, client.symbolicLink(top, "link", "target").status());
                    assertEquals(2, client.readDirectory(top, 0, 0, 4096).entries().size());
                });
            }
        },

        LEAVE_NOTHING_WHERE_THE_STATE_HAS_NO_ROOM {
            @Override
            void run(Path directory) throws Exception {
                Path root = Files.createDirectory(directory.resolve("root"));
                Path state = mountedInMemory(directory.resolve("state"), "size=4k,mode=700");
                Files.write(state.resolve("other"), new byte[1]);
                NfsServiceOptions options = NfsServiceOptions.DEFAULTS.withStateDirectory(state);
                IOException failure = assertThrows(IOException.class, () -> new NfsService(Export.of(root), options));
                assertEquals(NfsStatus.NOSPC, NfsErrors.statusOf(failure));
                try (DirectoryStream<Path> left = Files.newDirectoryStream(state)) {
                    left.forEach(path -> assertEquals("other", path.getFileName().toString()));
                }
            }
        };

        abstract void run(Path directory) throws Exception;
    }

    private interface Use {
        void by(NfsTestClient client, FileHandle top) throws IOException;
    }

    private static void serve(Path root, Use use) throws IOException {
        try (NfsService service = new NfsService(Export.of(root).withSquash(Squash.NONE), NfsServiceOptions.DEFAULTS)) {
            NfsTestClient client = new NfsTestClient(service, NfsTestClient.user(0));
            use.by(client, client.mount("/"));
            client.close();
        }
    }

    private static Path mountedInMemory(Path directory, String options) throws Exception {
        Files.createDirectory(directory);
        mount("-t", "tmpfs", "-o", options, "tmpfs", directory.toString());
        return directory;
    }

    private static Path overlay(Path directory, Path lower, Path writable) throws Exception {
        Path upper = Files.createDirectory(writable.resolve("changes"));
        Path work = Files.createDirectory(writable.resolve("work"));
        Path overlay = Files.createDirectory(directory.resolve("overlay"));
        mount("-t", "overlay", "-o", "lowerdir=" + lower + ",upperdir=" + upper + ",workdir=" + work, "overlay",
                overlay.toString());
        return overlay;
    }

    private static void mount(String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of("mount"));
        command.addAll(List.of(arguments));
        if (new ProcessBuilder(command).inheritIO().start().waitFor() != 0) {
            System.exit(CANNOT_MOUNT);
        }
    }

    @ParameterizedTest
    @EnumSource(Scenario.class)
    void should(Scenario scenario, @TempDir Path directory) throws Exception {
        List<String> command = new ArrayList<>(List.of("unshare", "--mount"));
        if (new UnixSystem().getUid() != 0) {
            command.addAll(List.of("--user", "--map-root-user"));
        }
        command.add("true");
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/unshare")) && new ProcessBuilder(command).start().waitFor() == 0,
                "no mounts of its own for a process here");
        command.remove("true");
        command.addAll(Jvm.command(List.of("-XX:TieredStopAtLevel=1"), OddFileSystemTest.class, scenario.name(),
                directory.toRealPath().toString()));
        Path output = Files.createTempFile("odd", ".txt");
        try {
            Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile()).start();
            assertTrue(process.waitFor(60, TimeUnit.SECONDS), "the process did not end");
            assumeTrue(process.exitValue() != CANNOT_MOUNT, "such a file system cannot be mounted here");
            assertEquals(0, process.exitValue(), Files.readString(output, StandardCharsets.UTF_8));
        } finally {
            Files.delete(output);
        }
    }

    public static void main(String[] arguments) throws Exception {
        Scenario.valueOf(arguments[0]).run(Path.of(arguments[1]));
    }
}
