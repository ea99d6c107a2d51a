package org.nettyrdma.example.nfs.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.example.nfs.protocol.Fattr;
import org.nettyrdma.example.nfs.protocol.FileHandle;
import org.nettyrdma.example.nfs.protocol.FileSystemInfo;
import org.nettyrdma.example.nfs.protocol.FileSystemStatus;
import org.nettyrdma.example.nfs.protocol.FileType;
import org.nettyrdma.example.nfs.protocol.NfsProcedure;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.nettyrdma.example.nfs.protocol.PathConfiguration;

@ParameterizedClass
@EnumSource(TestFileSystem.class)
class FileSystemProceduresTest extends NfsTest {

    FileSystemProceduresTest(TestFileSystem fileSystem) {
        super(fileSystem);
    }

    private <T> T ask(NfsProcedure procedure, Function<ByteBuf, T> reader) {
        return client.call(procedure, top).ok(in -> {
            assertNotNull(Fattr.readOptional(in));
            return reader.apply(in);
        });
    }

    @Test
    void shouldTellHowFullTheFileSystemIs() {
        FileSystemStatus status = ask(NfsProcedure.FSSTAT, FileSystemStatus::read);
        assertTrue(status.totalBytes() > 0);
        assertTrue(status.availableBytes() <= status.freeBytes() && status.freeBytes() <= status.totalBytes());
        assertTrue(status.availableFiles() > 0);
    }

    @Test
    void shouldTellHowFullTheFileSystemOfALinkIs() {
        long totalBytes = ask(NfsProcedure.FSSTAT, FileSystemStatus::read).totalBytes();
        for (String target : List.of("nowhere", "/proc")) { // which says of itself that it has 0 bytes
            String name = "link to " + target.replace('/', '-');
            FileHandle link = client.symbolicLink(top, name, target).ok(NfsTestClient.Created::read).handle();
            FileSystemStatus status = client.call(NfsProcedure.FSSTAT, link).ok(in -> {
                assertEquals(FileType.SYMBOLIC_LINK, Fattr.readOptional(in).type());
                return FileSystemStatus.read(in);
            });
            assertEquals(totalBytes, status.totalBytes());
        }
    }

    @Test
    void shouldTellTheLimits() throws IOException {
        FileSystemInfo info = ask(NfsProcedure.FSINFO, FileSystemInfo::read);
        assertEquals(1024 * 1024, info.maxReadBytes());
        assertEquals(1024 * 1024, info.maxWriteBytes());
        assertTrue(info.maxFileBytes() >= TestFileSystem.MAX_BYTES);
        assertEquals(0x1B, info.properties());
        restart(export(), options().withMaxTransferBytes(65536, 32768));
        top = client.mount("/");
        info = ask(NfsProcedure.FSINFO, FileSystemInfo::read);
        assertEquals(65536, info.maxReadBytes());
        assertEquals(32768, info.maxWriteBytes());
    }

    @Test
    void shouldTellTheLimitsOfNames() {
        PathConfiguration configuration = ask(NfsProcedure.PATHCONF, PathConfiguration::read);
        assertEquals(255, configuration.maxNameBytes());
        assertTrue(configuration.noTruncation());
        assertTrue(configuration.casePreserving());
    }

    @Test
    void shouldRefuseBadHandles() {
        NfsProcedure[] procedures = {NfsProcedure.FSSTAT, NfsProcedure.FSINFO, NfsProcedure.PATHCONF};
        for (NfsProcedure procedure : procedures) {
            assertNoAttributes(client.call(procedure, forged(top)), NfsStatus.BADHANDLE);
            assertNoAttributes(client.call(procedure, staleHandle()), NfsStatus.STALE);
        }
    }
}
