package org.nettyrdma.verbs.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nettyrdma.verbs.QueuePair;

/** Whatever a peer writes into its files or does with them: its own connection ends, and the reason names the field. */
class HostileShmPeerTest {

    @TempDir
    private Path temporary;
    private ShmSide side;
    private HostileShmPeer peer;

    @BeforeEach
    void connect() throws IOException {
        Path directory = Files.createDirectory(temporary.resolve("shm"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        ShmSettings settings = new ShmSettings(directory, Set.of());
        side = new ShmSide(new ShmProvider(settings));
        SocketAddress address = side.listen();
        peer = new HostileShmPeer(settings, address);
        side.accept(8);
        assertTrue(side.established);
    }

    @AfterEach
    void close() throws IOException {
        peer.close();
        side.close();
    }

    private void requireEndNaming(String field) throws IOException {
        side.awaitTrue(() -> side.ended);
        assertInstanceOf(IOException.class, side.cause);
        assertTrue(side.cause.getMessage().contains(field), side.cause.getMessage());
        assertEquals(1, side.provider.statistics().violations());
    }


    @Test
    void shouldTakeWhatIsInOrder() throws IOException {
        peer.entry(1, 1, 0, 0, 100, peer.block, 50, 100);
        side.awaitTrue(() -> side.received == 1);
        assertEquals(HostileShmPeer.SENTINEL, side.memory.get(99));
        assertEquals(0, side.memory.get(100));
    }

    @Test
    void shouldRefuseAnUnknownOperation() throws IOException {
        peer.entry(77, 0, 0, 0, 0);
        requireEndNaming("operation 77");
    }

    @Test
    void shouldRefuseMorePiecesThanThereCanBe() throws IOException {
        peer.entry(1, 33, 0, 0, 0);
        requireEndNaming("number of pieces 33");
    }

    @Test
    void shouldRefuseALengthThatIsNotThatOfThePieces() throws IOException {
        peer.entry(1, 1, 0, 0, 10, peer.block, 0, 100);
        requireEndNaming("length 10");
    }

    @Test
    void shouldRefuseLengthsThatWrap() throws IOException {
        peer.entry(1, 2, 0, 0, 4, peer.block, 0, Integer.MAX_VALUE, peer.block, 0, Integer.MAX_VALUE);
        requireEndNaming("length 4");
    }

    @Test
    void shouldRefuseANegativeLength() throws IOException {
        peer.entry(1, 1, 0, 0, -1, peer.block, 0, -1);
        requireEndNaming("length -1");
    }

    @Test
    void shouldRefuseANegativeOffset() throws IOException {
        peer.entry(1, 1, 0, 0, 8, peer.block, -8, 8);
        requireEndNaming("offset -8");
    }

    @Test
    void shouldRefuseAPieceBeyondItsBlock() throws IOException {
        peer.entry(1, 1, 0, 0, 8, peer.block, HostileShmPeer.BLOCK_BYTES - 7, 8);
        requireEndNaming("in block");
        assertEquals(0, side.memory.get(0));
    }

    @Test
    void shouldRefuseAPieceWhoseEndWraps() throws IOException {
        peer.entry(1, 1, 0, 0, 8, peer.block, Integer.MAX_VALUE, 8);
        requireEndNaming("in block");
    }

    @Test
    void shouldRefuseABlockThatDoesNotExist() throws IOException {
        peer.entry(1, 1, 0, 0, 8, 123_456_789, 0, 8);
        requireEndNaming("block 123456789");
    }

    @Test
    void shouldRefuseAWriteWithATagThatWasNotGiven() throws IOException {
        peer.entry(3, 1, 0x1234, 0, 8, peer.block, 0, 8);
        requireEndNaming("0x00001234");
    }

    @Test
    void shouldRefuseAWriteBeyondWhatIsExposed() throws IOException {
        int tag = side.queuePair.expose(side.region, 100_000, 100, QueuePair.ACCESS_REMOTE_WRITE);
        peer.entry(3, 1, tag, 93, 8, peer.block, 0, 8);
        requireEndNaming("tagged offset 0x5d");
        assertEquals(0, side.memory.getLong(100_093));
    }

    @Test
    void shouldRefuseAWriteWhoseEndWraps() throws IOException {
        int tag = side.queuePair.expose(side.region, 100_000, 100, QueuePair.ACCESS_REMOTE_WRITE);
        peer.entry(3, 1, tag, -4, 8, peer.block, 0, 8);
        requireEndNaming("tagged offset 0xfffffffffffffffc");
    }

    @Test
    void shouldRefuseAReadOfWhatMayOnlyBeWritten() throws IOException {
        int tag = side.queuePair.expose(side.region, 100_000, 100, QueuePair.ACCESS_REMOTE_WRITE);
        peer.entry(4, 0, tag, 0, 8);
        requireEndNaming("RDMA Read of steering tag");
    }

    @Test
    void shouldRefuseMoreReadsThanAgreed() throws IOException {
        int tag = side.queuePair.expose(side.region, 100_000, 100, QueuePair.ACCESS_REMOTE_READ);
        for (int i = 0; i < 5; i++) {
            peer.entry(4, 0, tag, 0, 8);
        }
        requireEndNaming("more than 4 RDMA Reads");
    }

    @Test
    void shouldRefuseAGrantThatNobodyHasAskedFor() throws IOException {
        peer.entry(5, 1, 0, 0, 8, peer.block, 0, 8);
        requireEndNaming("grant of 8 bytes");
    }

    @Test
    void shouldRefuseAConsumedIndexThatIsOutOfRange() throws IOException {
        side.send(10);
        peer.control.putLong(ControlLayout.CONSUMED_OFFSET, 1L << 40);
        requireEndNaming("entries consumed");
        assertEquals(0, side.sent);
    }

    @Test
    void shouldRefuseAMessageThatDoesNotFit() throws IOException {
        peer.entry(1, 1, 0, 0, 1025, peer.block, 0, 1025);
        requireEndNaming("receive buffer of 1024");
        assertEquals(1, side.failed);
        assertEquals(0, side.memory.get(0));
    }

    @RepeatedTest(20)
    void shouldEndTheConnectionOfAPeerThatTruncatesItsControlFile() throws IOException {
        peer.entry(1, 1, 0, 0, 8, peer.block, 0, 8);
        side.awaitTrue(() -> side.received == 1);
        peer.truncateControl();
        requireEndNaming("truncated a file");
    }

    @RepeatedTest(20)
    void shouldEndTheConnectionOfAPeerThatTruncatesItsBlock() throws IOException {
        peer.entry(1, 1, 0, 0, 8, peer.block, 0, 8);
        side.awaitTrue(() -> side.received == 1);
        peer.truncateBlock();
        peer.entry(1, 1, 0, 0, 1000, peer.block, 0, 1000);
        requireEndNaming("truncated a file");
        assertEquals(1, side.received);
    }

    @Test
    void shouldEndTheConnectionWhenAWorkRequestFindsTheControlFileTruncated() throws IOException {
        side.awaitTrue(() -> true);
        peer.truncateControl();
        side.send(10);
        requireEndNaming("truncated a file");
    }

    @Test
    void shouldTellThatThePeerHasGoneWithoutAWord() throws IOException {
        peer.entry(1, 1, 0, 0, 8, peer.block, 0, 8);
        peer.die();
        side.awaitTrue(() -> side.ended);
        assertEquals(1, side.received, "what came before the end counts");
        assertTrue(side.cause.getMessage().contains("without a word"), side.cause.getMessage());
    }

    @Test
    void shouldRefuseADirectoryThatOthersCanReach() throws IOException {
        Path open = Files.createDirectory(temporary.resolve("open"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
        ShmProvider provider = new ShmProvider(new ShmSettings(open, Set.of()));
        String message = assertThrows(IOException.class, provider::openContext).getMessage();
        assertTrue(message.contains("rwxr-xr-x"), message);
    }

    @Test
    void shouldKeepItsFilesToItself() throws IOException {
        ByteBuffer memory = side.provider.allocate(4096);
        try (var files = Files.walk(temporary.resolve("shm"))) {
            for (Path file : files.filter(each -> !Files.isSymbolicLink(each)).toList()) {
                String mode = PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
                if (Files.isDirectory(file)) {
                    assertEquals("rwx------", mode, file::toString);
                } else if (file.getFileName().toString().startsWith("b") && !file.endsWith("b" + peer.block)) {
                    assertEquals("rw-------", mode, file::toString);
                }
            }
        }
        side.provider.free(memory);
    }
}
