package org.nettyrdma.verbs.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A server that takes the name of another one, which is not quite gone, keeps it. */
class BoundSocketTest {

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

    private static List<String> names(Path directory) throws IOException {
        try (var files = Files.list(directory)) {
            return files.map(each -> each.getFileName().toString()).sorted().toList();
        }
    }
}
