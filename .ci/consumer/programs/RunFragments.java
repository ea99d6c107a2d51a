package programs;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaEventLoopGroup;
import org.nettyrdma.channel.RdmaServerChannel;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcProgram;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.rpcrdma.RpcRdma;
import org.nettyrdma.codec.rpcrdma.VersionPolicy;
import org.nettyrdma.codec.rpcrdma.characteristics.Characteristics;

/** Runs the statements that the documents show, with a connection of version 2 whose ends know the properties of that version. */
public final class RunFragments {

    private RunFragments() {
    }

    public static void main(String[] arguments) throws Exception {
        EventLoopGroup group = new RdmaEventLoopGroup();
        RpcProgram program = new programs.readme.EchoServer();
        Characteristics ofServer = Characteristics.builder().build();
        Characteristics ofClient = Characteristics.builder().build();
        Channel server = new ServerBootstrap().group(group).channel(RdmaServerChannel.class)
                .childHandler(RpcRdma.server().versions(VersionPolicy.PREFER_V2).extensions(ofServer.extensions())
                        .extensionHandlers(ofServer::install).program(program).build())
                .bind("127.0.0.1", 0).sync().channel();
        Channel channel = connect(group, server, RpcRdma.client().versions(VersionPolicy.PREFER_V2)
                .extensions(ofClient.extensions()).extensionHandlers(ofClient::install).build());
        int fragments = Fragments.run(channel, program, new SimpleMeterRegistry());
        connect(group, server, programs.version2.NoteHandler.client());
        System.out.println(fragments + " fragments have run");
        System.exit(0); // some of them start what they do not end
    }

    static Channel connect(EventLoopGroup group, Channel server, RpcRdma rpcRdma) throws Exception {
        Channel channel = new Bootstrap().group(group).channel(RdmaChannel.class).handler(rpcRdma)
                .connect(server.localAddress()).sync().channel();
        ByteBuf question = Unpooled.buffer().writeInt(42);
        ByteBuf answer = channel.pipeline().get(RpcClient.class).call(new RpcRequest(0x20000001, 1, 1, question)).sync().getNow();
        if (answer.readInt() != 42) {
            throw new AssertionError("not what was asked");
        }
        answer.release();
        return channel;
    }
}
