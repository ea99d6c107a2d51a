package org.nettyrdma.example.nfs.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.example.nfs.protocol.FileHandle;
import org.nettyrdma.example.nfs.protocol.NfsProcedure;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.nettyrdma.example.nfs.protocol.WccData;

@ParameterizedClass
@EnumSource(TestFileSystem.class)
class RemoveProceduresTest extends NfsTest {

    RemoveProceduresTest(TestFileSystem fileSystem) {
        super(fileSystem);
    }

    @Test
    void shouldRemoveAFile() {
        FileHandle file = client.create(top, "file");
        assertChanges(client.remove(top, "file"), NfsStatus.OK);
        assertFalse(client.exists(top, "file"));
        client.call(NfsProcedure.GETATTR, file).expect(NfsStatus.STALE, in -> in);
    }

    @Test
    void shouldKeepAFileThatHasAnotherName() {
        FileHandle file = client.create(top, "file", "hello");
        assertEquals(NfsStatus.OK, client.link(file, top, "other").status());
        client.remove(top, "file").ok(WccData::read);
        assertEquals("hello", client.read(file));
        assertEquals(1, client.attributes(file).linkCount());
        assertEquals(file, client.lookup(top, "other").handle());
    }

    @Test
    void shouldRemoveASymbolicLinkAndNotItsTarget() {
        FileHandle directory = client.makeDirectory(top, "directory");
        client.symbolicLink(top, "link", "directory").ok(NfsTestClient.Created::read);
        client.remove(top, "link").ok(WccData::read);
        assertTrue(client.attributes(directory).isDirectory());
    }

    @Test
    void shouldRefuseToRemove() {
        FileHandle file = client.create(top, "file");
        client.makeDirectory(top, "directory");
        assertChanges(client.remove(top, "missing"), NfsStatus.NOENT);
        assertChanges(client.remove(top, "directory"), NfsStatus.ISDIR);
        assertChanges(client.remove(top, "."), NfsStatus.ISDIR);
        assertChanges(client.remove(top, ".."), NfsStatus.ISDIR);
        assertChanges(client.remove(top, "directory/x"), NfsStatus.ACCES);
        assertChanges(client.remove(top, "x".repeat(256)), NfsStatus.NAMETOOLONG);
        assertChanges(client.remove(top, "x".repeat(5000)), NfsStatus.NAMETOOLONG);
        assertChanges(client.remove(file, "x"), NfsStatus.NOTDIR);
        assertNoChanges(client.remove(forged(top), "file"), NfsStatus.BADHANDLE);
        assertNoChanges(client.remove(staleDirectory(), "file"), NfsStatus.STALE);
    }

    @Test
    void shouldNeedPermissionToRemove() {
        FileHandle directory = client.makeDirectory(top, "directory");
        client.create(directory, "file");
        client.makeDirectory(directory, "below");
        NfsTestClient other = as(NfsTestClient.user(OTHER_USER));
        assertChanges(other.remove(directory, "file"), NfsStatus.ACCES);
        assertChanges(other.removeDirectory(directory, "below"), NfsStatus.ACCES);
    }

    @Test
    void shouldLetOnlyOwnersRemoveFromAStickyDirectory() {
        FileHandle directory = client.makeDirectory(top, "directory");
        client.mode(directory, 01777);
        if (client.attributes(directory).mode() == 01777) { // some file systems have no such bit
            client.create(directory, "file");
            assertChanges(as(NfsTestClient.user(OTHER_USER)).remove(directory, "file"), NfsStatus.ACCES);
            client.remove(directory, "file").ok(WccData::read);
        }
    }

    @Test
    void shouldRemoveAnEmptyDirectory() {
        FileHandle directory = client.makeDirectory(top, "directory");
        client.create(directory, "file");
        assertChanges(client.removeDirectory(top, "directory"), NfsStatus.NOTEMPTY);
        client.remove(directory, "file").ok(WccData::read);
        assertChanges(client.removeDirectory(top, "directory"), NfsStatus.OK);
        client.call(NfsProcedure.GETATTR, directory).expect(NfsStatus.STALE, in -> in);
    }

    @Test
    void shouldRefuseToRemoveADirectory() {
        FileHandle file = client.create(top, "file");
        assertChanges(client.removeDirectory(top, "missing"), NfsStatus.NOENT);
        assertChanges(client.removeDirectory(top, "file"), NfsStatus.NOTDIR);
        assertChanges(client.removeDirectory(top, "."), NfsStatus.INVAL);
        assertChanges(client.removeDirectory(top, ".."), NfsStatus.EXIST);
        assertChanges(client.removeDirectory(top, "a/b"), NfsStatus.ACCES);
        assertChanges(client.removeDirectory(top, "x".repeat(256)), NfsStatus.NAMETOOLONG);
        assertChanges(client.removeDirectory(file, "x"), NfsStatus.NOTDIR);
        assertNoChanges(client.removeDirectory(forged(top), "x"), NfsStatus.BADHANDLE);
        assertNoChanges(client.removeDirectory(staleDirectory(), "x"), NfsStatus.STALE);
    }
}
