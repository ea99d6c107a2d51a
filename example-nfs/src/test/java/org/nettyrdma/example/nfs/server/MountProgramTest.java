package org.nettyrdma.example.nfs.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.example.nfs.protocol.ExportEntry;
import org.nettyrdma.example.nfs.protocol.FileHandle;
import org.nettyrdma.example.nfs.protocol.Mount;
import org.nettyrdma.example.nfs.protocol.MountEntry;
import org.nettyrdma.example.nfs.protocol.MountProcedure;
import org.nettyrdma.example.nfs.protocol.MountResult;
import org.nettyrdma.example.nfs.protocol.MountStatus;

@ParameterizedClass
@EnumSource(TestFileSystem.class)
class MountProgramTest extends NfsTest {

    MountProgramTest(TestFileSystem fileSystem) {
        super(fileSystem);
    }

    private MountStatus mount(String path) {
        return MountStatus.read(client.callMount(MountProcedure.MNT, out -> Xdr.writeString(out, path)));
    }

    private List<String> mounted() {
        return MountEntry.readList(client.callMount(MountProcedure.DUMP, out -> { })).stream()
                .map(MountEntry::directory).toList();
    }

    @Test
    void shouldMountTheExportAndDirectoriesInIt() {
        FileHandle directory = client.makeDirectory(top, "directory");
        FileHandle below = client.makeDirectory(directory, "below");
        assertEquals(top, client.mount("/"));
        assertEquals(directory, client.mount("/directory"));
        assertEquals(below, client.mount("/directory//below/"));
    }

    @Test
    void shouldTellTheFlavors() {
        ByteBuf body = client.callMount(MountProcedure.MNT, out -> Xdr.writeString(out, "/"));
        assertEquals(MountStatus.OK, MountStatus.read(body));
        assertEquals(List.of(1, 0), MountResult.read(body).flavors());
    }

    @Test
    void shouldMountByTheNameOfTheExport() throws IOException {
        client.makeDirectory(top, "directory");
        restart(export().withName("/data/set"), options());
        top = client.mount("/data/set");
        assertEquals(client.lookup(top, "directory").handle(), client.mount("/data/set/directory"));
        assertEquals(MountStatus.ACCES, mount("/"));
        assertEquals(MountStatus.ACCES, mount("/data"));
        assertEquals(MountStatus.ACCES, mount("/data/set2"));
        assertEquals(List.of(new ExportEntry("/data/set", List.of())),
                ExportEntry.readList(client.callMount(MountProcedure.EXPORT, out -> { })));
    }

    @Test
    void shouldRefuseToMount() {
        client.create(top, "file");
        client.symbolicLink(top, "link", "/").ok(NfsTestClient.Created::read);
        assertEquals(MountStatus.NOENT, mount("/missing"));
        assertEquals(MountStatus.NOTDIR, mount("/file"));
        assertEquals(MountStatus.NOTDIR, mount("/link"));
        assertEquals(MountStatus.ACCES, mount("/.."));
        assertEquals(MountStatus.ACCES, mount("relative"));
        assertEquals(MountStatus.ACCES, mount(""));
        assertEquals(MountStatus.NAMETOOLONG, mount("/" + "x".repeat(256)));
    }

    @Test
    void shouldKeepAListOfMounts() {
        client.makeDirectory(top, "directory");
        client.mount("/directory");
        client.mount("/directory");
        assertEquals(List.of("/", "/directory"), mounted());
        assertFalse(client.callMount(MountProcedure.UMNT, out -> Xdr.writeString(out, "/")).isReadable());
        assertEquals(List.of("/directory"), mounted());
        assertFalse(client.callMount(MountProcedure.UMNTALL, out -> { }).isReadable());
        assertEquals(List.of(), mounted());
    }

    @Test
    void shouldAnswerNullAndRefuseOtherProcedures() {
        assertFalse(client.callMount(MountProcedure.NULL, out -> { }).isReadable());
        client.send(99, Mount.PROGRAM, Mount.VERSION, 6, out -> { });
        assertEquals(3, client.reply().body().getInt(20), "PROC_UNAVAIL");
        client.send(100, Mount.PROGRAM, Mount.VERSION, 1, out -> out.writeInt(2000));
        assertEquals(4, client.reply().body().getInt(20), "GARBAGE_ARGS");
    }
}
