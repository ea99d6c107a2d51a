package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.netty.channel.unix.DomainSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.verbs.VerbsProvider;

/** Streams over shared memory at the path of a socket, which is no address that a {@code SocketChannel} of Netty can tell of. */
@Timeout(60)
class StreamPathTest extends StreamFixture {

    @TempDir
    private Path temporary;

    @Override
    VerbsProvider provider() {
        return Rdma.provider("shm");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldCarryDataAtAPath(boolean ofNetty) throws Exception {
        Path path = temporary.resolve("socket");
        SocketAddress address = ofNetty ? new DomainSocketAddress(path.toFile()) : UnixDomainSocketAddress.of(path);
        RdmaServerStreamChannel listener = (RdmaServerStreamChannel) serverBootstrap().bind(address).sync().channel();
        assertNull(listener.localAddress());
        End client = new End();
        await(bootstrap().handler(client).connect(address));
        End server = awaitAccepted();
        byte[] bytes = bytes(100_000, 1);
        await(client.write(bytes));
        assertArrayEquals(bytes, server.awaitBytes(bytes.length));
        await(server.write(bytes));
        assertArrayEquals(bytes, client.awaitBytes(bytes.length));
        assertNull(client.channel.localAddress());
        assertNull(server.channel.remoteAddress());
        await(client.channel.close());
        server.awaitEvent("inactive");
    }
}
