package org.nettyrdma.examples.echo;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaEventLoopGroup;
import org.nettyrdma.channel.RdmaServerChannel;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcProgram;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.codec.rpcrdma.RpcRdma;

/** A server that sends back what it gets, and a client that asks it. Prints the answer. */
public final class Echo implements RpcProgram {

    private static final int PROGRAM = 0x20000001; // the range for one's own programs: RFC 5531, section 13.3.2
    private static final int VERSION = 1;
    private static final int ECHO = 1;
    private static final int MAX_BYTES = 1 << 20;

    private Echo() {
    }

    /**
     * Runs server and client.
     *
     * @param arguments what to ask; nothing for a greeting
     * @throws Exception if the call fails
     */
    public static void main(String[] arguments) throws Exception {
        String question = arguments.length == 0 ? "Hello over RDMA" : arguments[0];
        RdmaEventLoopGroup group = new RdmaEventLoopGroup(2);
        try {
            Channel server = RpcRdma.server().program(new Echo()).build()
                    .configure(new ServerBootstrap().group(group).channel(RdmaServerChannel.class))
                    .bind("127.0.0.1", 0).sync().channel();
            Channel client = RpcRdma.client().build()
                    .configure(new Bootstrap().group(group).channel(RdmaChannel.class))
                    .connect(server.localAddress()).sync().channel();
            System.out.println(ask(client, question));
        } finally {
            group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        }
    }

    private static String ask(Channel client, String question) throws InterruptedException {
        ByteBuf asked = client.alloc().buffer(); // registered memory: it is sent without a copy
        Xdr.writeString(asked, question);
        ByteBuf answer = client.pipeline().get(RpcClient.class)
                .call(new RpcRequest(PROGRAM, VERSION, ECHO, asked)).sync().getNow();
        try {
            return Xdr.readString(answer, MAX_BYTES, "answer");
        } finally {
            answer.release();
        }
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
        call.reply(call.arguments().retain());
    }
}
