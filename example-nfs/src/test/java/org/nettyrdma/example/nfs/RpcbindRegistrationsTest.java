package org.nettyrdma.example.nfs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.NetUtil;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.FileSystem;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.rpcbind.PrivateRpcbind;
import org.nettyrdma.example.nfs.server.Export;
import org.nettyrdma.example.nfs.server.MemoryFileSystem;

@Timeout(120)
class RpcbindRegistrationsTest {

    @Test
    void shouldRegisterBothVersionsOfIpForAnUnspecifiedAddress() throws IOException {
        for (String any : new String[] {"0.0.0.0", "::"}) {
            assertEquals(List.of("100003 rdma 0.0.0.0.78.81", "100005 rdma 0.0.0.0.78.81", "100003 rdma6 ::.78.81",
                    "100005 rdma6 ::.78.81"),
                    describe(Map.of(Transport.RDMA, new InetSocketAddress(InetAddress.getByName(any), 20049))));
        }
    }

    @Test
    void shouldRegisterAGivenAddressOnly() throws IOException {
        assertEquals(List.of("100003 tcp 127.0.0.1.8.1", "100005 tcp 127.0.0.1.8.1"),
                describe(Map.of(Transport.TCP, new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 2049))));
        assertEquals(List.of("100003 tcp6 ::1.8.1", "100005 tcp6 ::1.8.1"),
                describe(Map.of(Transport.TCP, new InetSocketAddress(InetAddress.getByName("::1"), 2049))));
    }

    private static List<String> describe(Map<Transport, InetSocketAddress> addresses) {
        return RpcbindRegistrations.entries(addresses).stream()
                .peek(entry -> assertEquals(3, entry.version()))
                .map(entry -> entry.program() + " " + entry.netid() + " " + entry.address()).toList();
    }

    @Test
    void shouldSayThatRpcbindHasClosedTheConnection() {
        EmbeddedChannel closed = new EmbeddedChannel(new RpcClient());
        closed.close();
        String message = assertThrows(IOException.class, () -> RpcbindRegistrations.rpcOf(closed, Path.of("/run/sock")))
                .getMessage();
        assertEquals("cannot connect to rpcbind at /run/sock: it has closed the connection", message);
    }

    @Test
    void shouldRegisterWhileItRuns() throws Exception {
        try (PrivateRpcbind rpcbind = PrivateRpcbind.start(); FileSystem memory = MemoryFileSystem.create(1 << 20)) {
            Export export = Export.of(memory.getPath("/"));
            String before = rpcbind.rpcinfo();
            NfsServer server = NfsServer.start(export, options(rpcbind.socket()).setPort(Transport.RDMA, 0));
            String address = "127.0.0.1." + (port(server) >> 8) + '.' + (port(server) & 0xff);
            String during = rpcbind.rpcinfo();
            for (String entry : new String[] {" 100003 3 rdma ", " 100005 3 rdma "}) {
                assertTrue(during.contains(entry + address + ' '), during);
            }
            for (String entry : new String[] {" 100003 3 tcp 127.0.0.1.", " 100005 3 tcp 127.0.0.1."}) {
                assertTrue(during.contains(entry), during);
            }

            String message = assertThrows(IOException.class,
                    () -> NfsServer.start(export, options(rpcbind.socket()))).getMessage();
            assertTrue(message.matches("rpcbind refuses to register program 100003 version 3 for tcp at 127\\.0\\.0\\.1[.\\d]+: "
                    + "superuser has registered it at 127\\.0\\.0\\.1[.\\d]+; end that server, or remove what it left with "
                    + "'rpcinfo -d 100003 3'"), message);
            assertEquals(during, rpcbind.rpcinfo(), "the other server lost nothing");

            server.close();
            assertEquals(before, rpcbind.rpcinfo());
        }
    }

    @Test
    void shouldNotStartWhereRpcbindDoesNotAnswer(@TempDir Path directory) throws IOException {
        Path socket = directory.resolve("rpcbind.sock");
        try (FileSystem memory = MemoryFileSystem.create(1 << 20)) {
            Export export = Export.of(memory.getPath("/"));
            String message = assertThrows(IOException.class, () -> NfsServer.start(export, options(socket))).getMessage();
            assertTrue(message.startsWith("cannot connect to rpcbind at " + socket + ": "), message);
            assertFalse(message.endsWith("null"), message);
        }
    }

    private static NfsServerOptions options(Path rpcbindSocket) {
        return new NfsServerOptions().setBindAddress(NetUtil.LOCALHOST4).setPort(Transport.TCP, 0)
                .setRpcbindSocket(rpcbindSocket);
    }

    private static int port(NfsServer server) {
        return server.address(Transport.RDMA).getPort();
    }
}
