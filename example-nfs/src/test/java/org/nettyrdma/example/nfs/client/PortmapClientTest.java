package org.nettyrdma.example.nfs.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.util.NetUtil;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.nettyrdma.channel.IdleStrategy;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.oncrpc.RpcProgram;
import org.nettyrdma.codec.oncrpc.RpcServerHandler;
import org.nettyrdma.example.nfs.RdmaSettings;
import org.nettyrdma.example.nfs.Transport;

/** A server that has rpcbind's program and nothing else. */
class PortmapClientTest {

    private volatile String arguments;
    private EventLoopGroup group;
    private NfsEndpoint endpoint;

    @BeforeEach
    void start() {
        group = Transport.TCP.newEventLoopGroup(1, "server", IdleStrategy.ADAPTIVE);
        Channel listener = Transport.TCP.newServerBootstrap(group, () -> new RpcServerHandler(new Portmap()), new SimpleMeterRegistry(), RdmaSettings.DEFAULTS)
                .bind(new InetSocketAddress(NetUtil.LOCALHOST4, 0)).syncUninterruptibly().channel();
        endpoint = new NfsEndpoint(Transport.TCP, "127.0.0.1", ((InetSocketAddress) listener.localAddress()).getPort(), "/");
    }

    @AfterEach
    void stop() {
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    @Test
    void shouldAskForTheTcpPortOfAProgram() throws IOException {
        try (RpcConnection connection = RpcConnection.open(Transport.TCP, endpoint.host(), endpoint.port(), new NfsClientOptions())) {
            assertEquals(20048, Await.result(new PortmapClient(connection.rpc()).tcpPort(100005, 3)));
        }
        // Program 100005, version 3, protocol 6 (TCP), port 0.
        assertEquals("000186a5000000030000000600000000", arguments);
    }

    @Test
    void shouldAskRpcbindWhereTheConnectionDoesNotKnowMount() {
        // Whether this machine runs rpcbind is not known; in both cases the message says that it was asked.
        String message = assertThrows(IOException.class, () -> NfsSession.open(endpoint, new NfsClientOptions())).getMessage();
        assertTrue(message.contains("rpcbind"), message);
    }

    private final class Portmap implements RpcProgram {

        @Override
        public int program() {
            return 100000;
        }

        @Override
        public int lowestVersion() {
            return 2;
        }

        @Override
        public int highestVersion() {
            return 2;
        }

        @Override
        public void call(RpcCall call) {
            assertEquals(3, call.procedure());
            arguments = ByteBufUtil.hexDump(call.arguments());
            ByteBuf results = call.alloc().buffer().writeInt(20048);
            call.reply(results);
        }
    }
}
