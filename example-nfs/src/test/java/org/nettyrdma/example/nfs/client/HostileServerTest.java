package org.nettyrdma.example.nfs.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.jimfs.Configuration;
import com.google.common.jimfs.Jimfs;
import com.google.common.jimfs.PathNormalization;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.util.concurrent.ImmediateEventExecutor;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystem;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.codec.oncrpc.OpaqueAuth;
import org.nettyrdma.example.nfs.LocalNames;
import org.nettyrdma.example.nfs.client.HostileServer.Page;
import org.nettyrdma.example.nfs.protocol.DirectoryEntry;
import org.nettyrdma.example.nfs.protocol.FileHandle;

/** What a server may say must not lead the client out of the directory that it copies to, nor to a call that never ends. */
@Timeout(60)
class HostileServerTest {

    private static final String OUTSIDE_CONTENT = "nobody writes here";

    @TempDir
    private Path directory;

    private HostileServer server;
    private Path outside;
    private Path copy;

    @BeforeEach
    void start() throws IOException {
        server = new HostileServer();
        outside = Files.createDirectory(directory.resolve("outside"));
        Files.writeString(outside.resolve("file"), OUTSIDE_CONTENT);
        Files.setPosixFilePermissions(outside.resolve("file"), PosixFilePermissions.fromString("rw-------"));
        Files.setPosixFilePermissions(outside, PosixFilePermissions.fromString("rwx------"));
        copy = directory.resolve("copy");
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private void assertOutsideIsUntouched() throws IOException {
        assertEquals(Set.of("file"), names(outside));
        assertEquals(OUTSIDE_CONTENT, Files.readString(outside.resolve("file")));
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(outside.resolve("file"))));
        assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(outside)));
    }

    private static Set<String> names(Path directory) throws IOException {
        Set<String> names = new TreeSet<>();
        try (DirectoryStream<Path> children = Files.newDirectoryStream(directory)) {
            children.forEach(child -> names.add(LocalNames.nameOf(child)));
        }
        return names;
    }

    private void get(Path target) throws IOException {
        try (NfsSession session = NfsSession.open(server.endpoint("/"), new NfsClientOptions())) {
            TreeCopy.get(session.files(), session.files().root(), target, new CopyOptions());
        }
    }

    private String failure(Path target) {
        return assertThrows(IOException.class, () -> get(target)).getMessage();
    }

    @Test
    void shouldNotFollowALinkThatTakesTheNameOfADirectory() throws IOException {
        server.file(4, "content").link(3, outside.toString());
        server.directory(2, server.entry("file", 4));
        server.directory(1, server.entry("name", 2), server.entry("name", 3));
        get(copy);
        assertEquals("content", Files.readString(copy.resolve("name/file")));
        assertOutsideIsUntouched();
    }

    @Test
    void shouldNotFollowALinkThatTakesTheNameOfAFile() throws IOException {
        server.file(2, "content").link(3, outside.resolve("file").toString());
        server.directory(1, server.entry("name", 3), server.entry("name", 2));
        get(copy);
        assertEquals(outside.resolve("file"), Files.readSymbolicLink(copy.resolve("name")));
        assertOutsideIsUntouched();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a/b", "../outside/file", "/", "a\0b"})
    void shouldRefuseWhatIsNoName(String name) throws IOException {
        server.file(2, "content");
        server.directory(1, server.entry("first", 2), server.entry(name, 2));
        assertEquals("/: the server returns '" + name + "', which cannot be a name", failure(copy));
        assertOutsideIsUntouched();
    }

    @Test
    void shouldNotMakeTheNamesThatEveryDirectoryHas() throws IOException {
        server.link(2, outside.toString()).file(3, "content");
        server.directory(1, server.entry(".", 2), server.entry("..", 2), server.entry("file", 3));
        get(copy);
        assertEquals(Set.of("file"), names(copy));
        server.directory(1, server.entry("..", 2), server.entry("..", 2));
        get(copy);
        assertEquals(Set.of("file"), names(copy));
    }

    /** What the user or an earlier copy left in the target may be links, which the server cannot see but may guess. */
    @Test
    void shouldNotFollowLinksThatWereThereBefore() throws IOException {
        server.file(4, "new").file(5, "new", 2).link(6, "new");
        server.directory(2, server.entry("file", 4));
        Files.createDirectory(copy);
        Files.createSymbolicLink(copy.resolve("file"), outside.resolve("file"));
        Files.createSymbolicLink(copy.resolve("linked"), outside.resolve("file"));
        Files.createSymbolicLink(copy.resolve("link"), outside);
        server.directory(1, server.entry("file", 4), server.entry("linked", 5), server.entry("link", 6));
        get(copy);
        assertEquals("new", Files.readString(copy.resolve("file")));
        assertEquals("new", Files.readString(copy.resolve("linked")));
        assertEquals(Path.of("new"), Files.readSymbolicLink(copy.resolve("link")));
        assertOutsideIsUntouched();
        Files.createSymbolicLink(copy.resolve("directory"), outside);
        server.directory(1, server.entry("directory", 2));
        assertEquals(copy.resolve("directory") + ": it is a symbolic link here, which a copy does not follow",
                assertThrows(FileSystemException.class, () -> get(copy)).getMessage());
        assertOutsideIsUntouched();
    }

    /** An attack from the same machine: the open directory counts, not what has its path now. */
    @Test
    void shouldStayInTheDirectoryThatItHasOpened() throws IOException {
        Path moved = directory.resolve("moved");
        server.file(3, "content").link(4, "target");
        server.directory(2, cookie -> {
            try {
                Files.move(copy.resolve("inner"), moved);
                Files.createSymbolicLink(copy.resolve("inner"), outside);
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
            return new Page(List.of(server.entry("file", 3), server.entry("link", 4)), true);
        });
        server.directory(1, server.entry("inner", 2));
        get(copy);
        assertEquals(Set.of("file", "link"), names(moved));
        assertOutsideIsUntouched();
    }

    /** Not what it is called until it is whole, which nobody has heard of. */
    @Test
    void shouldNameWhatCannotBeMade() {
        server.file(3, "content").file(4, "content", 2);
        for (String target : new String[] {"", "x".repeat(4096)}) {
            server.link(2, target);
            server.directory(1, server.entry("link", 2));
            assertTrue(failure(copy).startsWith(copy.resolve("link") + ": "), () -> failure(copy));
        }
        server.directory(2, cookie -> {
            try {
                Files.delete(copy.resolve("inner"));
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
            return new Page(List.of(server.entry("file", 3)), true);
        });
        server.directory(1, server.entry("inner", 2));
        assertEquals(copy.resolve("inner/file") + ": no such file or directory", failure(copy));
        for (long number : new long[] {2, 4}) {
            server.directory(2).directory(1, cookie -> {
                try {
                    Files.delete(copy);
                } catch (IOException e) {
                    throw new IllegalStateException(e);
                }
                return new Page(List.of(server.entry("name", number)), true);
            });
            assertEquals(copy.resolve("name") + ": no such file or directory", failure(copy));
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {2, 3, 4, 5})
    void shouldRefuseTwoNamesThatAreOneToTheLocalFileSystem(long second) throws IOException {
        try (FileSystem folding = Jimfs.newFileSystem(Configuration.unix().toBuilder()
                .setAttributeViews("basic", "owner", "posix", "unix")
                .setNameCanonicalNormalization(PathNormalization.CASE_FOLD_ASCII).build())) {
            Path target = Files.createDirectory(folding.getPath("/target"));
            Files.createDirectory(folding.getPath("/outside"));
            server.file(2, "content").link(3, "/outside").file(4, "linked", 2).directory(5, server.entry("inner", 2));
            for (long first : new long[] {2, 3, 4, 5}) {
                server.directory(1, server.entry("NAME", first), server.entry("name", second));
                assertTrue(failure(target.resolve(first + "-" + second)).startsWith("/target/" + first + "-" + second + "/"));
            }
            assertEquals(Set.of(), names(folding.getPath("/outside")));
        }
    }

    @Test
    void shouldLeaveNothingBehindAndKeepLinksOfOneFile() throws IOException {
        server.file(2, "content", 2).link(3, "\udcff/b").directory(4);
        server.directory(1, server.entry("a", 2), server.entry("b\udcfe", 2), server.entry("link", 3), server.entry("empty", 4));
        for (int i = 0; i < 2; i++) {
            get(copy);
            assertEquals(Set.of("a", "b\udcfe", "link", "empty"), names(copy));
            Path second = LocalNames.child(copy, "b\udcfe");
            assertTrue(Files.isSameFile(copy.resolve("a"), second));
            assertEquals(2, Files.getAttribute(second, "unix:nlink"));
            assertEquals("\udcff/b", LocalNames.textOf(Files.readSymbolicLink(copy.resolve("link"))));
            assertEquals(1_000_000_000_000L, Files.getLastModifiedTime(copy).toMillis());
            assertEquals(1_000_000_000_000L, Files.getLastModifiedTime(copy.resolve("empty")).toMillis());
            assertEquals("rwxr-xr-x",
                    PosixFilePermissions.toString(Files.getPosixFilePermissions(copy.resolve("a"), LinkOption.NOFOLLOW_LINKS)));
        }
    }

    @Test
    void shouldEndAListThatRepeatsItsPositions() {
        server.file(2, "");
        server.directory(1, cookie -> new Page(List.of(server.entry("a" + System.nanoTime(), 2, 7)), false));
        assertEquals("/: the server repeats the position 7 of its list, which would never end", failure(copy));
    }

    @Test
    void shouldEndAListOfTheSameNames() throws IOException {
        server.file(2, "");
        server.directory(1, cookie -> new Page(Collections.nCopies(500, server.entry("a", 2, cookie + 1)), false));
        try (NfsSession session = NfsSession.open(server.endpoint("/"), new NfsClientOptions())) {
            String message = assertThrows(IOException.class, () -> session.files().list(session.files().root(),
                    new ListingBudget(4 << 20), CopyListener.NONE)).getMessage();
            assertTrue(message.startsWith("/: what the server tells of it does not fit"), message);
        }
    }

    @Test
    void shouldListOnceWhatIsListedAgainBecauseItWasReplaced() throws IOException {
        server.file(2, "old").file(3, "new").file(4, "other");
        server.directory(1, cookie -> cookie == 0 ? new Page(List.of(server.entry("a", 2, 1), server.entry("b", 4, 2)), false)
                : new Page(List.of(server.entry("a", 3, 3)), true));
        get(copy);
        assertEquals(Set.of("a", "b"), names(copy));
    }

    /** RFC 1813, section 3.3.16: of a directory that has changed a position may be worth nothing. */
    @Test
    void shouldBeginAgainWhereTheServerForgetsItsPositions() throws IOException {
        AtomicInteger refusals = new AtomicInteger(3);
        server.file(2, "content");
        server.directory(1, cookie -> cookie == 0 ? new Page(List.of(server.entry("a", 2, 1)), false)
                : refusals.getAndDecrement() > 0 ? null : new Page(List.of(server.entry("b", 2, 2)), true));
        get(copy);
        assertEquals(Set.of("a", "b"), names(copy));
        refusals.set(4);
        assertEquals("/: the directory changed while it was listed (NFS3ERR_BAD_COOKIE), answered to READDIRPLUS", failure(copy));
        assertEquals(0, refusals.get());
    }

    /** As a log does that is begun anew; no file has 2^63 bytes or more. */
    @ParameterizedTest
    @ValueSource(longs = {8, Long.MAX_VALUE, Long.MIN_VALUE})
    void shouldGoOnBehindAFileThatIsShorterThanItWas(long size) throws IOException {
        server.shorterFile(2, "content", size).file(3, "content");
        server.directory(1, server.entry("a", 2), server.entry("b", 3));
        List<String> failures = new ArrayList<>();
        try (NfsSession session = NfsSession.open(server.endpoint("/"), new NfsClientOptions())) {
            TreeCopy.get(session.files(), session.files().root(), copy, new CopyOptions().setListener(new CopyListener() {
                @Override
                public void copied(long bytes) {
                    // Not asked for.
                }

                @Override
                public void skipped(String path, String reason) {
                    throw new AssertionError(path);
                }

                @Override
                public void failed(IOException failure) {
                    failures.add(failure.getMessage());
                }
            }));
        }
        assertEquals(List.of(size < 0 ? "/a: no file has 9223372036854775808 bytes"
                : "/a: the file became shorter while it was copied"), failures);
        assertEquals(Set.of("b"), names(copy));
    }

    @Test
    void shouldListWithoutReaddirplus() throws IOException {
        server.withoutReaddirplus().file(2, "content").file(4, "inside");
        server.directory(3, server.entry("file", 4));
        server.directory(1, server.entry("a", 2), server.entry("d", 3));
        get(copy);
        assertEquals("content", Files.readString(copy.resolve("a")));
        assertEquals("inside", Files.readString(copy.resolve("d/file")));
    }

    @Test
    void shouldEndAListWithoutEnd() throws IOException {
        server.file(2, "");
        server.directory(1, cookie -> new Page(LongStream.range(cookie, cookie + 100)
                .mapToObj(next -> server.entry("n".repeat(200) + next, 2, next + 1)).toList(), false));
        try (NfsSession session = NfsSession.open(server.endpoint("/"), new NfsClientOptions())) {
            String message = assertThrows(IOException.class,
                    () -> session.files().list(session.files().root(), new ListingBudget(4 << 20),
                            CopyListener.NONE)).getMessage();
            assertEquals("/: what the server tells of it does not fit into the 4 MiB of memory for that; Java may take more with"
                    + " -Xmx", message);
        }
    }

    @Test
    void shouldCountTheListsThatItHoldsTogether() throws IOException {
        server.file(2, "");
        List<DirectoryEntry> many = new ArrayList<>(LongStream.range(0, 200)
                .mapToObj(next -> server.entry("n" + next, 2, next + 2)).toList());
        server.directory(1, cookie -> {
            List<DirectoryEntry> entries = new ArrayList<>(many);
            entries.add(0, server.entry("a", 1, 1));
            return new Page(entries, true);
        });
        try (NfsSession session = NfsSession.open(server.endpoint("/"), new NfsClientOptions())) {
            ListingBudget budget = new ListingBudget(150_000);
            session.files().list(session.files().root(), budget, CopyListener.NONE);
            assertThrows(IOException.class, () -> session.files().list(session.files().root(), budget, CopyListener.NONE));
            budget.giveBackTo(0);
            session.files().list(session.files().root(), budget, CopyListener.NONE);
        }
    }

    @Test
    void shouldEndDirectoriesThatLieInEachOtherWithoutEnd() {
        server.directory(1, cookie -> new Page(List.of(server.entry("x", 1)), true));
        assertTrue(failure(copy).endsWith("/x: more than 512 directories lie in each other"));
        IOException refused = assertThrows(IOException.class, () -> {
            try (NfsSession session = NfsSession.open(server.endpoint("/"), new NfsClientOptions())) {
                session.files().removeTree("/x");
            }
        });
        assertTrue(refused.getMessage().endsWith("/x: more than 512 directories lie in each other"), refused.getMessage());
    }

    @Test
    void shouldEndAWayThatLinksMakeLonger() throws IOException {
        server.link(2, "a/".repeat(2000) + "link").directory(1);
        server.directory(1, server.entry("a", 1), server.entry("link", 2));
        try (NfsSession session = NfsSession.open(server.endpoint("/"), new NfsClientOptions())) {
            assertEquals("/link: what the server tells of it does not fit into the 1 MiB of memory for that; Java may take more"
                    + " with -Xmx", assertThrows(IOException.class,
                            () -> session.files().find("/link", true, new ListingBudget(1 << 20))).getMessage());
        }
    }

    @Test
    void shouldRefuseDataThatIsNotAsLongAsItsCount() {
        byte[] results = ByteBufUtil.decodeHexDump("00000000" + "00000000" + "00000002" + "00000001" + "00000003" + "61626300");
        NfsClient client = new NfsClient(request -> {
            request.arguments().release();
            return ImmediateEventExecutor.INSTANCE.newSucceededFuture(Unpooled.wrappedBuffer(results));
        }, ByteBufAllocator.DEFAULT, OpaqueAuth.NONE, new NfsClientStatistics());
        assertEquals("the server's reply is malformed: READ3resok.count: 2 (expected: 3, the length of READ3resok.data)",
                assertThrows(IOException.class, () -> Await.result(client.read(new FileHandle(new byte[8]), 0, 3))).getMessage());
    }
}
