package org.nettyrdma.example.nfs.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.nettyrdma.codec.oncrpc.RpcClient;

class RpcConnectionTest {

    @Test
    void shouldSayThatTheServerHasClosedTheConnection() throws IOException {
        RpcClient rpc = new RpcClient();
        EmbeddedChannel channel = new EmbeddedChannel(rpc);
        assertSame(rpc, RpcConnection.rpcOf(channel, "tcp://server:2049"));
        channel.close();
        String message = assertThrows(NfsConnectException.class, () -> RpcConnection.rpcOf(channel, "tcp://server:2049"))
                .getMessage();
        assertEquals("cannot connect to tcp://server:2049: the server has closed the connection", message);
    }
}
