package org.nettyrdma.verbs.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.nettyrdma.verbs.ConnectionListener;
import org.nettyrdma.verbs.ListenAttributes;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.support.DirectMemory;
import org.nettyrdma.verbs.support.LoopCore;
import org.nettyrdma.verbs.support.ReadySockets;
import org.nettyrdma.verbs.support.TimerQueue;

/** Connections for which there is no memory while they are set up: nothing is left of them. */
@Timeout(60)
class ExhaustedSetupTest {

    /** What there is no memory for. */
    private enum Part { SOCKETS, TIMERS, PEER_BLOCKS }

    /** Has no memory for one part. */
    private static final class Parts extends ShmLoopParts {

        private Part missing;

        Parts(ShmSettings settings, ProcessDirectory directory) throws IOException {
            super(new LoopCore(System::nanoTime, () -> 1), settings, directory, new ShmStatistics());
        }

        private void require(Part part) {
            if (missing == part) {
                throw new OutOfMemoryError("expected");
            }
        }

        @Override
        ReadySockets sockets() {
            require(Part.SOCKETS);
            return super.sockets();
        }

        @Override
        TimerQueue timers() {
            require(Part.TIMERS);
            return super.timers();
        }

        @Override
        PeerBlocks peerBlocks(long instance) {
            require(Part.PEER_BLOCKS);
            return super.peerBlocks(instance);
        }
    }

    @TempDir
    private Path temporary;
    private ShmSettings settings;
    private ShmSide client;
    private ShmSide server;
    private Parts parts;
    private ShmContext context;

    @BeforeEach
    void open() throws IOException {
        settings = new ShmSettings(temporary.resolve("shm"), Set.of());
        client = new ShmSide(new ShmProvider(settings));
        server = new ShmSide(new ShmProvider(settings));
        parts = new Parts(settings, ProcessDirectory.of(settings));
        context = new ShmContext(parts, false);
    }

    @AfterEach
    void close() {
        parts.missing = null;
        context.close();
        client.close();
        server.close();
    }

    /** Files that have names or, where the garbage collector does not have to end that first, are mapped. */
    private long files() throws IOException {
        try (Stream<String> mapped = Files.lines(Path.of("/proc/self/maps")); Stream<Path> named = Files.walk(temporary)) {
            return named.count() + (DirectMemory.isFreedAtOnce()
                    ? mapped.filter(line -> line.contains(temporary.toString())).count() : 0);
        }
    }

    private void requireNothingLeft(Part part) throws IOException {
        ConnectionListener listener = context.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 16,
                new ListenAttributes(5000, 16, 16, 0, true), server);
        listener.setAccepting(true);
        long filesBefore = files();
        client.connect(listener.localAddress(), 0);
        while (server.requests.isEmpty()) {
            context.poll(server, 64);
        }
        QueuePair answering = context.createQueuePair(ShmSide.ATTRIBUTES, server, server.requests.remove());
        parts.missing = part;
        assertThrows(OutOfMemoryError.class, () -> answering.accept(ByteBuffer.allocate(0)));
        parts.missing = null;
        answering.close();
        client.queuePair.close();
        assertEquals(filesBefore, files());
    }

    @Test
    void shouldLeaveNothingWhereAnAnswerHasNoMemoryForItsSocket() throws IOException {
        requireNothingLeft(Part.SOCKETS);
    }

    @Test
    void shouldLeaveNothingWhereAnAnswerHasNoMemoryForTheConnection() throws IOException {
        requireNothingLeft(Part.PEER_BLOCKS);
    }

    /** It would be told in two minutes otherwise. */
    @Test
    void shouldTellAtOnceThatThereIsNoMemoryToAskAgain() throws IOException {
        SocketAddress listener = server.listen();
        Deque<SocketChannel> burst = new ArrayDeque<>();
        try {
            fill(ShmAddresses.find(parts.directory(), listener), burst);
            context.createQueuePair(ShmSide.ATTRIBUTES, client).connect(listener, null, ByteBuffer.allocate(0));
            parts.missing = Part.TIMERS;
            while (!client.ended) {
                context.poll(client, 64);
            }
            assertEquals(1, client.ends);
        } catch (OutOfMemoryError e) {
            throw new AssertionError("the event loop hears of it", e);
        } finally {
            for (SocketChannel each : burst) {
                each.close();
            }
        }
    }

    private static void fill(Path path, Deque<SocketChannel> burst) throws IOException {
        boolean full = false;
        while (!full) {
            SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
            burst.add(channel);
            channel.configureBlocking(false);
            try {
                channel.connect(UnixDomainSocketAddress.of(path));
            } catch (SocketException e) {
                full = true;
            }
        }
    }
}
