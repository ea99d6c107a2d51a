package org.nettyrdma.example.nfs.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.TooLongFrameException;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcConnectionException;
import org.nettyrdma.codec.oncrpc.RpcRequest;

class TcpConnectionTest {

    @Test
    void shouldSayThatTheServerHasClosedTheConnection() throws IOException {
        RpcClient rpc = new RpcClient();
        EmbeddedChannel channel = new EmbeddedChannel(rpc);
        assertSame(rpc, TcpConnection.rpcOf(channel, "tcp://server:2049"));
        channel.close();
        String message = assertThrows(NfsConnectException.class, () -> TcpConnection.rpcOf(channel, "tcp://server:2049"))
                .getMessage();
        assertEquals("cannot connect to tcp://server:2049: the server has closed the connection", message);
    }

    /** It was this side that has ended the connection, and the server may have room for more. */
    @Test
    void shouldNameTheLimitOfARecordThatIsTooLong() {
        RpcRequest request = new RpcRequest(100003, 3, 0, Unpooled.EMPTY_BUFFER);
        assertEquals("RPC record of at least 9 bytes, limit 8", NfsConnectException.reason(new RpcConnectionException(request,
                "connection lost", true, new TooLongFrameException("RPC record of at least 9 bytes, limit 8"))));
    }
}
