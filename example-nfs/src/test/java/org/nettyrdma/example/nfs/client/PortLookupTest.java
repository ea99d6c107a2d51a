package org.nettyrdma.example.nfs.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.util.NetUtil;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.oncrpc.RpcProgram;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.example.nfs.TestServer;
import org.nettyrdma.example.nfs.Transport;

/** A server that has rpcbind's program and nothing else. */
class PortLookupTest {

    private static final String HOST = NetUtil.toAddressString(NetUtil.LOCALHOST);

    private final List<String> calls = new CopyOnWriteArrayList<>();
    /** What it knows besides: a universal address for TCP, or for RDMA. */
    private volatile String tcpAddress = "";
    private volatile String rdmaAddress = "";
    private ProgramServer rpcbind;
    private NfsEndpoint endpoint;
    private NfsClientOptions options;

    @BeforeEach
    void start() {
        rpcbind = new ProgramServer(Transport.TCP, new Rpcbind());
        endpoint = rpcbind.endpoint("/");
        options = new NfsClientOptions().setRpcbindPort(endpoint.port());
    }

    @AfterEach
    void stop() {
        rpcbind.close();
    }

    @Test
    void shouldAskRpcbindWhereTheConnectionDoesNotKnowMount() throws IOException {
        try (TestServer server = TestServer.start("/export")) {
            tcpAddress = universal(HOST, server.endpoint(Transport.TCP).port());
            // This connection knows rpcbind only, so MOUNT is found and mounted, and then NFS is missing.
            String message = assertThrows(IOException.class,
                    () -> NfsSession.open(endpoint.withPath("/export"), options)).getMessage();
            assertEquals("Call of program 100003 version 3 procedure 1: PROG_UNAVAIL", message);
        }
        // GETVERSADDR for program 100005, version 3, and three empty strings.
        assertEquals(List.of("9: 000186a500000003000000000000000000000000"), calls);
    }

    @Test
    void shouldSayThatRpcbindDoesNotKnowMount() {
        String message = assertThrows(MountException.class, () -> NfsSession.open(endpoint, options)).getMessage();
        assertEquals("neither the NFS connection nor rpcbind of " + HOST + " knows the MOUNT program", message);
    }

    @Test
    void shouldSayThatRpcbindDoesNotAnswer() throws IOException {
        try (Socket taken = new Socket()) { // or another process could listen there meanwhile
            taken.bind(new InetSocketAddress(HOST, 0));
            options.setRpcbindPort(taken.getLocalPort());
            String message = assertThrows(NfsConnectException.class, () -> NfsSession.open(endpoint, options)).getMessage();
            assertEquals("the server does not answer MOUNT on the NFS connection, and its rpcbind does not answer: "
                    + "cannot connect to tcp://" + (HOST.contains(":") ? '[' + HOST + ']' : HOST) + ':' + options.rpcbindPort()
                    + ": Connection refused", message);
        }
    }

    @Test
    void shouldSayThatItIsRpcbindThatDoesNotAnswerACall() throws IOException {
        options.setUsesRpcbind(true).setCallTimeoutMillis(200);
        NfsEndpoint unknownPort = new NfsEndpoint(Transport.TCP, HOST, 1, "/");
        try (ServerSocket silent = new ServerSocket(0)) {
            options.setRpcbindPort(silent.getLocalPort());
            String message = assertThrows(NfsConnectException.class, () -> NfsSession.open(unknownPort, options)).getMessage();
            assertEquals("rpcbind does not answer: Call of program 100000 version 4 procedure 9: no reply within 200 ms",
                    message);
        }
    }

    @Test
    void shouldNotSayOfAnErrorThatItIsNoAnswer() throws IOException {
        options.setUsesRpcbind(true);
        NfsEndpoint unknownPort = new NfsEndpoint(Transport.TCP, HOST, 1, "/");
        try (TestServer other = TestServer.start("/export")) {
            options.setRpcbindPort(other.endpoint(Transport.TCP).port());
            String message = assertThrows(NfsConnectException.class, () -> NfsSession.open(unknownPort, options)).getMessage();
            assertEquals("rpcbind answers with an error: Call of program 100000 version 4 procedure 9: PROG_UNAVAIL", message);
        }
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void shouldTakeThePortOfNfsFromRpcbind(Transport transport) throws IOException {
        options.setUsesRpcbind(true);
        NfsEndpoint unknownPort = new NfsEndpoint(transport, HOST, 1, "/export");
        try (TestServer server = TestServer.start("/export")) {
            tcpAddress = universal(HOST, server.endpoint(Transport.TCP).port());
            rdmaAddress = universal(HOST, server.endpoint(Transport.RDMA).port());
            try (NfsSession session = NfsSession.open(unknownPort, options)) {
                assertEquals("/export", session.files().root().path());
            }
            List<Long> replies = new ArrayList<>();
            NfsSession.ping(unknownPort, options, 1, replies::add);
            assertEquals(1, replies.size());
        }
        String question = transport == Transport.RDMA ? "4: " : "9: 000186a300000003000000000000000000000000";
        assertEquals(List.of(question, question), calls);
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void shouldSayThatRpcbindDoesNotKnowNfs(Transport transport) {
        options.setUsesRpcbind(true);
        NfsEndpoint unknownPort = new NfsEndpoint(transport, HOST, 1, "/");
        String message = assertThrows(NfsConnectException.class, () -> NfsSession.open(unknownPort, options)).getMessage();
        assertEquals("rpcbind of " + HOST + " does not know NFS version 3 over " + transport.scheme(), message);
    }

    @ParameterizedTest
    @EnumSource(Transport.class)
    void shouldSayThatTheReplyOfRpcbindIsMalformed(Transport transport) {
        options.setUsesRpcbind(true);
        tcpAddress = "nowhere";
        rdmaAddress = "nowhere";
        NfsEndpoint unknownPort = new NfsEndpoint(transport, HOST, 1, "/");
        String message = assertThrows(IOException.class, () -> NfsSession.open(unknownPort, options)).getMessage();
        String begin = "the reply of rpcbind of " + HOST + " is malformed: "
                + (transport == Transport.TCP ? "RPCBPROC_GETVERSADDR result: " : "") + "universal address: 'nowhere' ";
        assertEquals(begin, message.substring(0, Math.min(begin.length(), message.length())));
    }

    private static String universal(String host, int port) {
        return host + '.' + (port >> 8) + '.' + (port & 0xff);
    }

    private final class Rpcbind implements RpcProgram {

        @Override
        public int program() {
            return 100000;
        }

        @Override
        public int lowestVersion() {
            return 4;
        }

        @Override
        public int highestVersion() {
            return 4;
        }

        @Override
        public void call(RpcCall call) {
            calls.add(call.procedure() + ": " + ByteBufUtil.hexDump(call.arguments()));
            ByteBuf results = call.alloc().buffer();
            if (call.procedure() == 9) {
                Xdr.writeString(results, tcpAddress);
            } else {
                assertEquals(4, call.procedure());
                results.writeInt(rdmaAddress.isEmpty() ? 0 : 1);
                if (!rdmaAddress.isEmpty()) {
                    results.writeInt(100003).writeInt(3);
                    Xdr.writeString(results, Transport.RDMA.netid(NetUtil.LOCALHOST).name());
                    Xdr.writeString(results, rdmaAddress);
                    Xdr.writeString(results, "superuser");
                    results.writeInt(0);
                }
            }
            call.reply(results);
        }
    }
}
