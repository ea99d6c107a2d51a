package org.nettyrdma.example.nfs.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.example.nfs.protocol.AccessArguments;
import org.nettyrdma.example.nfs.protocol.AccessBits;
import org.nettyrdma.example.nfs.protocol.CreateArguments;
import org.nettyrdma.example.nfs.protocol.CreateMode;
import org.nettyrdma.example.nfs.protocol.DirectoryOperationArguments;
import org.nettyrdma.example.nfs.protocol.Fattr;
import org.nettyrdma.example.nfs.protocol.FileHandle;
import org.nettyrdma.example.nfs.protocol.FileType;
import org.nettyrdma.example.nfs.protocol.NfsProcedure;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.nettyrdma.example.nfs.protocol.NfsTime;
import org.nettyrdma.example.nfs.protocol.Sattr;
import org.nettyrdma.example.nfs.protocol.TimeChange;
import org.nettyrdma.example.nfs.protocol.WccData;

@ParameterizedClass
@EnumSource(TestFileSystem.class)
class AttributeProceduresTest extends NfsTest {

    AttributeProceduresTest(TestFileSystem fileSystem) {
        super(fileSystem);
    }

    @Test
    void shouldTellAttributesOfADirectory() {
        Fattr attributes = client.attributes(top);
        assertEquals(FileType.DIRECTORY, attributes.type());
        assertEquals(0777, attributes.mode());
        assertNotEquals(0, attributes.fileId());
    }

    @Test
    void shouldTellAttributesOfAFile() {
        FileHandle file = client.create(top, "file", "hello");
        Fattr attributes = client.attributes(file);
        assertEquals(FileType.REGULAR, attributes.type());
        assertEquals(0644, attributes.mode());
        assertEquals(1, attributes.linkCount());
        assertEquals(5, attributes.size());
        assertEquals(client.attributes(top).fileSystemId(), attributes.fileSystemId());
        assertTrue(Math.abs(attributes.modifyTime().toFileTime().toMillis() - Instant.now().toEpochMilli()) < 60_000);
    }

    @Test
    void shouldRefuseAttributesOfBadHandles() {
        client.call(NfsProcedure.GETATTR, forged(top)).expect(NfsStatus.BADHANDLE, in -> in);
        client.call(NfsProcedure.GETATTR, staleHandle()).expect(NfsStatus.STALE, in -> in);
    }

    @Test
    void shouldSetMode() {
        FileHandle file = client.create(top, "file");
        WccData changes = client.setAttributes(file, Sattr.NONE.withMode(0751), null).ok(WccData::read);
        assertEquals(0751, changes.after().mode());
        assertEquals(0751, client.attributes(file).mode());
    }

    @Test
    void shouldMoveTheChangeTimeOn() {
        FileHandle file = client.create(top, "file");
        NfsTime before = client.attributes(file).changeTime();
        NfsTime guard = before;
        while (client.attributes(file).changeTime().equals(before)) { // some file systems keep coarse times
            client.mode(file, 0640);
        }
        assertChanges(client.setAttributes(file, Sattr.NONE.withMode(0600), guard), NfsStatus.NOT_SYNC);
        assertEquals(0640, client.attributes(file).mode());
        client.setAttributes(file, Sattr.NONE.withMode(0600), client.attributes(file).changeTime()).ok(WccData::read);
        assertEquals(0600, client.attributes(file).mode());
    }

    @Test
    void shouldTruncateAndExtend() throws IOException {
        FileHandle file = client.create(top, "file", "hello");
        client.setAttributes(file, Sattr.NONE.withSize(2), null).ok(WccData::read);
        assertEquals("he", client.read(file));
        client.setAttributes(file, Sattr.NONE.withSize(4), null).ok(WccData::read);
        assertEquals("he\0\0", client.read(file));
        client.setAttributes(file, Sattr.NONE.withSize(0), null).ok(WccData::read);
        assertEquals(0, Files.size(root.resolve("file")));
    }

    @Test
    void shouldSetTheModifyTimeWithTheSameSize() {
        FileHandle file = client.create(top, "file", "hello");
        NfsTime past = new NfsTime(1, 0);
        client.setAttributes(file, Sattr.NONE.withTimes(TimeChange.to(past), TimeChange.to(past)), null).ok(WccData::read);
        client.setAttributes(file, Sattr.NONE.withSize(5), null).ok(WccData::read);
        assertNotEquals(past, client.attributes(file).modifyTime());
        assertEquals(past, client.attributes(file).accessTime());
    }

    @Test
    void shouldTakeTheSetIdBitsOffWhatChanges() {
        FileHandle file = client.create(top, "file", "text");
        client.mode(file, 06755);
        assumeTrue(client.attributes(file).mode() == 06755, "this file system has no such bits");
        client.setAttributes(file, Sattr.NONE.withSize(2), null).ok(WccData::read);
        assertEquals(0755, client.attributes(file).mode());
        client.mode(file, 06755);
        client.create(top, "file", CreateMode.UNCHECKED, Sattr.NONE.withSize(0), 0).ok(NfsTestClient.Created::read);
        assertEquals(0755, client.attributes(file).mode());
        client.mode(file, 06755);
        client.write(file, 0, "text");
        assertEquals(0755, client.attributes(file).mode());
        client.setAttributes(file, Sattr.NONE.withSize(2).withMode(06711), null).ok(WccData::read);
        assertEquals(06711, client.attributes(file).mode());
    }

    /** A process that is not root may write to a file of another user, and not set its times as it likes. */
    @Test
    void shouldSetTheSizeWhereItMayNotSetTheTime() throws IOException {
        FileHandle file = client.create(top, "file", "hello");
        AttributeStore store = new DelegatingStore(NfsService.attributeStore(root, export())) {
            @Override
            public void setTimes(Path path, FileTime accessTime, FileTime modifyTime) throws IOException {
                throw new FileSystemException(path.toString(), null, "Operation not permitted");
            }
        };
        FileTree tree = newTree(store);
        Credentials owner = new Credentials(USER, USER, List.of());
        try (OpenFiles openFiles = new OpenFiles(tree, new WriteVerifier(), 4, 1000)) {
            AttributeChanges changes = new AttributeChanges(tree, export(), openFiles);
            changes.apply(owner, tree.child(tree.root(), "file"), Sattr.NONE.withSize(2));
            assertEquals("he", client.read(file));
            Sattr times = Sattr.NONE.withTimes(TimeChange.SERVER_TIME, TimeChange.NONE);
            assertThrows(FileSystemException.class,
                    () -> changes.apply(owner, tree.child(tree.root(), "file"), times), "asked for");
        }
    }

    @Test
    void shouldSetTimes() {
        FileHandle file = client.create(top, "file");
        NfsTime access = new NfsTime(1_000_000, 123_000);
        NfsTime modify = new NfsTime(2_000_000, 456_000);
        client.setAttributes(file, Sattr.NONE.withTimes(TimeChange.to(access), TimeChange.to(modify)), null).ok(WccData::read);
        assertEquals(access, client.attributes(file).accessTime());
        assertEquals(modify, client.attributes(file).modifyTime());
        client.setAttributes(file, Sattr.NONE.withTimes(TimeChange.NONE, TimeChange.SERVER_TIME), null).ok(WccData::read);
        assertEquals(access, client.attributes(file).accessTime());
        assertTrue(client.attributes(file).modifyTime().toFileTime().toMillis() > 1_700_000_000_000L);
    }

    /** So that {@code make} does not take what was written after a prerequisite for older. */
    @Test
    void shouldNotStampAFileLaterThanWhatIsWrittenNext() {
        FileHandle first = client.create(top, "first", "text");
        Sattr touched = Sattr.NONE.withTimes(TimeChange.SERVER_TIME, TimeChange.SERVER_TIME);
        for (int i = 0; i < 20; i++) {
            client.setAttributes(first, i % 2 == 0 ? touched : Sattr.NONE.withSize(4), null).ok(WccData::read);
            FileTime next = client.attributes(client.create(top, "next" + i)).modifyTime().toFileTime();
            FileTime stamped = client.attributes(first).modifyTime().toFileTime();
            assertTrue(next.compareTo(stamped) >= 0, next + " is before " + stamped);
        }
    }

    @Test
    void shouldRefuseSizesAndTimesThatMakeNoSense() {
        FileHandle file = client.create(top, "file");
        assertChanges(client.setAttributes(top, Sattr.NONE.withSize(0), null), NfsStatus.INVAL);
        assertChanges(client.setAttributes(file, Sattr.NONE.withSize(-1), null), NfsStatus.FBIG);
        TimeChange tooManyNanos = TimeChange.to(new NfsTime(1, 1_000_000_000));
        assertChanges(client.setAttributes(file, Sattr.NONE.withTimes(tooManyNanos, TimeChange.NONE), null), NfsStatus.INVAL);
    }

    @Test
    void shouldRefuseToExtendBeyondTheFileSystem() {
        FileHandle file = client.create(top, "file");
        assertChanges(client.setAttributes(file, Sattr.NONE.withSize(Long.MAX_VALUE), null), NfsStatus.FBIG);
        assertEquals(0, client.attributes(file).size());
    }

    @Test
    void shouldRefuseAttributeChangesOfBadHandles() {
        assertNoChanges(client.setAttributes(forged(top), Sattr.NONE, null), NfsStatus.BADHANDLE);
        assertNoChanges(client.setAttributes(staleHandle(), Sattr.NONE, null), NfsStatus.STALE);
    }

    @Test
    void shouldRefuseTheModeOfASymbolicLink() {
        client.symbolicLink(top, "link", "file").ok(NfsTestClient.Created::read);
        FileHandle link = client.lookup(top, "link").handle();
        assertChanges(client.setAttributes(link, Sattr.NONE.withMode(0600), null), NfsStatus.NOTSUPP);
    }

    @Test
    void shouldSetTimesOfASymbolicLinkAndNotOfItsTarget() {
        FileHandle file = client.create(top, "file");
        client.symbolicLink(top, "link", "file").ok(NfsTestClient.Created::read);
        FileHandle link = client.lookup(top, "link").handle();
        TimeChange past = TimeChange.to(new NfsTime(1000, 0));
        client.setAttributes(link, Sattr.NONE.withTimes(past, past), null).ok(WccData::read);
        assertEquals(new NfsTime(1000, 0), client.attributes(link).modifyTime());
        assertNotEquals(new NfsTime(1000, 0), client.attributes(file).modifyTime());
    }

    /** Java opens what it sets the times of, and to open a pipe is to wait for a writer, with the names of all files locked. */
    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void shouldNotOpenAPipeToSetItsTimes() throws Exception {
        assumeTrue(root.getFileSystem() == FileSystems.getDefault(), "only the operating system has pipes");
        assertEquals(0, new ProcessBuilder("mkfifo", "--mode=666", root.resolve("pipe").toString()).start().waitFor());
        NfsTestClient.Found pipe = client.lookup(top, "pipe");
        assertEquals(FileType.FIFO, pipe.attributes().type());
        assertChanges(client.setAttributes(pipe.handle(), Sattr.NONE.withTimes(TimeChange.SERVER_TIME, TimeChange.SERVER_TIME),
                null), NfsStatus.NOTSUPP);
        TimeChange past = TimeChange.to(new NfsTime(1000, 0));
        restart(export().withSquash(Squash.NONE), options());
        NfsTestClient owner = as(NfsTestClient.user(pipe.attributes().userId()));
        assertChanges(owner.setAttributes(owner.lookup(owner.mount("/"), "pipe").handle(),
                Sattr.NONE.withTimes(TimeChange.NONE, past), null), NfsStatus.NOTSUPP);
        assertEquals("hello", client.read(client.create(client.mount("/"), "file", "hello")), "others are served");
    }

    @Test
    void shouldLetOnlyTheOwnerChangeModeAndTimes() {
        FileHandle file = client.create(top, "file");
        NfsTestClient other = as(NfsTestClient.user(OTHER_USER));
        TimeChange past = TimeChange.to(new NfsTime(1, 0));
        assertChanges(other.setAttributes(file, Sattr.NONE.withMode(0777), null), NfsStatus.PERM);
        assertChanges(other.setAttributes(file, Sattr.NONE.withTimes(past, past), null), NfsStatus.PERM);
        assertChanges(other.setAttributes(file, Sattr.NONE.withTimes(TimeChange.SERVER_TIME, past), null), NfsStatus.PERM);
        assertChanges(other.setAttributes(file, Sattr.NONE.withTimes(past, TimeChange.SERVER_TIME), null), NfsStatus.PERM);
        assertChanges(other.setAttributes(file, Sattr.NONE.withTimes(TimeChange.SERVER_TIME, TimeChange.SERVER_TIME), null),
                NfsStatus.ACCES);
        assertChanges(other.setAttributes(file, Sattr.NONE.withSize(0), null), NfsStatus.ACCES);
    }

    /** As POSIX has it for chown. */
    @Test
    void shouldRefuseOthersTheOwnerThatAFileHas() {
        FileHandle file = client.create(top, "file");
        Fattr now = client.attributes(file);
        Sattr same = Sattr.NONE.withOwner(now.userId(), now.groupId());
        assertChanges(as(NfsTestClient.user(OTHER_USER)).setAttributes(file, same, null), NfsStatus.PERM);
        as(NfsTestClient.user(now.userId())).setAttributes(file, same, null).ok(WccData::read);
    }

    /** As Linux has it for chown, of root, too. */
    @Test
    void shouldTakeTheSetIdBitsOffWithTheOwnerThatAFileHas() throws IOException {
        client.create(top, "file");
        restart(export().withSquash(Squash.NONE), options());
        for (int user : new int[] {USER, 0}) {
            NfsTestClient caller = as(NfsTestClient.user(user));
            FileHandle file = caller.lookup(caller.mount("/"), "file").handle();
            caller.mode(file, 06755);
            Fattr before = caller.attributes(file);
            assumeTrue(before.mode() == 06755, "this file system has no such bits");
            Sattr same = Sattr.NONE.withOwner(before.userId(), before.groupId());
            caller.setAttributes(file, same, null).ok(WccData::read);
            assertEquals(0755, caller.attributes(file).mode());
        }
    }

    @Test
    void shouldLetWritersSetTheServersTime() {
        FileHandle file = client.create(top, "file");
        client.mode(file, 0666);
        NfsTestClient other = as(NfsTestClient.user(OTHER_USER));
        other.setAttributes(file, Sattr.NONE.withTimes(TimeChange.SERVER_TIME, TimeChange.SERVER_TIME), null).ok(WccData::read);
    }

    @Test
    void shouldLetOnlyRootGiveFilesAway() throws IOException {
        assumeFilesCanBeGivenAway();
        FileHandle file = client.create(top, "file");
        assertEquals(USER, client.attributes(file).userId());
        assertChanges(client.setAttributes(file, Sattr.NONE.withOwner(OTHER_USER, USER), null), NfsStatus.PERM);
        assertChanges(client.setAttributes(file, Sattr.NONE.withOwner(USER, OTHER_USER), null), NfsStatus.PERM);
        NfsTestClient member = as(NfsTestClient.user(USER, USER, OTHER_USER));
        member.setAttributes(file, Sattr.NONE.withOwner(USER, OTHER_USER), null).ok(WccData::read);
        assertEquals(OTHER_USER, client.attributes(file).groupId());
        restart(export().withSquash(Squash.NONE), options());
        NfsTestClient rootUser = as(NfsTestClient.user(0));
        FileHandle again = rootUser.lookup(rootUser.mount("/"), "file").handle();
        rootUser.setAttributes(again, Sattr.NONE.withOwner(OTHER_USER, 0), null).ok(WccData::read);
        assertEquals(OTHER_USER, rootUser.attributes(again).userId());
        assertEquals(0, rootUser.attributes(again).groupId());
    }

    /** Linux takes the bit off a directory that has it, too. */
    @Test
    void shouldLetOnlyMembersPassOnTheGroupOfADirectory() {
        assumeFilesCanBeGivenAway();
        NfsTestClient member = as(NfsTestClient.user(USER, USER, OTHER_USER));
        FileHandle directory = client.makeDirectory(top, "directory");
        client.setAttributes(directory, Sattr.NONE.withMode(02755), null).ok(WccData::read);
        assumeTrue(client.attributes(directory).mode() == 02755, "this file system has no such bit");
        member.setAttributes(directory, Sattr.NONE.withOwner(USER, OTHER_USER).withMode(0755), null).ok(WccData::read);
        client.mode(directory, 02755);
        assertEquals(0755, client.attributes(directory).mode());
        member.mode(directory, 02755);
        client.mode(directory, 02700);
        assertEquals(0700, client.attributes(directory).mode());
    }

    @Test
    void shouldRefuseToGiveFilesToNobody() throws IOException {
        assumeFilesCanBeGivenAway();
        for (Squash squash : Squash.values()) {
            restart(export().withSquash(squash), options());
            FileHandle directory = client.mount("/");
            for (int user : new int[] {0, USER}) {
                NfsTestClient caller = as(NfsTestClient.user(user));
                FileHandle file = caller.create(directory, "file");
                Fattr before = caller.attributes(file);
                assertChanges(caller.setAttributes(file, Sattr.NONE.withOwner(-1, before.groupId()), null), NfsStatus.INVAL);
                assertChanges(caller.setAttributes(file, Sattr.NONE.withOwner(before.userId(), -1), null), NfsStatus.INVAL);
                assertChanges(caller.call(NfsProcedure.CREATE, new CreateArguments(
                        new DirectoryOperationArguments(directory, "other"), CreateMode.GUARDED,
                        Sattr.NONE.withMode(06777).withOwner(-1, -1), 0)), NfsStatus.INVAL);
                assertFalse(Files.exists(root.resolve("other")));
                assertEquals(before.userId(), caller.attributes(file).userId());
                caller.remove(directory, "file").ok(WccData::read);
            }
        }
    }

    /** Who is squashed has no files either: no call can make one of a user whose calls are served as somebody else's. */
    @Test
    void shouldSquashWhatIsStored() throws IOException {
        assumeFilesCanBeGivenAway();
        restart(export().withSquash(Squash.ALL).withAnonymous(0, 0), options());
        FileHandle directory = client.mount("/");
        FileHandle file = client.create(directory, "file");
        assertEquals(0, client.attributes(file).userId());
        assertChanges(client.setAttributes(file, Sattr.NONE.withOwner(USER, 0), null), NfsStatus.PERM);
        assertChanges(client.setAttributes(file, Sattr.NONE.withOwner(0, USER), null), NfsStatus.PERM);
        restart(export().withAnonymous(0, USER), options());
        FileHandle again = client.lookup(client.mount("/"), "file").handle();
        NfsTestClient rootUser = as(NfsTestClient.user(0));
        rootUser.setAttributes(again, Sattr.NONE.withOwner(0, USER), null).ok(WccData::read);
        assertChanges(rootUser.setAttributes(again, Sattr.NONE.withOwner(0, 0), null), NfsStatus.PERM);
    }

    @Test
    void shouldComputeAccessFromTheMode() {
        FileHandle file = client.create(top, "file");
        FileHandle directory = client.makeDirectory(top, "directory");
        NfsTestClient other = as(NfsTestClient.user(OTHER_USER));
        int modify = AccessBits.MODIFY | AccessBits.EXTEND;
        assertEquals(AccessBits.READ | modify, client.access(file, AccessBits.ALL));
        assertEquals(AccessBits.READ, other.access(file, AccessBits.ALL));
        assertEquals(AccessBits.READ | AccessBits.LOOKUP | modify | AccessBits.DELETE,
                client.access(directory, AccessBits.ALL));
        assertEquals(AccessBits.READ | AccessBits.LOOKUP, other.access(directory, AccessBits.ALL));
        assertEquals(AccessBits.READ, client.access(file, AccessBits.READ));
        client.mode(file, 0151);
        assertEquals(AccessBits.EXECUTE, client.access(file, AccessBits.ALL));
        assertEquals(AccessBits.EXECUTE, other.access(file, AccessBits.ALL));
    }

    @Test
    void shouldRefuseAccessOfBadHandles() {
        assertNoAttributes(client.call(NfsProcedure.ACCESS, new AccessArguments(forged(top), 1)), NfsStatus.BADHANDLE);
        assertNoAttributes(client.call(NfsProcedure.ACCESS, new AccessArguments(staleHandle(), 1)), NfsStatus.STALE);
    }
}
