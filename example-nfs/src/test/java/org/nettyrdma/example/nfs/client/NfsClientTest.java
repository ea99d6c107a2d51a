package org.nettyrdma.example.nfs.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.codec.oncrpc.OpaqueAuth;
import org.nettyrdma.example.nfs.TestServer;
import org.nettyrdma.example.nfs.Transport;
import org.nettyrdma.example.nfs.protocol.AccessBits;
import org.nettyrdma.example.nfs.protocol.CommitArguments;
import org.nettyrdma.example.nfs.protocol.CreateArguments;
import org.nettyrdma.example.nfs.protocol.CreateMode;
import org.nettyrdma.example.nfs.protocol.DeviceNumber;
import org.nettyrdma.example.nfs.protocol.DirectoryEntry;
import org.nettyrdma.example.nfs.protocol.DirectoryOperationArguments;
import org.nettyrdma.example.nfs.protocol.Fattr;
import org.nettyrdma.example.nfs.protocol.FileHandle;
import org.nettyrdma.example.nfs.protocol.FileType;
import org.nettyrdma.example.nfs.protocol.MakeDirectoryArguments;
import org.nettyrdma.example.nfs.protocol.MakeNodeArguments;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.nettyrdma.example.nfs.protocol.NfsTime;
import org.nettyrdma.example.nfs.protocol.ReadDirectoryArguments;
import org.nettyrdma.example.nfs.protocol.ReadDirectoryPlusArguments;
import org.nettyrdma.example.nfs.protocol.RenameArguments;
import org.nettyrdma.example.nfs.protocol.Sattr;
import org.nettyrdma.example.nfs.protocol.SetAttributesArguments;
import org.nettyrdma.example.nfs.protocol.StableHow;
import org.nettyrdma.example.nfs.protocol.SymbolicLinkArguments;
import org.nettyrdma.example.nfs.protocol.TimeChange;

/** Every procedure against the real server, over both transports. */
class NfsClientTest {

    private TestServer server;
    private NfsSession session;
    private NfsClient client;
    private FileHandle root;

    @BeforeEach
    void startServer() throws IOException {
        server = TestServer.start();
    }

    @AfterEach
    void stop() throws IOException {
        if (session != null) {
            session.close();
        }
        server.close();
    }

    private void connect(Transport transport) throws IOException {
        session = server.open(transport);
        client = session.client();
        root = session.files().root().handle();
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void shouldCallNull(Transport transport) throws IOException {
        connect(transport);
        assertNull(Await.result(client.nullCall()));
    }

    /** The head of the arguments, and the padding behind the data, need memory. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void shouldReleaseDataWhereThereIsNoMemoryForTheCall(int buffersLeft) {
        AtomicInteger left = new AtomicInteger(buffersLeft);
        ByteBufAllocator allocator = new PooledByteBufAllocator(true) {
            @Override
            protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
                if (left.getAndDecrement() == 0) {
                    throw new OutOfMemoryError("expected");
                }
                return super.newDirectBuffer(initialCapacity, maxCapacity);
            }
        };
        client = new NfsClient(call -> fail("a call was made"), allocator, OpaqueAuth.NONE, new NfsClientStatistics());
        ByteBuf data = Unpooled.buffer().writeBytes(new byte[5]);
        FileHandle file = new FileHandle(new byte[] {1});
        assertThrows(OutOfMemoryError.class, () -> client.write(file, 0, StableHow.UNSTABLE, data));
        assertEquals(0, data.refCnt());
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void shouldReadAndChangeAttributes(Transport transport) throws IOException {
        connect(transport);
        Path file = Files.writeString(server.root().resolve("file"), "content");
        FileHandle handle = Await.result(client.lookup(root, "file")).handle();
        NfsTime time = NfsTime.of(FileTime.fromMillis(1_600_000_000_000L));
        Sattr changes = Sattr.NONE.withMode(0640).withSize(3).withTimes(TimeChange.NONE, TimeChange.to(time));
        Await.result(client.setAttributes(new SetAttributesArguments(handle, changes, null)));
        Fattr attributes = Await.result(client.getAttributes(handle));
        assertEquals(0640, attributes.mode());
        assertEquals(3, attributes.size());
        assertEquals(time, attributes.modifyTime());
        assertEquals("con", Files.readString(file));
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void shouldRespectTheGuardOfSetattr(Transport transport) throws IOException {
        connect(transport);
        Files.writeString(server.root().resolve("file"), "content");
        FileHandle handle = Await.result(client.lookup(root, "file")).handle();
        assertFails(NfsStatus.NOT_SYNC, client.setAttributes(
                new SetAttributesArguments(handle, Sattr.NONE.withMode(0600), new NfsTime(1, 1))));
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void shouldTellNamesThatDoNotExist(Transport transport) throws IOException {
        connect(transport);
        assertFails(NfsStatus.NOENT, client.lookup(root, "nothing"));
        assertFails(NfsStatus.NAMETOOLONG, client.lookup(root, "x".repeat(100_000)));
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void shouldAskForAccess(Transport transport) throws IOException {
        connect(transport);
        int asked = AccessBits.READ | AccessBits.LOOKUP | AccessBits.MODIFY;
        assertEquals(asked, Await.result(client.access(root, asked)));
    }

    @ParameterizedTest
    @CsvSource({"RDMA,1", "RDMA,500", "RDMA,1023", "RDMA,4000", "TCP,1", "TCP,1023", "TCP,4000"})
    void shouldMakeAndReadSymbolicLinks(Transport transport, int length) throws IOException {
        connect(transport);
        String target = "t".repeat(length);
        LookupResult link = Await.result(client.makeSymbolicLink(new SymbolicLinkArguments(in(root, "link"), Sattr.NONE,
                target)));
        assertEquals(FileType.SYMBOLIC_LINK, Await.result(client.getAttributes(link.handle())).type());
        assertEquals(target, Await.result(client.readLink(link.handle())));
        assertEquals(target, Files.readSymbolicLink(server.root().resolve("link")).toString());
    }

    /** Sizes at the inline thresholds, at block sizes, and such that need padding. */
    @ParameterizedTest
    @CsvSource({"RDMA,0", "RDMA,1", "RDMA,1023", "RDMA,1024", "RDMA,1025", "RDMA,3700", "RDMA,3701", "RDMA,4095", "RDMA,4097",
        "RDMA,65535", "RDMA,65536", "RDMA,65537", "RDMA,1048575", "RDMA,1048576", "TCP,0", "TCP,1", "TCP,4097", "TCP,1048576"})
    void shouldWriteAndReadBack(Transport transport, int length) throws IOException {
        connect(transport);
        byte[] content = randomBytes(length);
        FileHandle file = createFile("file");
        WriteResult written = Await.result(client.write(file, 0, StableHow.FILE_SYNC, buffer(content)));
        assertEquals(length, written.count());
        assertEquals(StableHow.FILE_SYNC, written.committed());
        assertArrayEquals(content, Files.readAllBytes(server.root().resolve("file")));
        ReadResult read = Await.result(client.read(file, 0, 1 << 20));
        try {
            assertArrayEquals(content, ByteBufUtil.getBytes(read.content()));
            assertTrue(read.endOfFile());
            assertEquals(length, read.attributes().size());
        } finally {
            read.release();
        }
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void shouldReadFromTheMiddleAndBehindTheEnd(Transport transport) throws IOException {
        connect(transport);
        byte[] content = randomBytes(100_000);
        Files.write(server.root().resolve("file"), content);
        FileHandle file = Await.result(client.lookup(root, "file")).handle();
        assertRead(file, 50_001, 20_001, Arrays.copyOfRange(content, 50_001, 70_002), false);
        assertRead(file, 99_990, 20_000, Arrays.copyOfRange(content, 99_990, 100_000), true);
        assertRead(file, 200_000, 20_000, new byte[0], true);
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void shouldCommitUnstableWrites(Transport transport) throws IOException {
        connect(transport);
        FileHandle file = createFile("file");
        List<CompletableFuture<WriteResult>> writes = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            writes.add(client.write(file, i * 10_000L, StableHow.UNSTABLE, buffer(randomBytes(10_000))));
        }
        long verifier = Await.result(writes.get(0)).verifier();
        for (CompletableFuture<WriteResult> write : writes) {
            assertEquals(verifier, Await.result(write).verifier());
        }
        assertEquals(verifier, Await.result(client.commit(new CommitArguments(file, 0, 0))));
        assertEquals(200_000, Files.size(server.root().resolve("file")));
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void shouldCreateInEveryMode(Transport transport) throws IOException {
        connect(transport);
        FileHandle file = createFile("file");
        Await.result(client.write(file, 0, StableHow.FILE_SYNC, buffer(randomBytes(10))));
        assertFails(NfsStatus.EXIST, client.create(new CreateArguments(in(root, "file"), CreateMode.GUARDED, Sattr.NONE, 0)));
        assertEquals(file, Await.result(client.create(
                new CreateArguments(in(root, "file"), CreateMode.UNCHECKED, Sattr.NONE.withSize(0), 0))).handle());
        assertEquals(0, Await.result(client.getAttributes(file)).size());
        CreateArguments exclusive = new CreateArguments(in(root, "other"), CreateMode.EXCLUSIVE, Sattr.NONE, 42);
        assertEquals(Await.result(client.create(exclusive)).handle(), Await.result(client.create(exclusive)).handle());
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void shouldMakeAndRemoveDirectories(Transport transport) throws IOException {
        connect(transport);
        FileHandle directory = Await.result(client.makeDirectory(
                new MakeDirectoryArguments(in(root, "directory"), Sattr.NONE.withMode(0750)))).handle();
        assertEquals(0750, Await.result(client.getAttributes(directory)).mode());
        Await.result(client.create(new CreateArguments(in(directory, "file"), CreateMode.GUARDED, Sattr.NONE, 0)));
        assertFails(NfsStatus.NOTEMPTY, client.removeDirectory(root, "directory"));
        assertFails(NfsStatus.ISDIR, client.remove(root, "directory"));
        Await.result(client.remove(directory, "file"));
        Await.result(client.removeDirectory(root, "directory"));
        assertFalse(Files.exists(server.root().resolve("directory")));
        assertFails(NfsStatus.STALE, client.getAttributes(directory));
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void shouldRefuseSpecialFilesInMemory(Transport transport) throws IOException {
        connect(transport);
        assertFails(NfsStatus.NOTSUPP, client.makeNode(
                new MakeNodeArguments(in(root, "pipe"), FileType.FIFO, Sattr.NONE, DeviceNumber.NONE)));
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void shouldRenameAndLink(Transport transport) throws IOException {
        connect(transport);
        FileHandle file = createFile("file");
        Await.result(client.rename(new RenameArguments(in(root, "file"), in(root, "renamed"))));
        Await.result(client.link(file, root, "second"));
        assertEquals(2, Await.result(client.getAttributes(file)).linkCount());
        assertEquals(Await.result(client.lookup(root, "renamed")).attributes().fileId(),
                Await.result(client.lookup(root, "second")).attributes().fileId());
        assertFails(NfsStatus.NOENT, client.lookup(root, "file"));
    }

    @ParameterizedTest
    @CsvSource({"RDMA,512", "RDMA,8192", "RDMA,65536", "TCP,8192"})
    void shouldListDirectoriesInPages(Transport transport, int pageBytes) throws IOException {
        connect(transport);
        Set<String> expected = new HashSet<>(List.of(".", ".."));
        for (int i = 0; i < 300; i++) {
            expected.add(Files.createFile(server.root().resolve("a-file-with-a-name-" + i)).getFileName().toString());
        }
        Set<String> names = new HashSet<>();
        long cookie = 0;
        DirectoryPage page = new DirectoryPage(0, List.of(), false);
        while (!page.endOfDirectory()) {
            page = Await.result(client.readDirectory(new ReadDirectoryArguments(root, cookie, page.cookieVerifier(), pageBytes)));
            for (DirectoryEntry entry : page.entries()) {
                assertTrue(names.add(entry.name()), "twice: " + entry.name());
                cookie = entry.cookie();
            }
        }
        assertEquals(expected, names);
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void shouldListAttributesAndHandles(Transport transport) throws IOException {
        connect(transport);
        Files.writeString(server.root().resolve("file"), "content");
        DirectoryPage page = Await.result(client.readDirectoryPlus(new ReadDirectoryPlusArguments(root, 0, 0, 8192, 65536)));
        DirectoryEntry entry = page.entries().stream().filter(one -> one.name().equals("file")).findFirst().orElseThrow();
        assertEquals(7, entry.attributes().size());
        assertEquals(entry.attributes(), Await.result(client.getAttributes(entry.handle())));
        assertTrue(page.endOfDirectory());
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void shouldTellLimits(Transport transport) throws IOException {
        connect(transport);
        assertEquals(Transport.MAX_DATA_BYTES, Await.result(client.fileSystemInfo(root)).maxReadBytes());
        assertEquals(Transport.MAX_DATA_BYTES, session.files().limits().maxWriteBytes());
        assertTrue(Await.result(client.fileSystemStatus(root)).totalBytes() > 0);
        assertEquals(255, Await.result(client.pathConfiguration(root)).maxNameBytes());
    }

    private static DirectoryOperationArguments in(FileHandle directory, String name) {
        return new DirectoryOperationArguments(directory, name);
    }

    private FileHandle createFile(String name) throws IOException {
        return Await.result(client.create(new CreateArguments(in(root, name), CreateMode.GUARDED, Sattr.NONE.withMode(0644), 0)))
                .handle();
    }

    private ByteBuf buffer(byte[] content) {
        return client.allocator().directBuffer(Math.max(1, content.length)).writeBytes(content);
    }

    private static byte[] randomBytes(int length) {
        byte[] bytes = new byte[length];
        SplittableRandom random = new SplittableRandom(length);
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) random.nextInt();
        }
        return bytes;
    }

    private void assertRead(FileHandle file, long offset, int count, byte[] expected, boolean endOfFile) throws IOException {
        ReadResult read = Await.result(client.read(file, offset, count));
        try {
            assertArrayEquals(expected, ByteBufUtil.getBytes(read.content()));
            assertEquals(endOfFile, read.endOfFile());
        } finally {
            read.release();
        }
    }

    private static void assertFails(NfsStatus status, CompletableFuture<?> call) {
        assertEquals(status, assertThrows(NfsException.class, () -> Await.result(call)).status());
    }
}
