package org.nettyrdma.example.nfs.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.ImmediateEventExecutor;
import io.netty.util.concurrent.Promise;
import io.netty.util.concurrent.PromiseNotifier;
import java.io.IOException;
import java.nio.file.FileSystem;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.example.nfs.TestServer;
import org.nettyrdma.example.nfs.Transport;
import org.nettyrdma.example.nfs.demo.DemoTree;
import org.nettyrdma.example.nfs.demo.TreeSnapshot;
import org.nettyrdma.example.nfs.protocol.FileHandle;
import org.nettyrdma.example.nfs.protocol.Nfs;
import org.nettyrdma.example.nfs.protocol.NfsProcedure;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.nettyrdma.example.nfs.protocol.Sattr;
import org.nettyrdma.example.nfs.server.MemoryFileSystem;

/** What a server does that is lost before it can answer, and does again when it is back. */
class ExecutedTwiceTest {

    private static final Set<NfsProcedure> TWICE = EnumSet.of(NfsProcedure.CREATE, NfsProcedure.MKDIR, NfsProcedure.SYMLINK,
            NfsProcedure.RENAME, NfsProcedure.LINK, NfsProcedure.REMOVE, NfsProcedure.RMDIR);

    private final AtomicInteger twice = new AtomicInteger();

    @Test
    void shouldPutATreeToAServerThatExecutesCallsTwice() throws IOException {
        withFiles((server, files) -> {
            try (FileSystem memory = MemoryFileSystem.create(64 << 20)) {
                Path source = DemoTree.writeSmall(Files.createDirectory(memory.getPath("/source")));
                for (int i = 0; i < 2; i++) { // the second time all names exist
                    TreeCopy.put(files, source, files.root(), "copy", new CopyOptions());
                    assertEquals(Optional.empty(),
                            TreeSnapshot.of(source).firstDifference(TreeSnapshot.of(server.root().resolve("copy"))));
                }
            }
        });
        assertTrue(twice.get() > 10, () -> twice + " calls were executed twice");
    }

    @Test
    void shouldRemoveFromAServerThatExecutesCallsTwice() throws IOException {
        withFiles((server, files) -> {
            Path tree = DemoTree.writeSmall(Files.createDirectory(server.root().resolve("tree")));
            Path file = Files.createFile(server.root().resolve("file"));

            files.remove("/file");
            files.removeTree("/tree");

            assertFalse(Files.exists(file));
            assertFalse(Files.exists(tree));
            assertEquals(NfsStatus.NOENT, assertThrows(NfsException.class, () -> files.remove("/file")).status());
            assertEquals(NfsStatus.NOENT, assertThrows(NfsException.class, () -> files.removeTree("/tree")).status());
        });
        assertTrue(twice.get() > 10, () -> twice + " calls were executed twice");
    }

    @Test
    void shouldSayWhereItCannotKnowWhoMadeADirectory() throws IOException {
        withFiles((server, files) -> {
            NfsException madeTwice = assertThrows(NfsException.class, () -> files.makeDirectory("/new", Sattr.NONE));
            NfsException old = assertThrows(NfsException.class, () -> files.makeDirectory("/new", Sattr.NONE));
            files.makeDirectories("/other/below", Sattr.NONE);

            assertEquals(NfsStatus.EXIST, madeTwice.status());
            assertTrue(madeTwice.getMessage().contains("this one, if the server was lost"), madeTwice.getMessage());
            assertEquals(NfsStatus.EXIST, old.status());
            assertFalse(old.getMessage().contains("lost"), old.getMessage());
            assertTrue(Files.isDirectory(server.root().resolve("other/below")));
        });
    }

    private interface Use {
        void with(TestServer server, RemoteFiles files) throws IOException;
    }

    private void withFiles(Use use) throws IOException {
        NfsClientOptions options = new NfsClientOptions();
        try (TestServer server = TestServer.start()) {
            NfsEndpoint endpoint = server.endpoint(Transport.RDMA);
            try (ServerConnection connection = ServerConnection.open(Transport.RDMA, endpoint.host(), endpoint.port(), options)) {
                FileHandle root = Await.result(new MountClient(connection::call, options.credential()).mount("/")).handle();
                NfsClient client = new NfsClient(request -> call(connection, request), connection.allocator(),
                        options.credential(), options.statistics());
                use.with(server, RemoteFiles.open(client, "/", root));
            }
        }
    }

    /** The first answer is lost, and the call is not recognised as it has another XID. */
    private Future<ByteBuf> call(ServerConnection connection, RpcRequest request) {
        if (request.program() != Nfs.PROGRAM || !TWICE.contains(NfsProcedure.of(request.procedure()))) {
            return connection.call(request);
        }
        twice.incrementAndGet();
        RpcRequest again = new RpcRequest(request.program(), request.version(), request.procedure(),
                request.arguments().retainedDuplicate()).setCredential(request.credential());
        Promise<ByteBuf> answer = ImmediateEventExecutor.INSTANCE.newPromise();
        connection.call(request).addListener((Future<ByteBuf> first) -> {
            first.getNow().release();
            connection.call(again).addListener(new PromiseNotifier<>(answer));
        });
        return answer;
    }
}
