package org.nettyrdma.verbs.iwarp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.peer.PeerAddress;
import org.nettyrdma.verbs.support.Pool;
import org.nettyrdma.verbs.support.SocketHandler;
import org.nettyrdma.verbs.support.TimerQueue;

class SocketDrainTest {

    private static final int LIMIT = 512;

    private final Queue<Runnable> tasks = new ArrayDeque<>();
    private final SocketDrain drain = newDrain();
    private final Selector selector;
    private final ServerSocketChannel listener;
    private final List<SocketChannel> opened = new ArrayList<>();
    private boolean exhausted;

    SocketDrainTest() throws IOException {
        selector = Selector.open();
        listener = ServerSocketChannel.open().bind(new InetSocketAddress("127.0.0.1", 0));
    }

    private SocketDrain newDrain() {
        return new SocketDrain(new TimerQueue(System::nanoTime), new Pool<>(() -> ByteBuffer.allocateDirect(100), 1),
                this::execute);
    }

    private void execute(Runnable task) {
        if (exhausted) {
            throw new OutOfMemoryError("expected");
        }
        tasks.add(task);
    }

    @AfterEach
    void closeAll() throws IOException {
        drain.close();
        for (SocketChannel channel : opened) {
            channel.close();
        }
        listener.close();
        selector.close();
    }

    @Test
    void shouldMakeRoomAtTheCostOfTheAddressThatHasTheMost() throws IOException {
        SocketChannel oldest = drainConnectionFrom("127.0.0.2");
        SocketChannel first = drainConnectionFrom("127.0.0.1");
        for (int i = 2; i < LIMIT; i++) {
            drainConnectionFrom("127.0.0.1");
        }
        assertTrue(first.isOpen());

        SocketChannel last = drainConnectionFrom("127.0.0.1");

        assertFalse(first.isOpen());
        assertTrue(oldest.isOpen());
        assertTrue(last.isOpen());
    }

    @Test
    void shouldDropAsManyAsAreAskedFor() throws IOException {
        List<SocketChannel> drained = List.of(drainConnectionFrom("127.0.0.2"), drainConnectionFrom("127.0.0.1"),
                drainConnectionFrom("127.0.0.1"), drainConnectionFrom("127.0.0.1"));

        assertTrue(drain.drop(2));
        assertEquals(List.of(true, false, false, true), drained.stream().map(SocketChannel::isOpen).toList());
        assertTrue(drain.drop(2));
        assertFalse(drain.drop(2));
    }

    @Test
    void shouldAskAnotherEventLoopThatHasSomeOnceUntilItHasDoneSo() throws IOException {
        SocketDrain other = newDrain();
        assertFalse(other.dropElsewhere(2));
        List<SocketChannel> drained = List.of(drainConnectionFrom("127.0.0.1"), drainConnectionFrom("127.0.0.1"),
                drainConnectionFrom("127.0.0.1"));

        assertFalse(drain.dropElsewhere(2), "it has the sockets itself");
        assertTrue(other.dropElsewhere(2));
        assertFalse(other.dropElsewhere(2), "asked already");
        assertEquals(List.of(true, true, true), drained.stream().map(SocketChannel::isOpen).toList(), "another thread's");
        tasks.remove().run();
        assertEquals(List.of(false, false, true), drained.stream().map(SocketChannel::isOpen).toList());

        assertTrue(other.dropElsewhere(2));
        tasks.remove().run();
        assertFalse(other.dropElsewhere(2), "all are closed");
    }

    @Test
    void shouldBeAskedAgainWhereTheTaskWasNotTaken() throws IOException {
        SocketDrain other = newDrain();
        drainConnectionFrom("127.0.0.1");
        exhausted = true;
        assertThrows(OutOfMemoryError.class, () -> other.dropElsewhere(2));
        exhausted = false;
        assertTrue(other.dropElsewhere(2));
        tasks.remove().run();
        assertFalse(opened.get(1).isOpen());
    }

    @Test
    void shouldNotBeAskedOnceItsEventLoopHasEnded() throws IOException {
        drainConnectionFrom("127.0.0.1");
        drain.close();
        assertFalse(newDrain().dropElsewhere(2));
    }

    @Test
    void shouldWaitUntilEachPeerHasEndedItsOutputOrIsDropped() throws IOException {
        assertFalse(drain.isWaiting());
        drainConnectionFrom("127.0.0.1");
        drainConnectionFrom("127.0.0.1");
        assertTrue(drain.isWaiting());
        opened.get(0).close();
        selector.select();
        for (SelectionKey key : selector.selectedKeys()) {
            ((SocketHandler) key.attachment()).ready(key.readyOps());
        }
        assertTrue(drain.isWaiting());
        assertTrue(drain.drop(2));
        assertFalse(drain.isWaiting());
    }

    /** Either for the note of it among all or for that among those of its address. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void shouldForgetASocketThatThereWasNoMemoryToAdd(int failing) {
        PeerAddress address = PeerAddress.of(new InetSocketAddress("127.0.0.1", 1));
        var table = new SocketTable<Unnoted>(2, 2);
        Unnoted socket = new Unnoted(failing);
        assertThrows(OutOfMemoryError.class, () -> table.add(socket, address));
        table.remove(socket);
        assertNull(table.oldest());
        assertNull(table.firstToGo());
        assertNull(table.add(socket, address));
        assertSame(socket, table.firstToGo());
    }

    @Test
    void shouldKnowOthersOfTheAddressOfASocketThatThereWasNoMemoryToAdd() {
        PeerAddress address = PeerAddress.of(new InetSocketAddress("127.0.0.1", 1));
        var table = new SocketTable<Unnoted>(4, 1);
        Unnoted first = new Unnoted(0);
        Unnoted failed = new Unnoted(2);
        Unnoted later = new Unnoted(0);
        assertNull(table.add(first, address));
        assertThrows(OutOfMemoryError.class, () -> table.add(failed, address));
        table.remove(first);
        assertNull(table.add(later, address));
        table.remove(failed);
        assertSame(later, table.add(new Unnoted(0), address));
    }

    /** A socket for which there is no memory when it is looked up for so many times. */
    private static final class Unnoted {

        private int failing;

        Unnoted(int failing) {
            this.failing = failing;
        }

        @Override
        public boolean equals(Object other) {
            return this == other;
        }

        @Override
        public int hashCode() {
            if (failing-- == 1) {
                throw new OutOfMemoryError("expected");
            }
            return System.identityHashCode(this);
        }
    }

    private SocketChannel drainConnectionFrom(String address) throws IOException {
        SocketChannel peer = SocketChannel.open();
        opened.add(peer);
        peer.bind(new InetSocketAddress(address, 0)).connect(listener.getLocalAddress());
        SocketChannel channel = listener.accept();
        opened.add(channel);
        channel.configureBlocking(false);
        SelectionKey key = channel.register(selector, 0);
        drain.drain(channel, key, PeerAddress.of(channel.getRemoteAddress()), 0, 60_000);
        return channel;
    }
}
