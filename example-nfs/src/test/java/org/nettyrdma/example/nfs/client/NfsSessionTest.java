package org.nettyrdma.example.nfs.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.FileSystem;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.codec.oncrpc.RpcTimeoutException;
import org.nettyrdma.example.nfs.NfsServer;
import org.nettyrdma.example.nfs.NfsServerOptions;
import org.nettyrdma.example.nfs.TestServer;
import org.nettyrdma.example.nfs.Transport;
import org.nettyrdma.example.nfs.demo.DemoTree;
import org.nettyrdma.example.nfs.demo.TreeSnapshot;
import org.nettyrdma.example.nfs.protocol.Mount;
import org.nettyrdma.example.nfs.protocol.MountEntry;
import org.nettyrdma.example.nfs.protocol.MountProcedure;
import org.nettyrdma.example.nfs.server.Export;
import org.nettyrdma.example.nfs.server.MemoryFileSystem;

class NfsSessionTest {

    private static final int TIMEOUT_SECONDS = 60;

    private TestServer server;

    @BeforeEach
    void start() throws IOException {
        server = TestServer.start("/export");
    }

    @AfterEach
    void stop() throws IOException {
        server.close();
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void shouldMountTheExportAboveAPath(Transport transport) throws IOException {
        try (NfsSession session = NfsSession.open(server.endpoint(transport, "/export/not/there"), new NfsClientOptions())) {
            assertEquals("/export", session.files().root().path());
            assertTrue(session.isConnected());
        }
    }

    @Test
    void shouldMountOverAnotherPort() throws IOException {
        NfsClientOptions options = new NfsClientOptions().setMountPort(server.endpoint(Transport.TCP).port());
        try (NfsSession session = NfsSession.open(server.endpoint(Transport.RDMA, "/export"), options)) {
            assertEquals("/export", session.files().root().path());
        }
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void shouldLeaveTheListOfMounts(Transport transport) throws IOException {
        NfsClientOptions options = new NfsClientOptions();
        NfsSession first = NfsSession.open(server.endpoint(transport, "/export"), options);
        NfsSession second = NfsSession.open(server.endpoint(transport, "/export"), options);
        List<MountEntry> listed = List.of(new MountEntry(server.endpoint(transport).host(), "/export"));
        assertEquals(listed, mounts());
        first.close();
        first.close();
        assertEquals(listed, mounts());
        second.close();
        assertEquals(List.of(), mounts());
    }

    @Test
    void shouldLeaveTheListOfMountsOfAnotherPort() throws IOException {
        NfsClientOptions options = new NfsClientOptions().setMountPort(server.endpoint(Transport.TCP).port());
        NfsSession session = NfsSession.open(server.endpoint(Transport.RDMA, "/export"), options);
        assertEquals(1, mounts().size());
        Thread.currentThread().interrupt(); // as a signal does
        session.close();
        assertTrue(Thread.interrupted());
        assertEquals(List.of(), mounts());
    }

    private List<MountEntry> mounts() throws IOException {
        NfsEndpoint endpoint = server.endpoint(Transport.TCP);
        NfsClientOptions options = new NfsClientOptions();
        try (TcpConnection connection = TcpConnection.open(endpoint.host(), endpoint.port(), options, 10_000)) {
            return Await.result(new ProgramCaller(connection.rpc()::call, Mount.PROGRAM, Mount.VERSION, options.credential())
                    .call(MountProcedure.DUMP.number(), Unpooled.EMPTY_BUFFER, MountEntry::readList));
        }
    }

    @Test
    void shouldSayWhatIsExportedWhenAPathIsNot() {
        MountException failure = assertThrows(MountException.class,
                () -> NfsSession.open(server.endpoint(Transport.RDMA, "/exports"), new NfsClientOptions()));
        assertEquals("the server does not export /exports; it exports /export", failure.getMessage());
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void shouldSayThatNobodyListens(Transport transport) throws IOException {
        try (Socket taken = new Socket()) { // or another process could listen there meanwhile
            taken.bind(new InetSocketAddress("127.0.0.1", 0));
            int port = taken.getLocalPort();
            NfsEndpoint endpoint = new NfsEndpoint(transport, "127.0.0.1", port, "/");
            NfsConnectException failure = assertThrows(NfsConnectException.class,
                    () -> NfsSession.open(endpoint, new NfsClientOptions()));
            assertTrue(failure.getMessage().startsWith("cannot connect to " + transport.scheme() + "://127.0.0.1:" + port + ": "),
                    failure.getMessage());
        }
    }

    @Test
    void shouldGiveUpOnAPeerThatDoesNotAnswerTheConnectionRequest() throws IOException {
        try (ServerSocket silent = new ServerSocket(0)) {
            NfsEndpoint endpoint = new NfsEndpoint(Transport.RDMA, "127.0.0.1", silent.getLocalPort(), "/");
            assertThrows(NfsConnectException.class,
                    () -> NfsSession.open(endpoint, new NfsClientOptions().setConnectTimeoutMillis(200)));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "::1"})
    void shouldTryBothAddressesOfLocalhost(String address) throws IOException {
        for (Transport transport : Transport.values()) {
            try (NfsServer one = NfsServer.start(Export.of(server.root()), new NfsServerOptions()
                    .setBindAddress(InetAddress.getByName(address)).setPort(transport, 0));
                    NfsSession session = NfsSession.open(new NfsEndpoint(transport, "localhost", one.address(transport).getPort(),
                            "/"),
                            new NfsClientOptions())) {
                assertEquals("/", session.files().root().path());
            }
        }
    }

    @Test
    void shouldConnectToAnAddressWithAZone() throws IOException {
        try (NfsServer one = NfsServer.start(Export.of(server.root()), new NfsServerOptions()
                .setBindAddress(InetAddress.getByName("::1")).setPort(Transport.RDMA, 0));
                NfsSession session = NfsSession.open(NfsEndpoint.parse("rdma://[::1%25lo]:"
                        + one.address(Transport.RDMA).getPort() + "/"),
                        new NfsClientOptions())) {
            assertEquals("/", session.files().root().path());
        }
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void shouldPing(Transport transport) throws IOException {
        List<Long> nanos = new ArrayList<>();
        NfsSession.ping(server.endpoint(transport), new NfsClientOptions(), 3, nanos::add);
        assertEquals(3, nanos.size());
        assertTrue(nanos.stream().allMatch(reply -> reply > 0), nanos.toString());
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void shouldServeSeveralClientsAtOnce(Transport transport) throws Exception {
        int clients = 6;
        ExecutorService threads = Executors.newFixedThreadPool(clients);
        try (FileSystem memory = MemoryFileSystem.create(256 << 20)) {
            Path source = DemoTree.writeSmall(Files.createDirectory(memory.getPath("/source")));
            TreeSnapshot expected = TreeSnapshot.of(source);
            List<Future<Optional<String>>> differences = new ArrayList<>();
            for (int i = 0; i < clients; i++) {
                String name = "client-" + i;
                differences.add(threads.submit(() -> {
                    try (NfsSession session = NfsSession.open(server.endpoint(transport, "/export"), new NfsClientOptions())) {
                        TreeCopy.put(session.files(), source, session.files().root(), name, new CopyOptions());
                        Path copy = memory.getPath("/" + name);
                        TreeCopy.get(session.files(), session.files().find("/export/" + name), copy, new CopyOptions());
                        return expected.firstDifference(TreeSnapshot.of(copy));
                    }
                }));
            }
            for (Future<Optional<String>> difference : differences) {
                assertEquals(Optional.empty(), difference.get(TIMEOUT_SECONDS, TimeUnit.SECONDS));
            }
        } finally {
            threads.shutdownNow();
        }
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void shouldGoOnCopyingWhenTheServerIsBack(Transport transport, @TempDir Path state) throws IOException {
        server.close();
        server = TestServer.startWithState(state);
        try (FileSystem memory = MemoryFileSystem.create(64 << 20)) {
            byte[] content = new byte[1 << 20];
            new Random(5).nextBytes(content);
            Path source = Files.write(memory.getPath("/source"), content);
            Path back = memory.getPath("/back");
            try (NfsSession session = server.open(transport)) {
                TreeCopy.put(session.files(), source, session.files().root(), "copy", restartingServer());
                assertArrayEquals(content, Files.readAllBytes(server.root().resolve("copy")));
                TreeCopy.get(session.files(), session.files().find("/copy"), back, restartingServer());
                assertArrayEquals(content, Files.readAllBytes(back));
                assertEquals(List.of("/copy"), names(server.root()));
            }
        }
    }

    /** Three times, from the first piece on, as the copy of one file has one thread. */
    private CopyOptions restartingServer() {
        return new CopyOptions().setMaxTransferBytes(4096).setListener(new CopyListener() {
            private long left = 3;

            @Override
            public void copied(long bytes) {
                if (left-- > 0) {
                    try {
                        server.restart();
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                }
            }

            @Override
            public void skipped(String path, String reason) {
                throw new AssertionError(path);
            }
        });
    }

    private static List<String> names(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(Path::toString).sorted().toList();
        }
    }

    @Execution(ExecutionMode.CONCURRENT) // nothing happens in it for seconds
    @ParameterizedTest
    @EnumSource(Transport.class)
    void shouldFailACopyWhoseServerDoesNotComeBack(Transport transport) throws Exception {
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try (FileSystem memory = MemoryFileSystem.create(64 << 20)) {
            Path source = Files.write(memory.getPath("/source"), new byte[32 << 20]);
            CountDownLatch begun = new CountDownLatch(1);
            CopyOptions options = new CopyOptions().setMaxTransferBytes(4096).setListener(new CopyListener() {
                @Override
                public void copied(long bytes) {
                    begun.countDown();
                }

                @Override
                public void skipped(String path, String reason) {
                    throw new AssertionError(path);
                }
            });
            try (NfsSession session = NfsSession.open(server.endpoint(transport, "/export"),
                    new NfsClientOptions().setCallTimeoutMillis(2000))) {
                Future<IOException> failure = thread.submit(() -> assertThrows(IOException.class,
                        () -> TreeCopy.put(session.files(), source, session.files().root(), "copy", options)));
                assertTrue(begun.await(TIMEOUT_SECONDS, TimeUnit.SECONDS));
                server.close();
                assertEquals(RpcTimeoutException.class, failure.get(TIMEOUT_SECONDS, TimeUnit.SECONDS).getClass());
                assertFalse(session.isConnected());
            }
        } finally {
            thread.shutdownNow();
        }
    }
}
