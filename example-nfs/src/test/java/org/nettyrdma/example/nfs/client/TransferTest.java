package org.nettyrdma.example.nfs.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystem;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.oncrpc.RpcProgram;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.example.nfs.Transport;
import org.nettyrdma.example.nfs.protocol.CommitArguments;
import org.nettyrdma.example.nfs.protocol.DeviceNumber;
import org.nettyrdma.example.nfs.protocol.Fattr;
import org.nettyrdma.example.nfs.protocol.FileHandle;
import org.nettyrdma.example.nfs.protocol.FileSystemInfo;
import org.nettyrdma.example.nfs.protocol.FileType;
import org.nettyrdma.example.nfs.protocol.Nfs;
import org.nettyrdma.example.nfs.protocol.NfsProcedure;
import org.nettyrdma.example.nfs.protocol.NfsTime;
import org.nettyrdma.example.nfs.protocol.ReadArguments;
import org.nettyrdma.example.nfs.protocol.StableHow;
import org.nettyrdma.example.nfs.protocol.WccData;
import org.nettyrdma.example.nfs.protocol.WireForm;
import org.nettyrdma.example.nfs.protocol.WriteArguments;
import org.nettyrdma.example.nfs.server.MemoryFileSystem;

/** Servers that write and read less than was asked for, or lose what they have not made stable. */
class TransferTest {

    private static final int TRANSFER_BYTES = 1000;

    private final UnreliableProgram program = new UnreliableProgram();
    private final byte[] content = new byte[10_500];
    private FileSystem memory;
    private Path source;
    private ProgramServer server;
    private ServerConnection connection;
    private RemoteFiles files;

    @BeforeEach
    void start() throws IOException {
        memory = MemoryFileSystem.create(1 << 20);
        new Random(7).nextBytes(content);
        source = Files.write(memory.getPath("/source"), content);
        server = new ProgramServer(Transport.RDMA, program);
        NfsEndpoint endpoint = server.endpoint("/");
        NfsClientOptions options = new NfsClientOptions();
        connection = ServerConnection.open(Transport.RDMA, endpoint.host(), endpoint.port(), options);
        NfsClient client = new NfsClient(connection::call, connection.allocator(), options.credential(),
                options.statistics());
        files = RemoteFiles.open(client, "/", UnreliableProgram.HANDLE);
    }

    @AfterEach
    void stop() throws IOException {
        connection.close();
        server.close();
        memory.close();
    }

    @Test
    void shouldWriteAndCommit() throws IOException {
        upload();
        assertArrayEquals(content, program.written());
        assertEquals(11, program.writes.get());
        assertEquals(1, program.commits.get());
    }

    @Test
    void shouldNotCommitWhatOneStableCallWrote() throws IOException {
        Files.write(source, Arrays.copyOf(content, TRANSFER_BYTES));
        upload();
        assertEquals(1, program.writes.get());
        assertEquals(0, program.commits.get());
    }

    @Test
    void shouldNotCommitWhatTheServerMadeStableByItself() throws IOException {
        program.committed = StableHow.FILE_SYNC;
        upload();
        assertEquals(0, program.commits.get());
    }

    @Test
    void shouldWriteTheRestOfShortWrites() throws IOException {
        program.maxCount = 300;
        upload();
        assertArrayEquals(content, program.written());
    }

    @Test
    void shouldWriteAllAgainWhenTheVerifierChangedBeforeTheCommit() throws IOException {
        program.restartAtCommit = 1;
        upload();
        assertArrayEquals(content, program.written());
        assertEquals(22, program.writes.get());
        assertEquals(1, program.commits.get(), "the second time each call is stable");
    }

    @Test
    void shouldWriteAllAgainWhenTheVerifierChangedBetweenWrites() throws IOException {
        program.restartAtWrite = 5;
        upload();
        assertArrayEquals(content, program.written());
        assertEquals(22, program.writes.get());
        assertEquals(0, program.commits.get());
    }

    @Test
    void shouldWriteToAServerThatLosesAllThatIsNotStable() throws IOException {
        program.restartAtEveryCommit = true;
        upload();
        assertArrayEquals(content, program.written());
        assertEquals(22, program.writes.get());
    }

    @Test
    void shouldGiveUpOnAServerThatAlwaysLosesItsData() {
        program.restartAtEveryCommit = true;
        program.makesStable = false;
        String message = assertThrows(IOException.class, this::upload).getMessage();
        assertEquals("/file: the server lost uncommitted data 4 times", message);
    }

    @Test
    void shouldGiveUpOnAServerThatWritesNothing() {
        program.maxCount = 0;
        String message = assertThrows(IOException.class, this::upload).getMessage();
        assertEquals("/file: the server writes nothing, and gives no reason", message);
    }

    @Test
    void shouldReadTheRestOfShortReads() throws IOException {
        upload();
        program.maxCount = 300;
        assertArrayEquals(content, download());
    }

    @Test
    void shouldSayThatAFileHasBecomeShorter() throws IOException {
        upload();
        program.endOfFile = 5_200;
        String message = assertThrows(IOException.class, this::download).getMessage();
        assertEquals("/file: the file became shorter while it was copied", message);
        assertArrayEquals(Arrays.copyOf(content, 5_200), Files.readAllBytes(memory.getPath("/copy")));
    }

    /** Since the directory was listed, or between two calls. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 999, 1000, 5_200})
    void shouldCopyAFileThatHasBecomeLonger(int listedBytes) throws IOException {
        upload();
        program.maxCount = 700;
        Path copy = memory.getPath("/copy");
        RemoteFile listed = new RemoteFile("/file", UnreliableProgram.HANDLE, UnreliableProgram.attributes(listedBytes));
        try (FileChannel out = FileChannel.open(copy, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            Download download = new Download(files, listed, out, copy.toString(), options());
            download.run();
            assertEquals(content.length, download.attributes().size());
        }
        assertArrayEquals(content, Files.readAllBytes(copy));
    }

    @Test
    void shouldReadNoMoreOftenThanTheFileIsLong() throws IOException {
        upload();
        download();
        assertEquals(11, program.reads.get());
    }

    @Test
    void shouldRefuseASizeThatNoFileHas() {
        RemoteFile huge = new RemoteFile("/file", UnreliableProgram.HANDLE, UnreliableProgram.attributes(-1));
        String message = assertThrows(IOException.class,
                () -> new Download(files, huge, FileChannel.open(source), "copy", options()).run()).getMessage();
        assertEquals("/file: no file has 18446744073709551615 bytes", message);
    }

    @Test
    void shouldGiveUpOnAServerThatReadsNothing() throws IOException {
        upload();
        program.maxCount = 0;
        String message = assertThrows(IOException.class, this::download).getMessage();
        assertTrue(message.startsWith("/file: the server returns no data"), message);
    }

    private void upload() throws IOException {
        try (FileChannel in = FileChannel.open(source)) {
            new Upload(files, in, source.toString(), file(), options()).run();
        }
    }

    private byte[] download() throws IOException {
        Path copy = memory.getPath("/copy");
        try (FileChannel out = FileChannel.open(copy, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            new Download(files, file(), out, copy.toString(), options()).run();
        }
        return Files.readAllBytes(copy);
    }

    private RemoteFile file() {
        return new RemoteFile("/file", UnreliableProgram.HANDLE, UnreliableProgram.attributes(content.length));
    }

    private static CopyOptions options() {
        return new CopyOptions().setMaxTransferBytes(TRANSFER_BYTES).setCallsPerFile(3);
    }

    /** One file that is written and read on the event loop, with the faults that a test sets. */
    private static final class UnreliableProgram implements RpcProgram {

        static final FileHandle HANDLE = new FileHandle(new byte[] {1, 2, 3});

        final AtomicInteger writes = new AtomicInteger();
        final AtomicInteger reads = new AtomicInteger();
        final AtomicInteger commits = new AtomicInteger();
        volatile int maxCount = Integer.MAX_VALUE;
        volatile long endOfFile = Long.MAX_VALUE;
        volatile StableHow committed = StableHow.UNSTABLE;
        volatile int restartAtWrite;
        volatile int restartAtCommit;
        volatile boolean restartAtEveryCommit;
        volatile boolean makesStable = true;
        private final AtomicLong verifier = new AtomicLong(42);
        private final ByteBuffer content = ByteBuffer.allocate(20_000);
        private int length;

        byte[] written() {
            return Arrays.copyOf(content.array(), length);
        }

        @Override
        public int program() {
            return Nfs.PROGRAM;
        }

        @Override
        public int lowestVersion() {
            return Nfs.VERSION;
        }

        @Override
        public int highestVersion() {
            return Nfs.VERSION;
        }

        @Override
        public void call(RpcCall call) {
            ByteBuf results = call.alloc().buffer();
            results.writeInt(0);
            switch (NfsProcedure.of(call.procedure())) {
                case GETATTR -> attributes(length).write(results);
                case FSINFO -> {
                    WireForm.writeOptional(null, results);
                    new FileSystemInfo(1 << 20, 1 << 20, 1, 1 << 20, 1 << 20, 1, 4096, 1 << 30, new NfsTime(0, 1), 0)
                            .write(results);
                }
                case WRITE -> write(WriteArguments.read(call.arguments()), results);
                case READ -> read(ReadArguments.read(call.arguments()), results);
                case COMMIT -> commit(CommitArguments.read(call.arguments()), results);
                default -> throw new IllegalStateException("procedure " + call.procedure());
            }
            call.reply(results);
        }

        private void write(WriteArguments write, ByteBuf results) {
            if (writes.incrementAndGet() == restartAtWrite) {
                restart();
            }
            int count = Math.min(maxCount, write.data().readableBytes());
            write.data().getBytes(write.data().readerIndex(), content.array(), (int) write.offset(), count);
            length = Math.max(length, (int) write.offset() + count);
            WccData.NONE.write(results);
            results.writeInt(count);
            results.writeInt(write.stable() == StableHow.UNSTABLE || !makesStable ? committed.code() : write.stable().code());
            results.writeLong(verifier.get());
        }

        private void read(ReadArguments read, ByteBuf results) {
            reads.incrementAndGet();
            long end = Math.min(length, endOfFile);
            int count = (int) Math.max(0, Math.min(Math.min(maxCount, read.count()), end - read.offset()));
            WireForm.writeOptional(attributes(length), results);
            results.writeInt(count);
            results.writeInt(maxCount > 0 && read.offset() + count >= end ? 1 : 0);
            Xdr.writeOpaque(results,
                    Arrays.copyOfRange(content.array(), (int) read.offset(), (int) read.offset() + count));
        }

        private void commit(CommitArguments commit, ByteBuf results) {
            if (commits.incrementAndGet() == restartAtCommit || restartAtEveryCommit) {
                restart();
            }
            WccData.NONE.write(results);
            results.writeLong(verifier.get());
        }

        private void restart() {
            Arrays.fill(content.array(), (byte) 0);
            length = 0;
            verifier.incrementAndGet();
        }

        static Fattr attributes(long size) {
            NfsTime time = new NfsTime(1, 2);
            return new Fattr(FileType.REGULAR, 0644, 1, 0, 0, size, size, DeviceNumber.NONE, 1, 2, time, time, time);
        }
    }
}
