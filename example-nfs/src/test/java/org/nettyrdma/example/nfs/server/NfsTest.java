package org.nettyrdma.example.nfs.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.nettyrdma.codec.oncrpc.AuthSys;
import org.nettyrdma.codec.oncrpc.RpcProgram;
import org.nettyrdma.example.nfs.protocol.Fattr;
import org.nettyrdma.example.nfs.protocol.FileHandle;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.nettyrdma.example.nfs.protocol.WccData;

/** A service on an empty directory, which everybody may write to, and a client as an ordinary user. */
abstract class NfsTest {

    /** The user of this process where that is not root, who could not give files to somebody else. */
    static final int USER = processUser() == 0 ? 1000 : processUser();
    static final int OTHER_USER = USER + 1;

    final TestFileSystem fileSystem;
    private final List<NfsTestClient> clients = new ArrayList<>();

    Path root;
    NfsService service;
    NfsTestClient client;
    FileHandle top;

    NfsTest(TestFileSystem fileSystem) {
        this.fileSystem = fileSystem;
    }

    @BeforeEach
    void startService() throws IOException {
        root = fileSystem.create();
        service = new NfsService(export(), options());
        client = clientOf(service, NfsTestClient.user(USER));
        top = client.mount("/");
    }

    @AfterEach
    void stopService() throws IOException {
        clients.forEach(NfsTestClient::close);
        service.close();
        fileSystem.delete(root);
    }

    Export export() {
        return Export.of(root);
    }

    NfsServiceOptions options() {
        return NfsServiceOptions.DEFAULTS;
    }

    NfsTestClient as(AuthSys user) {
        return clientOf(service, user);
    }

    NfsTestClient clientOf(NfsService ofService, AuthSys user) {
        return closeAtTheEnd(new NfsTestClient(ofService, user));
    }

    NfsTestClient closeAtTheEnd(NfsTestClient newClient) {
        clients.add(newClient);
        return newClient;
    }

    /** Restarts the service with other settings on the same directory. */
    void restart(Export export, NfsServiceOptions options) throws IOException {
        service.close();
        service = new NfsService(export, options);
        client = clientOf(service, NfsTestClient.user(USER));
    }

    /** The export with a store that a test may have replaced, and the same key each time. */
    FileTree newTree(AttributeStore store) throws IOException {
        return new FileTree(root, store, new FileHandles(new byte[FileHandles.KEY_BYTES]), 1000, 1 << 20);
    }

    FileTree newTree() throws IOException {
        return newTree(NfsService.attributeStore(root, export()));
    }

    /** What a service of these parts would serve. */
    RpcProgram[] newPrograms(FileTree tree, OpenFiles openFiles, WriteVerifier verifier, NfsServiceOptions options) {
        ProcedureTable procedures = new ProcedureTable(tree, export(), openFiles, options, verifier);
        return new RpcProgram[] {
            new NfsProgram(export(), tree, procedures, new NfsStatistics(), options.maxReadBytes()),
            new MountProgram(export(), tree)};
    }

    /** Whether files can belong to anybody but the user of this process. */
    void assumeFilesCanBeGivenAway() {
        assumeTrue(fileSystem == TestFileSystem.MEMORY || processUser() == 0, "files cannot be given away");
    }

    /** A handle that was good once. */
    FileHandle staleHandle() {
        FileHandle file = client.create(top, "stale");
        client.remove(top, "stale").ok(WccData::read);
        return file;
    }

    FileHandle staleDirectory() {
        FileHandle directory = client.makeDirectory(top, "stale-directory");
        client.removeDirectory(top, "stale-directory").ok(WccData::read);
        return directory;
    }

    static FileHandle forged(FileHandle handle) {
        byte[] bytes = handle.toByteArray();
        bytes[bytes.length - 1] ^= 1;
        return new FileHandle(bytes);
    }

    static void assertNoAttributes(NfsTestClient.Reply reply, NfsStatus status) {
        assertNull(reply.expect(status, Fattr::readOptional));
    }

    static void assertAttributes(NfsTestClient.Reply reply, NfsStatus status) {
        assertNotNull(reply.expect(status, Fattr::readOptional));
    }

    static void assertNoChanges(NfsTestClient.Reply reply, NfsStatus status) {
        assertEquals(WccData.NONE, reply.expect(status, WccData::read));
    }

    static void assertChanges(NfsTestClient.Reply reply, NfsStatus status) {
        WccData changes = reply.expect(status, WccData::read);
        assertNotNull(changes.before());
        assertNotNull(changes.after());
    }

    /** As those of a file that other calls may change meanwhile. */
    static void assertSharedChanges(NfsTestClient.Reply reply, NfsStatus status) {
        WccData changes = reply.expect(status, WccData::read);
        assertNull(changes.before());
        assertNotNull(changes.after());
    }

    private static int processUser() {
        try {
            Path file = Files.createTempFile("owner", null);
            try {
                return (Integer) Files.getAttribute(file, "unix:uid");
            } finally {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
