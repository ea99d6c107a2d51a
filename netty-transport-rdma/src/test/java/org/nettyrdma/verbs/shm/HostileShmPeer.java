package org.nettyrdma.verbs.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** A peer that writes its control file byte by byte; it asks for connections. Its block holds sentinels. */
final class HostileShmPeer implements AutoCloseable {

    static final int BLOCK_BYTES = 8192;
    static final byte SENTINEL = 0x5a;

    private final FileChannel file;
    private final Path path;
    private final FileChannel blockFile;
    private final Path blockPath;
    private final SocketChannel socket;
    final MappedByteBuffer control;
    final int block;
    private final ProcessDirectory directory;
    private long nextEntry;

    HostileShmPeer(ShmSettings settings, SocketAddress address) throws IOException {
        this(settings, address, InetAddress.getLoopbackAddress().getAddress(), ((InetSocketAddress) address).getPort());
    }

    /** One that says that it has this address. */
    HostileShmPeer(ShmSettings settings, SocketAddress address, byte[] claimedAddress, int claimedPort) throws IOException {
        directory = ProcessDirectory.of(settings);
        int number = directory.newNumber();
        path = directory.file(OwnControl.KIND, number);
        file = FileChannel.open(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE);
        file.write(ByteBuffer.allocate(ControlLayout.FILE_BYTES));
        control = file.map(FileChannel.MapMode.READ_WRITE, 0, ControlLayout.FILE_BYTES);
        control.order(ByteOrder.nativeOrder());
        control.putLong(ControlLayout.MAGIC_OFFSET, ControlLayout.MAGIC);
        block = directory.newNumber();
        blockPath = directory.file(OwnBlocks.KIND, block);
        blockFile = FileChannel.open(blockPath, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        ByteBuffer sentinels = ByteBuffer.allocate(BLOCK_BYTES);
        while (sentinels.hasRemaining()) {
            sentinels.put(SENTINEL);
        }
        blockFile.write(sentinels.flip());
        socket = SocketChannel.open(StandardProtocolFamily.UNIX);
        socket.connect(UnixDomainSocketAddress.of(ShmAddresses.find(directory, address)));
        socket.write(new SetupFrame(SetupFrame.Kind.REQUEST, directory.instance(), number, 4, 4,
                claimedAddress, claimedPort, "", new byte[0])
                .encode());
    }

    /** Writes one entry with what the arguments say, true or not, and wakes the other side. */
    void entry(int operation, int pieces, int tag, long taggedOffset, int totalBytes, int... pieceFields) {
        entryWithoutWakeUp(operation, pieces, tag, taggedOffset, totalBytes, pieceFields);
        ring();
    }

    /** The same without a wake-up. */
    void entryWithoutWakeUp(int operation, int pieces, int tag, long taggedOffset, int totalBytes, int... pieceFields) {
        int at = ControlLayout.entryOffset(nextEntry);
        control.putShort(at + ControlLayout.OPERATION_OFFSET, (short) operation);
        control.putShort(at + ControlLayout.PIECE_COUNT_OFFSET, (short) pieces);
        control.putInt(at + ControlLayout.STEERING_TAG_OFFSET, tag);
        control.putLong(at + ControlLayout.TAGGED_OFFSET_OFFSET, taggedOffset);
        control.putInt(at + ControlLayout.TOTAL_BYTES_OFFSET, totalBytes);
        for (int i = 0; i < pieceFields.length; i++) {
            control.putInt(at + ControlLayout.PIECES_OFFSET + i * Integer.BYTES, pieceFields[i]);
        }
        ControlLayout.LONG.setRelease(control, at, nextEntry + 1);
        nextEntry += ControlLayout.entriesFor(pieces);
    }

    /** Its control file. */
    Path path() {
        return path;
    }

    /** Makes a pipe in the place of a block; returns its number. */
    int pipe() throws IOException, InterruptedException {
        int number = directory.newNumber();
        Path pipe = directory.file(OwnBlocks.KIND, number);
        assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());
        return number;
    }

    /** Makes another block, which holds the same; returns its number. */
    int anotherBlock() throws IOException {
        int number = directory.newNumber();
        Files.createLink(directory.file(OwnBlocks.KIND, number), blockPath);
        return number;
    }

    void truncateControl() throws IOException {
        file.truncate(0);
        ring();
    }

    void truncateBlock() throws IOException {
        blockFile.truncate(0);
    }

    void ring() {
        try {
            socket.write(ByteBuffer.allocate(1));
        } catch (IOException e) {
            // The other side has ended the connection, which is what the test is about.
        }
    }

    /** How many bytes have come over the socket since the last call: its answer first, then one each time that it is woken. */
    int takeSocketBytes() throws IOException {
        socket.configureBlocking(false);
        ByteBuffer bytes = ByteBuffer.allocate(4096);
        int read = 0;
        while (read >= 0 && bytes.hasRemaining()) {
            read = socket.read(bytes);
            if (read == 0) {
                break;
            }
        }
        socket.configureBlocking(true);
        return bytes.position();
    }

    /** Returns when the other side has closed its socket. */
    void awaitEndOfSocket() {
        try {
            while (socket.read(ByteBuffer.allocate(64)) >= 0) {
                continue;
            }
        } catch (IOException e) {
            // A reset: the other side has not read all.
        }
    }

    /** As when the process is killed. */
    void die() throws IOException {
        socket.close();
    }

    @Override
    public void close() throws IOException {
        socket.close();
        file.close();
        blockFile.close();
        Files.deleteIfExists(path);
        Files.deleteIfExists(blockPath);
        MappedFiles.unmap(control);
    }
}
