package org.nettyrdma.example.nfs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.nettyrdma.codec.oncrpc.OpaqueAuth;
import org.nettyrdma.codec.oncrpc.RpcCallHeader;
import org.nettyrdma.codec.oncrpc.RpcReplyHeader;
import org.nettyrdma.example.nfs.protocol.Nfs;
import org.nettyrdma.example.nfs.server.Export;
import org.nettyrdma.example.nfs.server.NfsServiceOptions;

@Timeout(60)
class NfsServerTest {

    /** Calls NULL, so that the server has accepted the connection. */
    private static Socket connect(InetSocketAddress server) throws IOException {
        Socket client = new Socket("127.0.0.1", server.getPort());
        ByteBuf record = Unpooled.buffer().writeInt(0);
        new RpcCallHeader(1, Nfs.PROGRAM, Nfs.VERSION, 0, OpaqueAuth.NONE, OpaqueAuth.NONE).write(record);
        record.setInt(0, 0x8000_0000 | record.readableBytes() - Integer.BYTES);
        client.getOutputStream().write(ByteBufUtil.getBytes(record));
        assertEquals(Integer.BYTES + RpcReplyHeader.SUCCESS_BYTES,
                client.getInputStream().readNBytes(Integer.BYTES + RpcReplyHeader.SUCCESS_BYTES).length);
        return client;
    }

    @Test
    void shouldRefuseLongerTransfersThanAConnectionTakes(@TempDir Path directory) throws Exception {
        int bytes = Transport.MAX_DATA_BYTES;
        for (NfsServiceOptions options : List.of(NfsServiceOptions.DEFAULTS.withMaxTransferBytes(bytes + 1, bytes),
                NfsServiceOptions.DEFAULTS.withMaxTransferBytes(bytes, bytes + 1))) {
            NfsServerOptions withPort = new NfsServerOptions().setPort(Transport.TCP, 0).setServiceOptions(options);
            assertThrows(IllegalArgumentException.class, () -> NfsServer.start(Export.of(directory), withPort).close());
        }
    }

    @Test
    void shouldEndConnectionsInGoodOrderForAsLongAsItIsGiven(@TempDir Path directory) throws Exception {
        NfsServer server = NfsServer.start(Export.of(directory), new NfsServerOptions().setPort(Transport.TCP, 0));
        InetSocketAddress address = server.address(Transport.TCP);
        try (Socket client = connect(address)) {
            assertEquals(1, server.shutDown(50), "connections whose clients have not closed");
            assertEquals(-1, client.getInputStream().read());
            assertThrows(ConnectException.class, () -> connect(address));
        }
        server.close();
    }
}
