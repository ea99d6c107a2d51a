package programs;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import org.nettyrdma.channel.RdmaServerChannel;
import org.nettyrdma.codec.rpcrdma.RpcRdma;
import org.nettyrdma.iohandler.RdmaIoHandler;

/** README's server on the event loops of Netty 4.2, and a call. Ends with them, as they keep the JVM alive. */
public final class RunOnNettysLoops {

    private RunOnNettysLoops() {
    }

    public static void main(String[] arguments) throws Exception {
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(RdmaIoHandler.newFactory());
        Channel server = new ServerBootstrap().group(group).channel(RdmaServerChannel.class)
                .childHandler(RpcRdma.server().program(new programs.readme.EchoServer()).build())
                .bind("127.0.0.1", 0).sync().channel();
        RunFragments.connect(group, server, RpcRdma.client().build());
        System.out.println("answered");
        group.shutdownGracefully();
    }
}
