package org.nettyrdma.verbs.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.ConnectException;
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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** So many connect at once that the listener's event loop has not taken them up: others wait, as they do with TCP. */
class FullBacklogTest {

    @TempDir
    private Path temporary;
    private ShmSide server;
    private ShmSide client;
    private final Deque<SocketChannel> burst = new ArrayDeque<>();

    @BeforeEach
    void open() throws IOException {
        ShmSettings settings = new ShmSettings(temporary.resolve("shm"), Set.of());
        server = new ShmSide(new ShmProvider(settings));
        client = new ShmSide(new ShmProvider(settings));
    }

    @AfterEach
    void close() throws IOException {
        for (SocketChannel each : burst) {
            each.close();
        }
        client.close();
        server.close();
    }

    /** Connects until the system refuses; with no event loop nothing is taken up meanwhile. */
    private void fill(SocketAddress listener) throws IOException {
        Path path = listener instanceof UnixDomainSocketAddress unix ? unix.getPath()
                : ShmAddresses.find(ProcessDirectory.of(new ShmSettings(temporary.resolve("shm"), Set.of())), listener);
        while (true) {
            SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
            burst.add(channel);
            channel.configureBlocking(false);
            try {
                channel.connect(UnixDomainSocketAddress.of(path));
            } catch (SocketException e) {
                return;
            }
        }
    }

    private void requireConnection(SocketAddress listener) throws IOException {
        client.connect(listener, 1);
        for (int i = 0; i < 1000; i++) {
            client.context.poll(client, 64);
        }
        assertNull(client.cause);
        assertFalse(client.ended);
        assertEquals("the backlog of the listener on this host is full", client.queuePair.awaited());
        while (server.requests.isEmpty()) {
            server.context.poll(server, 64);
            client.context.poll(client, 64);
        }
        server.open(server.context.createQueuePair(ShmSide.ATTRIBUTES, server, server.requests.remove()), 1);
        server.queuePair.accept(ByteBuffer.allocate(0));
        client.awaitTrue(() -> client.established);
    }

    @Test
    void shouldConnectByAnAddressWhenThereIsRoom() throws IOException {
        SocketAddress listener = server.listen();
        fill(listener);
        requireConnection(listener);
    }

    @Test
    void shouldConnectByAPathWhenThereIsRoom() throws IOException {
        SocketAddress listener = server.listen(UnixDomainSocketAddress.of(temporary.resolve("socket")));
        fill(listener);
        requireConnection(listener);
    }

    @Test
    void shouldTellAtOnceWhenTheListenerIsGoneMeanwhile() throws IOException {
        Path path = temporary.resolve("socket");
        SocketAddress listener = server.listen(UnixDomainSocketAddress.of(path));
        fill(listener);
        client.connect(listener, 1);
        Files.delete(path);
        client.awaitTrue(() -> client.ended);
        assertInstanceOf(ConnectException.class, client.cause);
        assertTrue(client.cause.getMessage().startsWith(listener.toString()), client.cause.getMessage());
        assertEquals(1, client.ends);
    }

    /** Nothing would ever change that. */
    @Test
    void shouldTellAtOnceThatASocketIsOfAnotherKind() throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/perl")));
        Path path = temporary.resolve("socket");
        Process holder = new ProcessBuilder("/usr/bin/perl", "-MIO::Socket::UNIX", "-e", "$s = IO::Socket::UNIX->new("
                + "Type => SOCK_DGRAM, Local => $ARGV[0]) or die; syswrite(STDOUT, '1'); <STDIN>;", path.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try {
            assertEquals('1', holder.getInputStream().read());
            ConnectException refused = assertThrows(ConnectException.class,
                    () -> client.connect(UnixDomainSocketAddress.of(path), 1));
            assertEquals(path + ": Protocol wrong type for socket", refused.getMessage());
        } finally {
            holder.destroyForcibly().waitFor();
        }
    }
}
