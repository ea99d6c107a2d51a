package org.nettyrdma.example.nfs.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.example.nfs.protocol.Fattr;
import org.nettyrdma.example.nfs.protocol.FileHandle;
import org.nettyrdma.example.nfs.protocol.NfsProcedure;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.nettyrdma.example.nfs.protocol.WccData;

@ParameterizedClass
@EnumSource(TestFileSystem.class)
class RenameProceduresTest extends NfsTest {

    /** Two wcc_data, as RENAME answers. */
    private record Changes(WccData from, WccData to) {
        boolean areKnown() {
            return from.before() != null && from.after() != null && to.before() != null && to.after() != null;
        }
    }

    /** What LINK answers. */
    private record Linked(Fattr file, WccData directory) {
    }

    RenameProceduresTest(TestFileSystem fileSystem) {
        super(fileSystem);
    }

    private static Changes changes(NfsTestClient.Reply reply, NfsStatus status) {
        return reply.expect(status, in -> new Changes(WccData.read(in), WccData.read(in)));
    }

    private static void assertRefused(NfsTestClient.Reply reply, NfsStatus status) {
        assertTrue(changes(reply, status).areKnown());
    }

    private void rename(FileHandle fromDirectory, String from, FileHandle toDirectory, String to) {
        assertTrue(changes(client.rename(fromDirectory, from, toDirectory, to), NfsStatus.OK).areKnown());
    }

    private static Linked linked(NfsTestClient.Reply reply, NfsStatus status) {
        return reply.expect(status, in -> new Linked(Fattr.readOptional(in), WccData.read(in)));
    }

    @Test
    void shouldKeepTheHandleOfARenamedFile() {
        FileHandle file = client.create(top, "file", "hello");
        rename(top, "file", top, "other");
        assertFalse(client.exists(top, "file"));
        assertEquals(file, client.lookup(top, "other").handle());
        assertEquals("hello", client.read(file));
    }

    @Test
    void shouldKeepHandlesBelowARenamedDirectory() {
        FileHandle directory = client.makeDirectory(top, "directory");
        FileHandle below = client.makeDirectory(directory, "below");
        FileHandle file = client.create(below, "file", "hello");
        FileHandle target = client.makeDirectory(top, "target");
        rename(top, "directory", target, "moved");
        assertEquals("hello", client.read(file));
        assertEquals(target, client.lookup(directory, "..").handle());
        assertEquals(file, client.lookup(below, "file").handle());
        client.create(below, "another");
    }

    @Test
    void shouldReplaceAFile() {
        FileHandle file = client.create(top, "file", "new");
        FileHandle replaced = client.create(top, "other", "old");
        rename(top, "file", top, "other");
        assertEquals("new", client.read(client.lookup(top, "other").handle()));
        assertEquals(file, client.lookup(top, "other").handle());
        client.call(NfsProcedure.GETATTR, replaced).expect(NfsStatus.STALE, in -> in);
    }

    @Test
    void shouldReplaceAnEmptyDirectory() {
        FileHandle directory = client.makeDirectory(top, "directory");
        FileHandle replaced = client.makeDirectory(top, "other");
        rename(top, "directory", top, "other");
        assertEquals(directory, client.lookup(top, "other").handle());
        client.call(NfsProcedure.GETATTR, replaced).expect(NfsStatus.STALE, in -> in);
    }

    @Test
    void shouldLeaveTwoNamesOfOneFile() {
        FileHandle file = client.create(top, "file");
        linked(client.link(file, top, "other"), NfsStatus.OK);
        rename(top, "file", top, "other");
        assertTrue(client.exists(top, "file"));
        assertTrue(client.exists(top, "other"));
        rename(top, "file", top, "file");
        assertTrue(client.exists(top, "file"));
    }

    @Test
    void shouldLetEverybodyRenameAFileToItself() {
        FileHandle directory = client.makeDirectory(top, "directory");
        client.link(client.create(directory, "file"), directory, "other");
        client.makeDirectory(directory, "below");
        NfsTestClient other = as(NfsTestClient.user(OTHER_USER));
        changes(other.rename(directory, "file", directory, "file"), NfsStatus.OK);
        changes(other.rename(directory, "file", directory, "other"), NfsStatus.OK);
        changes(other.rename(directory, "below", directory, "below"), NfsStatus.OK);
        assertTrue(client.exists(directory, "file") && client.exists(directory, "other") && client.exists(directory, "below"));
    }

    @Test
    void shouldRefuseToReplaceWhatDoesNotFit() {
        client.create(top, "file");
        FileHandle directory = client.makeDirectory(top, "directory");
        client.makeDirectory(top, "empty");
        client.create(directory, "content");
        assertRefused(client.rename(top, "file", top, "directory"), NfsStatus.ISDIR);
        assertRefused(client.rename(top, "directory", top, "file"), NfsStatus.NOTDIR);
        assertRefused(client.rename(top, "empty", top, "directory"), NfsStatus.NOTEMPTY);
    }

    @Test
    void shouldRefuseToMoveADirectoryIntoItself() {
        FileHandle directory = client.makeDirectory(top, "directory");
        FileHandle below = client.makeDirectory(directory, "below");
        assertRefused(client.rename(top, "directory", directory, "x"), NfsStatus.INVAL);
        assertRefused(client.rename(top, "directory", below, "x"), NfsStatus.INVAL);
    }

    @Test
    void shouldRefuseToRename() {
        FileHandle file = client.create(top, "file");
        assertRefused(client.rename(top, "missing", top, "x"), NfsStatus.NOENT);
        assertRefused(client.rename(top, ".", top, "x"), NfsStatus.INVAL);
        assertRefused(client.rename(top, "file", top, ".."), NfsStatus.INVAL);
        assertRefused(client.rename(top, "a/b", top, "x"), NfsStatus.ACCES);
        assertRefused(client.rename(top, "file", top, "../x"), NfsStatus.ACCES);
        assertRefused(client.rename(top, "file", top, "x".repeat(256)), NfsStatus.NAMETOOLONG);
        assertEquals(WccData.NONE, changes(client.rename(file, "file", top, "x"), NfsStatus.NOTDIR).to());
        assertNotNull(changes(client.rename(top, "file", file, "x"), NfsStatus.NOTDIR).to().after());
        Changes forgedFrom = changes(client.rename(forged(top), "file", top, "x"), NfsStatus.BADHANDLE);
        assertEquals(new Changes(WccData.NONE, WccData.NONE), forgedFrom);
        Changes staleTo = changes(client.rename(top, "file", staleDirectory(), "x"), NfsStatus.STALE);
        assertEquals(WccData.NONE, staleTo.to());
        assertNotNull(staleTo.from().after());
    }

    @Test
    void shouldNeedPermissionToRename() {
        FileHandle directory = client.makeDirectory(top, "directory");
        client.create(directory, "file");
        NfsTestClient other = as(NfsTestClient.user(OTHER_USER));
        other.create(top, "mine");
        assertRefused(other.rename(directory, "file", top, "file"), NfsStatus.ACCES);
        assertRefused(other.rename(top, "mine", directory, "mine"), NfsStatus.ACCES);
        assertRefused(other.rename(top, "mine", directory, "file"), NfsStatus.ACCES);
    }

    @Test
    void shouldNeedToWriteOnlyToADirectoryThatMoves() {
        FileHandle moving = client.makeDirectory(top, "moving");
        FileHandle directory = client.makeDirectory(top, "directory");
        client.mode(moving, 0500);
        assertRefused(client.rename(top, "moving", directory, "moved"), NfsStatus.ACCES);
        client.mode(moving, 0200);
        changes(client.rename(top, "moving", directory, "moved"), NfsStatus.OK);
        assertTrue(client.exists(directory, "moved"));
        client.mode(moving, 0700);
    }

    @Test
    void shouldLinkAFile() {
        FileHandle file = client.create(top, "file", "hello");
        FileHandle directory = client.makeDirectory(top, "directory");
        Linked linked = linked(client.link(file, directory, "other"), NfsStatus.OK);
        assertEquals(2, linked.file().linkCount());
        assertNotNull(linked.directory().before());
        assertEquals(file, client.lookup(directory, "other").handle());
        assertEquals("hello", client.read(client.lookup(directory, "other").handle()));
    }

    @Test
    void shouldFindAFileByTheNameThatIsLeft() {
        FileHandle file = client.create(top, "file", "hello");
        List<String> names = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            names.add("name" + i);
            linked(client.link(file, top, "name" + i), NfsStatus.OK);
        }
        client.remove(top, "file").ok(WccData::read);
        rename(top, "name4", top, "last");
        names.subList(0, 4).forEach(name -> client.remove(top, name).ok(WccData::read));
        assertEquals("hello", client.read(file));
    }

    @Test
    void shouldLinkASymbolicLinkOnlyWhereThatIsKnownToWork() {
        client.create(top, "file");
        client.symbolicLink(top, "link", "file").ok(NfsTestClient.Created::read);
        FileHandle link = client.lookup(top, "link").handle();
        NfsTestClient.Reply reply = client.link(link, top, "other");
        if (fileSystem == TestFileSystem.DIRECTORY) {
            linked(reply, NfsStatus.OK);
            assertEquals(link, client.lookup(top, "other").handle());
        } else {
            linked(reply, NfsStatus.NOTSUPP);
        }
    }

    @Test
    void shouldRefuseToLink() {
        FileHandle file = client.create(top, "file");
        FileHandle directory = client.makeDirectory(top, "directory");
        assertNotNull(linked(client.link(file, top, "directory"), NfsStatus.EXIST).file());
        linked(client.link(file, top, "."), NfsStatus.EXIST);
        linked(client.link(directory, top, "x"), NfsStatus.INVAL);
        linked(client.link(file, file, "x"), NfsStatus.NOTDIR);
        linked(client.link(file, top, "a/b"), NfsStatus.ACCES);
        linked(client.link(file, top, "x".repeat(256)), NfsStatus.NAMETOOLONG);
        assertEquals(new Linked(null, WccData.NONE), linked(client.link(forged(file), top, "x"), NfsStatus.BADHANDLE));
        assertEquals(WccData.NONE, linked(client.link(file, staleDirectory(), "x"), NfsStatus.STALE).directory());
        linked(as(NfsTestClient.user(OTHER_USER)).link(file, directory, "x"), NfsStatus.ACCES);
    }
}
