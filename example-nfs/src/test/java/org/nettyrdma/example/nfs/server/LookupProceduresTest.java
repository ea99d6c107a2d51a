package org.nettyrdma.example.nfs.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.example.nfs.protocol.DirectoryEntry;
import org.nettyrdma.example.nfs.protocol.Fattr;
import org.nettyrdma.example.nfs.protocol.FileHandle;
import org.nettyrdma.example.nfs.protocol.FileType;
import org.nettyrdma.example.nfs.protocol.NameText;
import org.nettyrdma.example.nfs.protocol.NfsProcedure;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.nettyrdma.example.nfs.protocol.WccData;

@ParameterizedClass
@EnumSource(TestFileSystem.class)
class LookupProceduresTest extends NfsTest {

    LookupProceduresTest(TestFileSystem fileSystem) {
        super(fileSystem);
    }

    private NfsTestClient.Reply lookup(FileHandle directory, String name) {
        return client.call(NfsProcedure.LOOKUP, NfsTestClient.name(directory, name));
    }

    @Test
    void shouldFindWhatWasCreated() {
        FileHandle directory = client.makeDirectory(top, "directory");
        FileHandle file = client.create(directory, "file");
        NfsTestClient.Found found = client.lookup(directory, "file");
        assertEquals(file, found.handle());
        assertEquals(client.attributes(file), found.attributes());
        assertEquals(client.attributes(directory), found.directory());
    }

    @Test
    void shouldFindSelfAndParent() {
        FileHandle directory = client.makeDirectory(top, "directory");
        assertEquals(directory, client.lookup(directory, ".").handle());
        assertEquals(top, client.lookup(directory, "..").handle());
        assertEquals(top, client.lookup(top, "..").handle(), "nothing above the export");
    }

    @Test
    void shouldFindASymbolicLinkAndNotItsTarget() {
        client.create(top, "file");
        client.symbolicLink(top, "link", "file").ok(NfsTestClient.Created::read);
        assertEquals(FileType.SYMBOLIC_LINK, client.lookup(top, "link").attributes().type());
    }

    @Test
    void shouldFindNamesInManyScripts() {
        for (String name : List.of("grün", "文件", "файл", "smile \uD83D\uDE00", " ", "a\nb", "-rf")) {
            FileHandle file = client.create(top, name);
            assertEquals(file, client.lookup(top, name).handle());
        }
    }

    /** To a Unix system a name is bytes, and two names that differ in one of them are two files. */
    @Test
    void shouldTakeNamesByteByByte() {
        assumeTrue(fileSystem == TestFileSystem.DIRECTORY, "in memory, names are text");
        FileHandle first = client.create(top, "lat\uDCE4n");
        FileHandle second = client.create(top, "lat\uDCE5n");
        assertNotEquals(first, second);
        assertEquals(first, client.lookup(top, "lat\uDCE4n").handle());
        List<String> names = client.readDirectory(top, 0, 0, 4096).entries()
                .stream().map(DirectoryEntry::name).sorted().toList();
        assertEquals(List.of(".", "..", "lat\uDCE4n", "lat\uDCE5n"), names);
        client.symbolicLink(top, "link\uDCFF", "lat\uDCE4n").ok(NfsTestClient.Created::read);
        client.call(NfsProcedure.READLINK, client.lookup(top, "link\uDCFF").handle()).ok(in -> {
            Fattr.readOptional(in);
            assertEquals("lat\uDCE4n", NameText.read(in, 100, "data"));
            return in;
        });
        client.remove(top, "lat\uDCE4n").ok(WccData::read);
        assertEquals(second, client.lookup(top, "lat\uDCE5n").handle());
    }

    @Test
    void shouldRefuseLookups() {
        FileHandle file = client.create(top, "file");
        assertAttributes(lookup(top, "missing"), NfsStatus.NOENT);
        assertAttributes(lookup(file, "name"), NfsStatus.NOTDIR);
        assertAttributes(lookup(top, "a/b"), NfsStatus.ACCES);
        assertAttributes(lookup(top, "../export"), NfsStatus.ACCES);
        assertAttributes(lookup(top, "a\0b"), NfsStatus.ACCES);
        assertAttributes(lookup(top, ""), NfsStatus.ACCES);
        assertAttributes(lookup(top, "x".repeat(256)), NfsStatus.NAMETOOLONG);
        assertAttributes(lookup(top, "ü".repeat(128)), NfsStatus.NAMETOOLONG);
        assertAttributes(lookup(top, "x".repeat(5000)), NfsStatus.NAMETOOLONG);
        assertAttributes(lookup(top, "x".repeat(100_000)), NfsStatus.NAMETOOLONG);
        assertNoAttributes(lookup(forged(top), "file"), NfsStatus.BADHANDLE);
        assertNoAttributes(lookup(staleDirectory(), "file"), NfsStatus.STALE);
    }

    @Test
    void shouldRefuseToSearchWithoutPermission() {
        FileHandle directory = client.makeDirectory(top, "directory");
        client.create(directory, "file");
        client.mode(directory, 0744);
        NfsTestClient other = as(NfsTestClient.user(OTHER_USER));
        assertAttributes(other.call(NfsProcedure.LOOKUP, NfsTestClient.name(directory, "file")), NfsStatus.ACCES);
    }

    @Test
    void shouldTakeNamesOf255Bytes() {
        String name = "x".repeat(255);
        assertEquals(client.create(top, name), client.lookup(top, name).handle());
    }

    @Test
    void shouldReadALink() {
        client.symbolicLink(top, "link", "../target").ok(NfsTestClient.Created::read);
        FileHandle link = client.lookup(top, "link").handle();
        NfsTestClient.Reply reply = client.call(NfsProcedure.READLINK, link);
        reply.ok(in -> {
            assertNotNull(Fattr.readOptional(in));
            assertEquals("../target", Xdr.readString(in, 100, "data"));
            return in;
        });
        DataItem item = reply.items().get(0);
        assertEquals("../target", reply.body().toString(item.position(), item.length(), StandardCharsets.UTF_8));
    }

    @Test
    void shouldRefuseToReadWhatIsNoLink() {
        assertAttributes(client.call(NfsProcedure.READLINK, top), NfsStatus.INVAL);
        assertNoAttributes(client.call(NfsProcedure.READLINK, forged(top)), NfsStatus.BADHANDLE);
        assertNoAttributes(client.call(NfsProcedure.READLINK, staleHandle()), NfsStatus.STALE);
    }

    @Test
    void shouldForgetAReplacedFile() {
        FileHandle first = client.create(top, "file");
        assertNotNull(client.remove(top, "file").ok(in -> WccData.read(in).after()));
        FileHandle second = client.create(top, "file");
        assertEquals(second, client.lookup(top, "file").handle());
        client.call(NfsProcedure.GETATTR, second).ok(Fattr::read);
        assertNull(client.call(NfsProcedure.READLINK, first).expect(NfsStatus.STALE, Fattr::readOptional));
    }
}
