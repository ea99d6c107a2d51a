package org.nettyrdma.verbs.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.EOFException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A path leads to listeners with another shared directory, too, as in containers that share only the socket. */
class OtherDirectoryTest {

    @TempDir
    private Path temporary;

    @Test
    void shouldTellTheClientWhyItIsRejected() throws IOException {
        Path shared = temporary.resolve("server");
        try (ShmSide server = new ShmSide(new ShmProvider(new ShmSettings(shared, Set.of())));
             ShmSide client = new ShmSide(new ShmProvider(new ShmSettings(temporary.resolve("client"), Set.of())))) {
            SocketAddress listener = server.listen(UnixDomainSocketAddress.of(temporary.resolve("socket")));
            client.connect(listener, 0);
            while (!client.ended) {
                server.context.poll(server, 64);
                client.context.poll(client, 64);
            }
            assertInstanceOf(ConnectException.class, client.cause);
            assertEquals("the peer rejected the connection: the two processes do not share the directory " + shared
                    + " (org.nettyrdma.shm.directory)", client.cause.getMessage());
            assertEquals(1, server.provider.statistics().invalidRequests());
        }
    }

    /** The directory of a process that has ended is removed, also while its request waits to be read. */
    @Test
    void shouldNotTakeAClientThatHasGoneForOneOfAnotherDirectory() throws IOException {
        var path = UnixDomainSocketAddress.of(temporary.resolve("socket"));
        try (ShmSide server = new ShmSide(new ShmProvider(new ShmSettings(temporary.resolve("server"), Set.of())));
             SocketChannel client = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            server.listen(path);
            client.connect(path);
            client.write(frame(SetupFrame.Kind.REQUEST));
            client.shutdownOutput();
            client.configureBlocking(false);
            ByteBuffer answer = ByteBuffer.allocate(SetupFrame.MAX_BYTES);
            while (client.read(answer) >= 0) {
                server.context.poll(server, 64);
            }
            assertEquals(0, answer.position());
            assertEquals(0, server.provider.statistics().invalidRequests());
        }
    }

    /** It is not asked for again over TCP, see {@link SameHostQueuePair}. */
    @Test
    void shouldNotTakeAServerThatHasGoneForOneOfAnotherDirectory() throws IOException {
        var path = UnixDomainSocketAddress.of(temporary.resolve("socket"));
        try (ShmSide client = new ShmSide(new ShmProvider(new ShmSettings(temporary.resolve("client"), Set.of())));
             ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(path)) {
            client.connect(path, 0);
            try (SocketChannel accepted = server.accept()) {
                accepted.write(frame(SetupFrame.Kind.ACCEPT));
            }
            client.awaitTrue(() -> client.ended);
            assertInstanceOf(EOFException.class, client.cause);
            assertTrue(client.cause.getMessage().startsWith("the peer has closed the connection before it stood: "),
                    client.cause.getMessage());
        }
    }

    /** That of a process of which there is nothing in any directory. */
    private static ByteBuffer frame(SetupFrame.Kind kind) {
        return new SetupFrame(kind, 1, 1, 4, 4, new byte[0], -1, "", new byte[0]).encode();
    }
}
