package org.nettyrdma.examples.sharedmemory;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.channel.IdleStrategy;
import org.nettyrdma.channel.Rdma;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaEventLoopGroup;
import org.nettyrdma.channel.RdmaServerChannel;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcProgram;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.codec.rpcrdma.RpcRdma;

/** Two processes of one host that talk by shared memory. The server says which process it is. */
public final class SharedMemory implements RpcProgram {

    private static final int PROGRAM = 0x20000006;
    private static final int VERSION = 1;
    private static final int PROCESS_ID = 1;

    private SharedMemory() {
    }

    /**
     * Runs the server, until its standard input ends, or the client.
     *
     * @param arguments {@code server} or {@code client}, and the path of a socket, which the server makes
     * @throws Exception if the socket cannot be made, or the call fails
     */
    public static void main(String[] arguments) throws Exception {
        if (arguments.length != 2 || !List.of("server", "client").contains(arguments[0])) {
            throw new IllegalArgumentException("usage: examples/run sharedmemory server|client SOCKET");
        }
        SocketAddress address = UnixDomainSocketAddress.of(arguments[1]);
        RdmaEventLoopGroup group = new RdmaEventLoopGroup(1, new DefaultThreadFactory("shared-memory"),
                Rdma.provider("shm"), IdleStrategy.ADAPTIVE);
        try {
            if (arguments[0].equals("server")) {
                serve(group, address);
            } else {
                ask(group, address);
            }
        } finally {
            group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        }
    }

    private static void serve(RdmaEventLoopGroup group, SocketAddress address) throws InterruptedException, IOException {
        RpcRdma.server().program(new SharedMemory()).build()
                .configure(new ServerBootstrap().group(group).channel(RdmaServerChannel.class)).bind(address).sync();
        System.out.println("process " + ProcessHandle.current().pid() + " serves");
        while (System.in.read() >= 0) {
            continue; // until Ctrl-D
        }
    }

    private static void ask(RdmaEventLoopGroup group, SocketAddress address) throws InterruptedException {
        Channel client = RpcRdma.client().build()
                .configure(new Bootstrap().group(group).channel(RdmaChannel.class)).connect(address).sync().channel();
        ByteBuf answer = client.pipeline().get(RpcClient.class)
                .call(new RpcRequest(PROGRAM, VERSION, PROCESS_ID)).sync().getNow();
        System.out.println("process " + ProcessHandle.current().pid() + " has asked process "
                + Xdr.readHyper(answer, "process"));
        answer.release();
    }

    @Override
    public int program() {
        return PROGRAM;
    }

    @Override
    public int lowestVersion() {
        return VERSION;
    }

    @Override
    public int highestVersion() {
        return VERSION;
    }

    @Override
    public void call(RpcCall call) {
        ByteBuf results = call.alloc().buffer();
        Xdr.writeHyper(results, ProcessHandle.current().pid());
        call.reply(results);
    }
}
