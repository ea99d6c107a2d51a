package org.nettyrdma.verbs.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A user with whom this process may not be connected is at the other end of a socket with a path. Only root can make a directory
 * that belongs to another user: to the process whose directory it is, its own user is a stranger then.
 */
class StrangeUserTest {

    private static final int OTHER = 12_347;
    private static final int ATTEMPTS = 300;

    @TempDir
    private Path temporary;
    private UnixDomainSocketAddress address;

    @BeforeEach
    void requireRoot() throws IOException {
        assumeTrue(ShmSettings.userId() == 0);
        address = UnixDomainSocketAddress.of(temporary.resolve("socket"));
    }

    private ShmSide open(String name) throws IOException {
        return new ShmSide(new ShmProvider(new ShmSettings(temporary.resolve(name), Set.of())));
    }

    private ShmSide openOfOther(String name) throws IOException {
        ShmSide side = open(name);
        Path own = ProcessDirectory.of(new ShmSettings(temporary.resolve(name), Set.of())).file('c', 0).getParent();
        Files.setAttribute(own, "unix:uid", OTHER);
        return side;
    }

    /** Many of them would take the places of those who owe their request. */
    @Test
    void shouldRefuseAtOnceWhoeverConnects() throws IOException {
        try (ShmSide server = openOfOther("server"); SocketChannel stranger = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            server.listen(address);
            stranger.connect(address);
            server.awaitTrue(() -> server.provider.statistics().invalidRequests() == 1);
            stranger.configureBlocking(false);
            SetupFrame answer = new SetupFrameReader().read(stranger);
            assertEquals(SetupFrame.Kind.REJECT, answer.kind());
            assertEquals("user root may not connect (org.nettyrdma.shm.users)", answer.text());
        }
    }

    /** The request may come when the server has closed the socket already. */
    @Test
    void shouldTellTheClientWhyItIsRefused() throws Exception {
        try (ShmSide server = openOfOther("server"); ShmSide client = open("client")) {
            server.listen(address);
            Thread thread = new Thread(() -> {
                try {
                    server.awaitTrue(() -> server.provider.statistics().invalidRequests() == ATTEMPTS);
                } catch (IOException e) {
                    throw new IllegalStateException(e);
                }
            });
            thread.start();
            for (int i = 0; i < ATTEMPTS; i++) {
                client.connect(address, 0);
                client.awaitTrue(() -> client.ended);
                assertEquals("the peer rejected the connection: user root may not connect (org.nettyrdma.shm.users)",
                        client.cause.getMessage());
                client.queuePair.close();
            }
            thread.join();
        }
    }

    /** He may have taken the path before the server, and would get private data and make the client wait. */
    @Test
    void shouldSendNothingToAStranger() throws IOException {
        try (ShmSide client = openOfOther("client");
                ServerSocketChannel stranger = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            stranger.bind(address);
            String message = assertThrows(IOException.class, () -> client.connect(address, 0)).getMessage();
            assertEquals("user root may not be connected to (org.nettyrdma.shm.users)", message);
            try (SocketChannel accepted = stranger.accept()) {
                assertEquals(-1, accepted.read(ByteBuffer.allocate(1)));
            }
            try (var files = Files.walk(temporary.resolve("client"))) {
                assertTrue(files.noneMatch(each -> each.getFileName().toString().startsWith("c")
                        && !each.endsWith("client")), "a control file stays");
            }
        }
    }
}
