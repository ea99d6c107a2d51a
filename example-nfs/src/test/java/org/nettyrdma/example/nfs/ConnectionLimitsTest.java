package org.nettyrdma.example.nfs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.util.NetUtil;
import java.io.IOException;
import java.net.Socket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.example.nfs.client.NfsConnectException;
import org.nettyrdma.example.nfs.client.NfsSession;

@Timeout(120)
class ConnectionLimitsTest {

    @ParameterizedTest
    @CsvSource({
        "524288,  268435456,   192,   144",
        "524288,    1048576,    64,    48",
        "4096, 137438953472, 16384, 12288",
        "65536,  268435456,  1536,  1152",
    })
    void shouldChooseAsManyAsMemoryHasReceivesFor(int bytesPerConnection, long directMemoryBytes, int all, int perAddress) {
        assertEquals(new ConnectionLimits(all, perAddress, 360_000),
                ConnectionLimits.DEFAULTS.resolved(bytesPerConnection, directMemoryBytes));
    }

    /** A client can begin a small record on each, which nobody else counts. */
    @ParameterizedTest
    @CsvSource({"RDMA, 524288", "TCP, 65536"})
    void shouldKnowWhatAConnectionMayHold(Transport transport, int bytes) {
        assertEquals(bytes, transport.receiveBytes(RdmaSettings.DEFAULTS));
    }

    @Test
    void shouldKeepNumbersThatAreSet() {
        assertEquals(new ConnectionLimits(7, 6, 5), new ConnectionLimits(7, 0, 5).resolved(1, 1));
        assertEquals(new ConnectionLimits(1, 1, 5), new ConnectionLimits(1, 0, 5).resolved(1, 1));
        assertEquals(new ConnectionLimits(64, 9, 5), new ConnectionLimits(0, 9, 5).resolved(1, 1));
        assertThrows(IllegalArgumentException.class, () -> new ConnectionLimits(-1, 0, 0));
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void shouldRefuseConnectionsBeyondTheLimitUntilOneHasEnded(Transport transport) throws Exception {
        try (TestServer server = TestServer.start(new ConnectionLimits(1, 1, 0))) {
            NfsSession first = server.open(transport);
            NfsConnectException refused = assertThrows(NfsConnectException.class, () -> server.open(transport));
            if (transport == Transport.TCP) { // where a server cannot refuse a connection
                assertTrue(refused.getMessage().contains("ended it without an answer"), refused.getMessage());
            }
            first.close();
            openWhenThereIsRoom(server, transport).close();
        }
    }

    /** The server learns of the end of a connection a moment after the client. */
    private static NfsSession openWhenThereIsRoom(TestServer server, Transport transport) {
        while (true) {
            try {
                return server.open(transport);
            } catch (IOException e) {
                Thread.onSpinWait();
            }
        }
    }

    @Test
    void shouldCloseIdleConnectionsOverTcp() throws Exception {
        try (TestServer server = TestServer.start(new ConnectionLimits(0, 0, 200));
                Socket socket = new Socket(NetUtil.LOCALHOST, server.endpoint(Transport.TCP).port())) {
            assertEquals(-1, socket.getInputStream().read());
            assertTrue(socket.isConnected());
        }
    }
}
