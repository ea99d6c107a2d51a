package org.nettyrdma.example.nfs.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.example.nfs.protocol.CreateArguments;
import org.nettyrdma.example.nfs.protocol.CreateMode;
import org.nettyrdma.example.nfs.protocol.DeviceNumber;
import org.nettyrdma.example.nfs.protocol.DirectoryOperationArguments;
import org.nettyrdma.example.nfs.protocol.FileHandle;
import org.nettyrdma.example.nfs.protocol.FileType;
import org.nettyrdma.example.nfs.protocol.MakeDirectoryArguments;
import org.nettyrdma.example.nfs.protocol.MakeNodeArguments;
import org.nettyrdma.example.nfs.protocol.NfsProcedure;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.nettyrdma.example.nfs.protocol.NfsTime;
import org.nettyrdma.example.nfs.protocol.Sattr;
import org.nettyrdma.example.nfs.protocol.SymbolicLinkArguments;
import org.nettyrdma.example.nfs.protocol.TimeChange;
import org.nettyrdma.example.nfs.protocol.WccData;
import org.nettyrdma.example.nfs.protocol.WireForm;
import org.nettyrdma.example.nfs.server.NfsTestClient.Created;

@ParameterizedClass
@EnumSource(TestFileSystem.class)
class CreateProceduresTest extends NfsTest {

    private static final long VERIFIER = 0x8899_AABB_CCDD_EEFFL;

    private final List<Integer> modes = new ArrayList<>();

    CreateProceduresTest(TestFileSystem fileSystem) {
        super(fileSystem);
    }

    private NfsTestClient.Reply exclusive(long verifier) {
        return client.create(top, "file", CreateMode.EXCLUSIVE, Sattr.NONE, verifier);
    }

    private NfsTestClient.Reply makeNode(FileHandle directory, String name, FileType type) {
        DirectoryOperationArguments where = new DirectoryOperationArguments(directory, name);
        return client.call(NfsProcedure.MKNOD, new MakeNodeArguments(where, type, Sattr.NONE, new DeviceNumber(1, 3)));
    }

    @Test
    void shouldCreateWithTheAttributesAskedFor() throws IOException {
        NfsTime past = new NfsTime(1_000_000, 0);
        Sattr attributes = Sattr.NONE.withMode(0640).withSize(7).withTimes(TimeChange.to(past), TimeChange.to(past));
        Created created = client.create(top, "file", CreateMode.GUARDED, attributes, 0).ok(Created::read);
        assertEquals(0640, created.attributes().mode());
        assertEquals(7, created.attributes().size());
        assertEquals(past, created.attributes().modifyTime());
        assertEquals(created.attributes(), client.attributes(created.handle()));
        assertArrayEquals(new byte[7], Files.readAllBytes(root.resolve("file")));
        assertNotNull(created.directory().before());
        assertEquals(client.attributes(top), created.directory().after());
    }

    @Test
    void shouldGiveNewFilesToTheCaller() {
        assumeFilesCanBeGivenAway();
        NfsTestClient other = as(NfsTestClient.user(OTHER_USER, 77));
        FileHandle file = other.create(top, "file");
        FileHandle directory = other.makeDirectory(top, "directory");
        other.symbolicLink(top, "link", "file").ok(Created::read);
        for (FileHandle handle : new FileHandle[] {file, directory, other.lookup(top, "link").handle()}) {
            assertEquals(OTHER_USER, client.attributes(handle).userId());
            assertEquals(77, client.attributes(handle).groupId());
        }
    }

    /**
     * Where a file stays with the user of this process, for example because the file system keeps no owners, it must not run as
     * that user: a mode is one that anybody may have.
     */
    @Test
    void shouldNotSetIdsOnAFileThatCouldNotBeGivenAway() throws IOException {
        AttributeStore store = new DelegatingStore(new PortableAttributes(root)) {
            @Override
            public void setMode(Path path, int mode) throws IOException {
                modes.add(mode);
                super.setMode(path, mode);
            }

            @Override
            public void setOwner(Path path, OptionalInt userId, OptionalInt groupId) throws IOException {
                throw new FileSystemException(path.toString(), null, "Operation not permitted");
            }
        };
        FileTree tree = newTree(store);
        try (OpenFiles openFiles = new OpenFiles(tree, new WriteVerifier(), 4, 1000)) {
            CreateProcedures procedures = new CreateProcedures(tree, export(), openFiles, new FileLocks(),
                    new NameQuota(Long.MAX_VALUE), new AttributeChanges(tree, export(), openFiles));
            Credentials stranger = new Credentials(OTHER_USER, OTHER_USER, List.of());
            ByteBuf arguments = Unpooled.buffer();
            new CreateArguments(new DirectoryOperationArguments(tree.root().node().handle(), "file"), CreateMode.GUARDED,
                    Sattr.NONE.withMode(06777), 0).write(arguments);
            create(procedures, tree, stranger, arguments);
            assertEquals(List.of(0777), modes);
            arguments.clear();
            new CreateArguments(new DirectoryOperationArguments(tree.root().node().handle(), "other"), CreateMode.GUARDED,
                    Sattr.NONE.withOwner(OTHER_USER, OTHER_USER), 0).write(arguments);
            NfsException refused =
                    assertThrows(NfsException.class, () -> create(procedures, tree, stranger, arguments));
            assertEquals(NfsStatus.PERM, refused.status());
            assertFalse(Files.exists(root.resolve("other")));
        }
    }

    private static void create(CreateProcedures procedures, FileTree tree, Credentials caller, ByteBuf arguments)
            throws IOException {
        NfsCall call = new NfsCall(tree, caller, arguments, arguments.alloc());
        try {
            procedures.create(call);
        } finally {
            call.release();
        }
    }

    /** A file that stayed with the user of this process would take its room, and be out of the reach of who made it. */
    @Test
    void shouldLeaveNothingWhereItsOwnerHasNoRoom() throws IOException {
        AttributeStore store = new DelegatingStore(new PortableAttributes(root)) {
            @Override
            public void setOwner(Path path, OptionalInt userId, OptionalInt groupId) throws IOException {
                throw new FileSystemException(path.toString(), null, "Disk quota exceeded");
            }
        };
        FileTree tree = newTree(store);
        try (OpenFiles openFiles = new OpenFiles(tree, new WriteVerifier(), 4, 1000)) {
            CreateProcedures procedures = new CreateProcedures(tree, export(), openFiles, new FileLocks(),
                    new NameQuota(Long.MAX_VALUE), new AttributeChanges(tree, export(), openFiles));
            DirectoryOperationArguments name = new DirectoryOperationArguments(tree.root().node().handle(), "name");
            assertNoRoom(tree, procedures::create, new CreateArguments(name, CreateMode.GUARDED, Sattr.NONE, 0));
            assertNoRoom(tree, procedures::create, new CreateArguments(name, CreateMode.EXCLUSIVE, Sattr.NONE, 1));
            assertNoRoom(tree, procedures::makeDirectory, new MakeDirectoryArguments(name, Sattr.NONE));
            assertNoRoom(tree, procedures::makeSymbolicLink, new SymbolicLinkArguments(name, Sattr.NONE, "target"));
            assertEquals(0, openFiles.size());
        }
    }

    /** A file that is not to be empty has its size first, and then its times. */
    @Test
    void shouldLeaveNothingWhereAStepBehindTheSizeFails() throws IOException {
        AttributeStore store = new DelegatingStore(new PortableAttributes(root)) {
            @Override
            public void setTimes(Path path, FileTime accessTime, FileTime modifyTime) throws IOException {
                if (Files.size(path) != 0) {
                    throw new FileSystemException(path.toString(), null, "Disk quota exceeded");
                }
            }
        };
        FileTree tree = newTree(store);
        try (OpenFiles openFiles = new OpenFiles(tree, new WriteVerifier(), 4, 1000)) {
            CreateProcedures procedures = new CreateProcedures(tree, export(), openFiles, new FileLocks(),
                    new NameQuota(Long.MAX_VALUE), new AttributeChanges(tree, export(), openFiles));
            DirectoryOperationArguments name = new DirectoryOperationArguments(tree.root().node().handle(), "name");
            Sattr attributes = Sattr.NONE.withSize(5).withTimes(TimeChange.SERVER_TIME, TimeChange.NONE);
            assertNoRoom(tree, procedures::create, new CreateArguments(name, CreateMode.GUARDED, attributes, 0));
            assertEquals(0, openFiles.size());
        }
    }

    private void assertNoRoom(FileTree tree, Procedure procedure, WireForm writer) {
        ByteBuf arguments = Unpooled.buffer();
        writer.write(arguments);
        NfsCall call = new NfsCall(tree, new Credentials(OTHER_USER, OTHER_USER, List.of()), arguments, arguments.alloc());
        Exception refused = assertThrows(IOException.class, () -> procedure.call(call));
        call.release();
        assertEquals(NfsStatus.DQUOT, NfsErrors.statusOf(refused));
        assertFalse(Files.exists(root.resolve("name"), LinkOption.NOFOLLOW_LINKS));
    }

    @Test
    void shouldWriteToANewFileThatNobodyMayWriteTo() {
        FileHandle file = client.create(top, "file", CreateMode.GUARDED, Sattr.NONE.withMode(0444), 0).ok(Created::read).handle();
        client.write(file, 0, "hello");
        assertEquals("hello", client.read(file));
    }

    @Test
    void shouldTakeAnExistingFileUnlessGuarded() {
        FileHandle file = client.create(top, "file", "hello");
        Sattr mode = Sattr.NONE.withMode(0600);
        assertChanges(client.create(top, "file", CreateMode.GUARDED, mode, 0), NfsStatus.EXIST);
        Created taken = client.create(top, "file", CreateMode.UNCHECKED, mode, 0).ok(Created::read);
        assertEquals(file, taken.handle());
        assertEquals(5, taken.attributes().size());
        assertEquals(0644, taken.attributes().mode());
        client.create(top, "file", CreateMode.UNCHECKED, mode.withSize(0), 0).ok(Created::read);
        assertEquals(0, client.attributes(file).size());
    }

    @Test
    void shouldRefuseToTruncateAnExistingFileOfSomebodyElse() {
        client.create(top, "file", "hello");
        NfsTestClient other = as(NfsTestClient.user(OTHER_USER));
        assertChanges(other.create(top, "file", CreateMode.UNCHECKED, Sattr.NONE.withSize(0), 0), NfsStatus.ACCES);
    }

    @Test
    void shouldCreateAFileExclusivelyAndKnowTheCallAgain() throws IOException {
        Created created = exclusive(VERIFIER).ok(Created::read);
        assertEquals(created.handle(), exclusive(VERIFIER).ok(Created::read).handle());
        assertChanges(exclusive(VERIFIER + 1), NfsStatus.EXIST);
        restart(export(), options());
        top = client.mount("/");
        exclusive(VERIFIER).ok(Created::read);
        client.setAttributes(client.lookup(top, "file").handle(),
                Sattr.NONE.withTimes(TimeChange.SERVER_TIME, TimeChange.SERVER_TIME), null).ok(WccData::read);
        assertChanges(exclusive(VERIFIER), NfsStatus.EXIST);
    }

    @Test
    void shouldRefuseToCreate() {
        FileHandle file = client.create(top, "file");
        client.makeDirectory(top, "directory");
        for (CreateMode mode : CreateMode.values()) {
            assertChanges(client.create(top, "directory", mode, Sattr.NONE, 1), NfsStatus.EXIST);
            assertChanges(client.create(top, "..", mode, Sattr.NONE, 1), NfsStatus.EXIST);
            assertChanges(client.create(file, "name", mode, Sattr.NONE, 1), NfsStatus.NOTDIR);
            assertChanges(client.create(top, "a/b", mode, Sattr.NONE, 1), NfsStatus.ACCES);
            assertChanges(client.create(top, "x".repeat(256), mode, Sattr.NONE, 1), NfsStatus.NAMETOOLONG);
            assertChanges(client.create(top, "x".repeat(5000), mode, Sattr.NONE, 1), NfsStatus.NAMETOOLONG);
            assertNoChanges(client.create(forged(top), "name", mode, Sattr.NONE, 1), NfsStatus.BADHANDLE);
        }
        assertNoChanges(client.create(staleDirectory(), "name", CreateMode.GUARDED, Sattr.NONE, 0), NfsStatus.STALE);
    }

    @Test
    void shouldLeaveNothingBehindWhenTheAttributesAreRefused() {
        Sattr tooLarge = Sattr.NONE.withSize(Long.MAX_VALUE);
        assertChanges(client.create(top, "file", CreateMode.GUARDED, tooLarge, 0), NfsStatus.FBIG);
        Sattr notMine = Sattr.NONE.withOwner(OTHER_USER, OTHER_USER);
        assertChanges(client.create(top, "file", CreateMode.GUARDED, notMine, 0), NfsStatus.PERM);
        assertChanges(client.makeDirectoryReply(top, "file", notMine), NfsStatus.PERM);
        assertFalse(client.exists(top, "file"));
    }

    @Test
    void shouldNeedPermissionToCreate() {
        FileHandle directory = client.makeDirectory(top, "directory");
        NfsTestClient other = as(NfsTestClient.user(OTHER_USER));
        assertChanges(other.create(directory, "name", CreateMode.GUARDED, Sattr.NONE, 0), NfsStatus.ACCES);
        assertChanges(other.makeDirectoryReply(directory, "name", Sattr.NONE), NfsStatus.ACCES);
        assertChanges(other.symbolicLink(directory, "name", "x"), NfsStatus.ACCES);
    }

    @Test
    void shouldMakeADirectory() {
        Created created = client.makeDirectoryReply(top, "directory", Sattr.NONE.withMode(0711)).ok(Created::read);
        assertEquals(FileType.DIRECTORY, created.attributes().type());
        assertEquals(0711, created.attributes().mode());
        assertTrue(Files.isDirectory(root.resolve("directory")));
        assertNotEquals(created.directory().before().changeTime(), new NfsTime(0, 0));
    }

    @Test
    void shouldInheritTheGroupOfASetGroupIdDirectory() {
        assumeFilesCanBeGivenAway();
        FileHandle directory = client.makeDirectory(top, "directory");
        client.mode(directory, 02777);
        if (client.attributes(directory).mode() == 02777) { // some file systems have no such bit
            NfsTestClient other = as(NfsTestClient.user(OTHER_USER));
            FileHandle below = other.makeDirectory(directory, "below");
            assertEquals(USER, client.attributes(below).groupId());
            assertEquals(02755, client.attributes(below).mode());
            assertEquals(USER, client.attributes(other.create(directory, "file")).groupId());
        }
    }

    /** Each call looks at all names above: nobody is to make that longer and longer. */
    @Test
    void shouldMakeNoDirectoriesDeeperThanPathsOfLinuxGo() {
        assumeTrue(fileSystem == TestFileSystem.MEMORY, "the system has a limit itself");
        FileHandle deepest = top;
        int depth = 0;
        NfsTestClient.Reply reply = client.makeDirectoryReply(top, "d", Sattr.NONE);
        while (reply.status() == NfsStatus.OK && ++depth <= 2048) {
            deepest = reply.ok(Created::read).handle();
            reply = client.makeDirectoryReply(deepest, "d", Sattr.NONE);
        }
        assertChanges(reply, NfsStatus.NAMETOOLONG);
        assertChanges(client.create(deepest, "f", CreateMode.UNCHECKED, Sattr.NONE, 0), NfsStatus.NAMETOOLONG);
        client.attributes(deepest);
    }

    @Test
    void shouldRefuseToMakeADirectory() {
        client.create(top, "file");
        assertChanges(client.makeDirectoryReply(top, "file", Sattr.NONE), NfsStatus.EXIST);
        assertChanges(client.makeDirectoryReply(top, ".", Sattr.NONE), NfsStatus.EXIST);
        assertChanges(client.makeDirectoryReply(client.lookup(top, "file").handle(), "x", Sattr.NONE), NfsStatus.NOTDIR);
        assertChanges(client.makeDirectoryReply(top, "x".repeat(256), Sattr.NONE), NfsStatus.NAMETOOLONG);
        assertNoChanges(client.makeDirectoryReply(forged(top), "x", Sattr.NONE), NfsStatus.BADHANDLE);
        assertNoChanges(client.makeDirectoryReply(staleDirectory(), "x", Sattr.NONE), NfsStatus.STALE);
    }

    @Test
    void shouldMakeASymbolicLinkToAnything() throws IOException {
        for (String target : new String[] {"file", "/etc/passwd", "../../..", "missing/grün"}) {
            Created created = client.symbolicLink(top, "link", target).ok(Created::read);
            assertEquals(FileType.SYMBOLIC_LINK, created.attributes().type());
            assertEquals(0777, created.attributes().mode());
            assertEquals(target.getBytes(StandardCharsets.UTF_8).length, created.attributes().size());
            assertEquals(target, Files.readSymbolicLink(root.resolve("link")).toString());
            client.remove(top, "link").ok(WccData::read);
        }
    }

    @Test
    void shouldRefuseToMakeASymbolicLink() {
        FileHandle file = client.create(top, "file");
        assertChanges(client.symbolicLink(top, "file", "x"), NfsStatus.EXIST);
        assertChanges(client.symbolicLink(top, "link", ""), NfsStatus.INVAL);
        assertChanges(client.symbolicLink(top, "link", "a\0b"), NfsStatus.ACCES);
        assertChanges(client.symbolicLink(top, "link", "x/".repeat(2049)), NfsStatus.NAMETOOLONG);
        assertChanges(client.symbolicLink(top, "x".repeat(5000), "target"), NfsStatus.NAMETOOLONG);
        assertChanges(client.symbolicLink(file, "link", "x"), NfsStatus.NOTDIR);
        assertNoChanges(client.symbolicLink(forged(top), "link", "x"), NfsStatus.BADHANDLE);
        assertNoChanges(client.symbolicLink(staleDirectory(), "link", "x"), NfsStatus.STALE);
    }

    @Test
    void shouldRefuseSpecialFiles() {
        for (FileType type : FileType.values()) {
            boolean special = switch (type) {
                case BLOCK_DEVICE, CHARACTER_DEVICE, SOCKET, FIFO -> true;
                case REGULAR, DIRECTORY, SYMBOLIC_LINK -> false;
            };
            assertChanges(makeNode(top, "node", type), special ? NfsStatus.NOTSUPP : NfsStatus.BADTYPE);
        }
        client.create(top, "file");
        assertChanges(makeNode(top, "file", FileType.FIFO), NfsStatus.EXIST);
        assertChanges(makeNode(client.lookup(top, "file").handle(), "node", FileType.FIFO), NfsStatus.NOTDIR);
        assertNoChanges(makeNode(forged(top), "node", FileType.FIFO), NfsStatus.BADHANDLE);
        assertNoChanges(makeNode(staleDirectory(), "node", FileType.FIFO), NfsStatus.STALE);
    }
}
