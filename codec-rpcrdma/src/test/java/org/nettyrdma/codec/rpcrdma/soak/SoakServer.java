package org.nettyrdma.codec.rpcrdma.soak;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.EventLoopGroup;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.channel.RdmaEventLoopGroup;
import org.nettyrdma.channel.RdmaServerChannel;
import org.nettyrdma.codec.oncrpc.DuplicateRequestCache;
import org.nettyrdma.codec.oncrpc.GracefulShutdown;
import org.nettyrdma.codec.rpcrdma.RpcRdma;
import org.nettyrdma.codec.rpcrdma.VersionPolicy;

/** A server of the soak: {@code SoakServer PORT LEDGER PROCESS}. Ends gracefully on SIGTERM. */
final class SoakServer {

    private SoakServer() {
    }

    public static void main(String[] arguments) throws Exception {
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(arguments[0]));
        FileChannel ledger = FileChannel.open(Path.of(arguments[1]), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        SoakProgram program = new SoakProgram(ledger, Integer.parseInt(arguments[2]));
        DuplicateRequestCache cache = new DuplicateRequestCache(16_384, 64 << 20, 60_000);
        EventLoopGroup group = new RdmaEventLoopGroup(1);
        GracefulShutdown shutdown = new GracefulShutdown();
        ServerBootstrap bootstrap = RpcRdma.server().versions(VersionPolicy.PREFER_V2).program(cache.guard(program)).build()
                .configure(new ServerBootstrap().group(group).channel(RdmaServerChannel.class));
        System.out.println("listening " + ((InetSocketAddress) shutdown.collect(bootstrap).bind(address).sync().channel()
                .localAddress()).getPort());
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            shutdown.start(10_000).syncUninterruptibly();
            group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
            System.out.println("ended " + cache.statistics());
        }));
        SoakMeter.begin();
    }
}
