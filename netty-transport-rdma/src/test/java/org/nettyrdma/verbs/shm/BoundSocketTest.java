package org.nettyrdma.verbs.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A server that takes the name of another one, which is not quite gone, keeps it. */
class BoundSocketTest {

    private static final int STARTS = 500;

    @TempDir
    private Path temporary;

    private ProcessDirectory directory() throws IOException {
        return ProcessDirectory.of(new ShmSettings(temporary.resolve("shm"), Set.of()));
    }

    /** The end of the JVM removes the socket; another hook may be waiting for the last answers. */
    @Test
    void shouldLeaveAnAddressToWhoeverListensThereNext() throws IOException {
        directory().use(); // as an event loop does
        BoundSocket first = BoundSocket.bind(directory(), new InetSocketAddress("127.0.0.1", 0), 1);
        SocketAddress address = first.address();
        directory().end();
        BoundSocket next = BoundSocket.bind(directory(), address, 1);
        first.close();
        assertTrue(Files.exists(ShmAddresses.find(directory(), address)));
        next.close();
        directory().release();
        assertEquals(List.of("lock"), names(temporary.resolve("shm")));
    }

    /** Whoever starts the next server has made the path free for it, and ends this one afterwards. */
    @Test
    void shouldLeaveAPathToWhoeverListensThereNext() throws IOException {
        Path path = temporary.resolve("socket");
        BoundSocket first = BoundSocket.bind(directory(), UnixDomainSocketAddress.of(path), 1);
        Files.delete(path);
        BoundSocket next = BoundSocket.bind(directory(), UnixDomainSocketAddress.of(path), 1);
        first.close();
        assertTrue(UnixFile.at(path).isSocket());
        next.close();
        assertFalse(Files.exists(path, LinkOption.NOFOLLOW_LINKS));
    }

    /** Both find the socket of a server that was killed. The later one must not take the socket of the other for that one. */
    @Test
    void shouldLetOneOfTwoListenThatStartTogether() throws Exception {
        Path path = temporary.resolve("socket");
        ProcessDirectory directory = directory();
        CyclicBarrier start = new CyclicBarrier(2);
        Callable<BoundSocket> server = () -> {
            start.await();
            try {
                return BoundSocket.bind(directory, UnixDomainSocketAddress.of(path), 1);
            } catch (BindException e) {
                return null;
            }
        };
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try {
            for (int i = 0; i < STARTS; i++) {
                ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(UnixDomainSocketAddress.of(path)).close();
                List<BoundSocket> bound = new ArrayList<>();
                for (Future<BoundSocket> each : threads.invokeAll(List.of(server, server))) {
                    if (each.get() != null) {
                        bound.add(each.get());
                    }
                }
                assertEquals(1, bound.size(), "start " + i);
                bound.get(0).close();
            }
        } finally {
            threads.shutdown();
        }
    }

    private static List<String> names(Path directory) throws IOException {
        try (var files = Files.list(directory)) {
            return files.map(each -> each.getFileName().toString()).sorted().toList();
        }
    }
}
