package org.nettyrdma.verbs.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.nettyrdma.verbs.ListenAttributes;
import org.nettyrdma.verbs.MemoryRegion;
import org.nettyrdma.verbs.QueuePair;

/** Whatever a peer writes into its files or does with them: its own connection ends, and the reason names the field. */
class HostileShmPeerTest {

    @TempDir
    private Path temporary;
    private ShmSettings settings;
    private ShmSide side;
    private SocketAddress address;
    private HostileShmPeer peer;
    private int tag;

    @BeforeEach
    void connect() throws IOException {
        Path directory = Files.createDirectory(temporary.resolve("shm"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        settings = new ShmSettings(directory, Set.of());
        side = new ShmSide(new ShmProvider(settings));
        address = side.listen();
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

    /** The end of its socket says that the process has ended. One that is alive could keep the event loop for ever. */
    @Test
    void shouldEndTheConnectionOfAPeerThatGoesOnAfterTheEnd() throws IOException {
        AtomicInteger more = new AtomicInteger(100_000);
        MemoryRegion region = new MemoryRegion() {
            @Override
            public ByteBuffer memory() { // asked for once for each message
                if (more.get() < 100_000) {
                    more.incrementAndGet();
                    write();
                }
                return side.memory;
            }

            @Override
            public void close() {
                // Belongs to the other one.
            }
        };
        tag = side.queuePair.expose(region, 0, 8, QueuePair.ACCESS_REMOTE_WRITE);
        more.set(0);
        write();
        peer.die();
        side.awaitTrue(() -> side.ended);
        assertTrue(more.get() < 10_000, more + " messages of a process that was said to have ended");
        assertTrue(side.cause.getMessage().contains("without a word"), side.cause.getMessage());
    }

    /** A peer may copy what it has been granted and send its answer while this side is in the middle of its turn. */
    @Test
    void shouldLetASendWithdrawWhatItsSenderHasReadMeanwhile() throws IOException {
        int read = side.queuePair.expose(side.region, 0, 8, QueuePair.ACCESS_REMOTE_READ);
        int[] answers = {0};
        tag = side.queuePair.expose(new MemoryRegion() {
            @Override
            public ByteBuffer memory() { // asked for in the middle of the turn
                if (answers[0] == 1) {
                    answers[0]++;
                    peer.control.putLong(ControlLayout.CONSUMED_OFFSET, 1);
                    peer.entry(2, 1, read, 0, 8, peer.block, 0, 8);
                }
                return side.memory;
            }

            @Override
            public void close() {
                // Belongs to the other one.
            }
        }, 8, 8, QueuePair.ACCESS_REMOTE_WRITE);
        peer.entry(4, 0, read, 0, 8);
        for (int i = 0; i < 1000; i++) {
            side.context.poll(side, 64); // grants it
        }
        answers[0] = 1;
        write();
        side.awaitTrue(() -> side.received == 1 || side.ended);
        assertEquals(2, answers[0]);
        assertFalse(side.ended, () -> side.cause.getMessage());
    }

    @Test
    void shouldRefuseASendThatWithdrawsWhatItsSenderIsReading() throws IOException {
        int read = side.queuePair.expose(side.region, 0, 8, QueuePair.ACCESS_REMOTE_READ);
        peer.entry(4, 0, read, 0, 8);
        peer.entry(2, 1, read, 0, 8, peer.block, 0, 8);
        requireEndNaming("while an RDMA Read of it is outstanding");
    }

    /** The peer takes nothing. */
    @Test
    void shouldWaitForThePeerToTakeWhatItWasSentUnlessAborted() throws IOException {
        side.send(10);
        side.queuePair.moveToError();
        side.context.poll(side, 64);
        assertFalse(side.ended);
        side.queuePair.abort();
        side.context.poll(side, 64);
        assertTrue(side.ended);
        assertNull(side.cause);
        assertEquals(9, side.flushed); // 8 receives
        side.queuePair.abort();
        side.context.poll(side, 64);
        assertEquals(1, side.ends);
    }

    /** What the peer has sent meanwhile is not taken any more, and must not keep the loop busy until the time is over. */
    @Test
    void shouldSleepWhileItWaitsForThePeerToTakeWhatItWasSent() throws IOException {
        side.send(10);
        side.queuePair.moveToError();
        peer.entry(1, 1, 0, 0, 8, peer.block, 0, 8);
        long waitNanos = TimeUnit.MILLISECONDS.toNanos(100);
        long longestNanos = 0;
        for (int i = 0; i < 5 && !side.ended; i++) { // the bytes that wake end the first
            side.context.poll(side, 64);
            long startNanos = System.nanoTime();
            side.context.await(waitNanos);
            longestNanos = Math.max(longestNanos, System.nanoTime() - startNanos);
        }
        assertTrue(longestNanos >= waitNanos / 2, longestNanos + " ns");
    }

    private void write() {
        peer.entry(3, 1, tag, 0, 8, peer.block, 0, 8);
    }

    /** Opening it would wait until somebody writes to it. */
    @Test
    @Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void shouldRefuseABlockThatIsAPipe() throws Exception {
        peer.entry(1, 1, 0, 0, 8, peer.pipe(), 0, 8);
        requireEndNaming("is no file of its process");
    }

    @Test
    void shouldNotFollowALinkInThePlaceOfTheDirectoryOfAPeer() throws IOException {
        Path elsewhere = Files.createDirectory(temporary.resolve("elsewhere"));
        Files.write(elsewhere.resolve("b1"), new byte[100]);
        Path link = Files.createSymbolicLink(temporary.resolve("shm").resolve("i0000000000000001"), elsewhere);
        String message = assertThrows(ShmProtocolException.class, () -> MappedFiles.map(link.resolve("b1"), 1, 1)).getMessage();
        assertTrue(message.contains("is no file of its process"), message);
    }

    /** It looks like what a process that has ended has left. */
    @Test
    void shouldNotRemoveFilesToWhichALinkLeads() throws IOException {
        Path elsewhere = Files.createDirectory(temporary.resolve("elsewhere"));
        Path file = Files.write(elsewhere.resolve("b1"), new byte[100]);
        Path shared = temporary.resolve("shm");
        Files.createSymbolicLink(shared.resolve("i0000000000000001"), elsewhere);
        Path dead = Files.createDirectory(shared.resolve("i0000000000000002"));
        Files.createFile(dead.resolve("lock"));
        Files.createSymbolicLink(dead.resolve("b2"), file);
        ProcessDirectory.of(new ShmSettings(shared, Set.of())).shared().removeDead();
        assertTrue(Files.exists(file));
        assertFalse(Files.exists(dead));
    }

    @Test
    void shouldNotReplaceAFileThatIsNoSocket() throws IOException {
        Path file = Files.write(temporary.resolve("precious"), new byte[100]);
        assertThrows(BindException.class, () -> listenAt(file));
        assertEquals(100, Files.size(file));
    }

    @Test
    void shouldReplaceASocketToWhichNobodyListens() throws IOException {
        Path path = temporary.resolve("socket");
        ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(UnixDomainSocketAddress.of(path)).close();
        assertTrue(Files.exists(path));
        listenAt(path);
        assertThrows(BindException.class, () -> listenAt(path));
    }

    private SocketAddress addressOfOneThatClaims(SocketAddress listener, String claimed, int port) throws IOException {
        try (HostileShmPeer other = new HostileShmPeer(settings, listener, InetAddress.getByName(claimed).getAddress(), port)) {
            side.accept(0);
            SocketAddress believed = side.queuePair.remoteAddress();
            return believed.equals(UnixDomainSocketAddress.of(other.path())) ? null : believed;
        }
    }

    @Test
    void shouldBelieveAPeerOnlyWhatAnyProcessOfThisHostCouldHave() throws IOException {
        assertEquals(new InetSocketAddress("127.0.0.7", 2000), addressOfOneThatClaims(address, "127.0.0.7", 2000));
        var elsewhere = (InetSocketAddress) addressOfOneThatClaims(address, "203.0.113.5", 2000);
        assertEquals(new InetSocketAddress(InetAddress.getLoopbackAddress(), 2000), elsewhere);
        var privileged = (InetSocketAddress) addressOfOneThatClaims(address, "127.0.0.1", 700);
        assertTrue(privileged.getPort() >= 1024, privileged::toString);
        var nowhere = (InetSocketAddress) addressOfOneThatClaims(address, "0.0.0.0", -1);
        assertTrue(nowhere.getAddress().isLoopbackAddress() && nowhere.getPort() >= 1024, nowhere::toString);
    }

    /** The close owes the peer a wake-up, and looks into its file for that. */
    @RepeatedTest(20)
    void shouldCloseWhenThePeerHasTruncatedItsControlFile() throws IOException {
        side.send(10);
        peer.entry(1, 1, 0, 0, 8, peer.block, 0, 8);
        side.awaitTrue(() -> side.received == 1);
        peer.truncateControl();
        side.queuePair.moveToError();
        requireEndNaming("truncated a file");
        assertEquals(1, side.ends);
    }

    @Test
    void shouldTellThatTheControlFileDoesNotExist() throws IOException {
        try (HostileShmPeer other = new HostileShmPeer(settings, address)) {
            Files.delete(other.path());
            side.accept(0);
            assertEquals("the peer has closed the connection before it stood: " + other.path() + " does not exist",
                    side.cause.getMessage());
        }
    }

    @Test
    void shouldNameAPeerOfAPathByItsFile() throws IOException {
        SocketAddress path = side.listen(UnixDomainSocketAddress.of(temporary.resolve("named")));
        assertNull(addressOfOneThatClaims(path, "203.0.113.5", 2000));
    }

    private void listenAt(Path path) throws IOException {
        side.context.listen(UnixDomainSocketAddress.of(path), 16, new ListenAttributes(5000, 16, 16, 0, true), side);
    }

    @Test
    void shouldRefuseADirectoryThatOthersCanReach() throws IOException {
        Path open = Files.createDirectory(temporary.resolve("open"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
        ShmProvider provider = new ShmProvider(new ShmSettings(open, Set.of()));
        String message = assertThrows(IOException.class, provider::openContext).getMessage();
        assertTrue(message.contains("mode 0755, owner "), message);
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
