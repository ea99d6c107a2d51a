package org.nettyrdma.verbs.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
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
}
