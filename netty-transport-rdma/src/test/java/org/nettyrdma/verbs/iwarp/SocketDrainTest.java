package org.nettyrdma.verbs.iwarp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
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

    /** Its holder, which is looked up by its peer, there is no memory for. */
    @Test
    void shouldForgetASocketThatThereWasNoMemoryToAdd() {
        boolean[] missing = {true};
        var socket = new SocketTable.Entry() {
            @Override
            public PeerAddress peer() {
                if (missing[0]) {
                    throw new OutOfMemoryError("expected");
                }
                return PeerAddress.of(new InetSocketAddress("127.0.0.1", 1));
            }

            @Override
            public long number() {
                return 1;
            }
        };
        var table = new SocketTable<>(1, 1);
        assertThrows(OutOfMemoryError.class, () -> table.add(socket));
        missing[0] = false;
        table.remove(socket);
        assertNull(table.oldest());
        assertNull(table.add(socket));
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
