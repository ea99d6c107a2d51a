package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaChannelOption;
import org.nettyrdma.channel.RdmaEventLoopGroup;
import org.nettyrdma.channel.RdmaServerChannel;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcRequest;

/** Whoever connects by TCP to a server of software iWARP, and does not say what for, is in nobody's way. */
@Timeout(60)
class IncompleteRequestTest {

    private final RdmaEventLoopGroup group = new RdmaEventLoopGroup(1, TestProviders.overTcp());

    @AfterEach
    void shutDown() {
        group.shutdownGracefully(0, RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS).syncUninterruptibly();
    }

    @Test
    void shouldDropConnectionRequestThatIsNotComplete() throws Exception {
        Channel listener = ShortSends.server().program(new BulkProgram(true)).build()
                .configure(new ServerBootstrap().group(group).channel(RdmaServerChannel.class)
                        .option(RdmaChannelOption.REQUEST_TIMEOUT_MILLIS, 500)).bind(RawPeer.loopback()).sync().channel();
        Channel before = connect(listener);
        InetSocketAddress address = (InetSocketAddress) listener.localAddress();
        try (Socket socket = new Socket(address.getAddress(), address.getPort())) {
            socket.setSoTimeout(30_000);
            socket.getOutputStream().write("MPA ID Req Fra".getBytes()); // two bytes short of the key alone
            requireServed(connect(listener)); // meanwhile
            assertEquals(-1, socket.getInputStream().read());
        }
        requireServed(before);
        requireServed(connect(listener));
    }

    private Channel connect(Channel listener) throws InterruptedException {
        return ShortSends.client().build().configure(new Bootstrap().group(group).channel(RdmaChannel.class))
                .connect(listener.localAddress()).sync().channel();
    }

    private static void requireServed(Channel client) throws Exception {
        RpcRdmaPair.result(client.pipeline().get(RpcClient.class)
                .call(new RpcRequest(BulkProgram.PROGRAM, 1, BulkProgram.NULL, Unpooled.EMPTY_BUFFER))).release();
    }
}
