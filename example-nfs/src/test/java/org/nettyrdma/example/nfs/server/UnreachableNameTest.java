package org.nettyrdma.example.nfs.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.codec.oncrpc.RpcProgram;
import org.nettyrdma.example.nfs.protocol.DirectoryEntry;
import org.nettyrdma.example.nfs.protocol.FileHandle;
import org.nettyrdma.example.nfs.protocol.NfsProcedure;
import org.nettyrdma.example.nfs.protocol.NfsStatus;

/** Names that the operating system lists and lets nobody look at, as those of mounts whose server is gone, among others. */
@ParameterizedClass
@EnumSource(TestFileSystem.class)
class UnreachableNameTest extends NfsTest {

    private static final int FILES = 20;

    private final FileHandles handles = new FileHandles(new byte[FileHandles.KEY_BYTES]);
    private final List<FileHandle> files = new ArrayList<>();
    private volatile String reason = "Transport endpoint is not connected";
    private OpenFiles openFiles;
    private FileHandle broken;

    UnreachableNameTest(TestFileSystem fileSystem) {
        super(fileSystem);
    }

    @BeforeEach
    void serveTree() throws IOException {
        for (int i = 0; i < FILES; i++) {
            client.makeDirectory(top, "broken" + i);
            client.create(top, "file" + i);
        }
        AttributeStore real = NfsService.attributeStore(root, export());
        for (int i = 0; i < FILES; i++) {
            files.add(handles.handleOf(real.read(root.resolve("file" + i)).id()));
        }
        broken = handles.handleOf(real.read(root.resolve("broken1")).id());
        AttributeStore store = new DelegatingStore(real) {
            @Override
            public FileStatus read(Path path) throws IOException {
                if (path.getFileName() != null && path.getFileName().toString().startsWith("broken")) {
                    throw new FileSystemException(path.toString(), null, reason);
                }
                return super.read(path);
            }
        };
        FileTree tree = newTree(store);
        WriteVerifier verifier = new WriteVerifier();
        openFiles = new OpenFiles(tree, verifier, 8, TimeUnit.HOURS.toMillis(1));
        RpcProgram[] programs = newPrograms(tree, openFiles, verifier, options());
        client = closeAtTheEnd(new NfsTestClient(NfsTestClient.user(USER).toOpaqueAuth(), programs));
        top = client.mount("/");
    }

    @AfterEach
    void closeFiles() {
        openFiles.close();
    }

    @Test
    void shouldListThemWithTheOthers() {
        List<String> names = client.readDirectory(top, 0, 0, 60_000).names();
        assertEquals(2 + 2 * FILES, names.size());
        NfsTestClient.Listing plus = client.readDirectoryPlus(top, 0, 0, 60_000, 60_000);
        assertEquals(names, plus.names());
        for (DirectoryEntry entry : plus.entries()) {
            assertNotEquals(0, entry.fileId());
            if (entry.name().startsWith("broken")) {
                assertNull(entry.handle());
                assertNull(entry.attributes());
            } else {
                assertNotNull(entry.handle());
                assertNotNull(entry.attributes());
            }
        }
    }

    @Test
    void shouldSayWhyWhenOneIsLookedUp() {
        assertEquals(NfsStatus.IO, client.call(NfsProcedure.LOOKUP, NfsTestClient.name(top, "broken1")).status());
        reason = "Permission denied";
        assertEquals(NfsStatus.ACCES, client.call(NfsProcedure.LOOKUP, NfsTestClient.name(top, "broken1")).status());
    }

    @Test
    void shouldFindTheOthersAfterARestart() {
        for (FileHandle file : files) {
            assertEquals(NfsStatus.OK, client.call(NfsProcedure.GETATTR, file).status());
        }
    }

    /** Whether it is one of those that cannot be looked at, nobody can tell then. */
    @Test
    void shouldNotCallAFileStaleWhileThereIsNoMemory() {
        reason = "Cannot allocate memory";
        assertEquals(NfsStatus.JUKEBOX, client.call(NfsProcedure.GETATTR, broken).status());
    }

    @Test
    void shouldCallAFileStaleThatCannotBeReached() {
        assertEquals(NfsStatus.STALE, client.call(NfsProcedure.GETATTR, broken).status());
    }

    /** What passes says nothing about a name. */
    @Test
    void shouldNotListWhileThereIsNoMemory() {
        reason = "Cannot allocate memory";
        assertEquals(NfsStatus.JUKEBOX, client.readDirectoryReply(top, 0, 0, 60_000).status());
        assertEquals(NfsStatus.JUKEBOX, client.readDirectoryPlusReply(top, 0, 0, 60_000, 60_000).status());
    }
}
