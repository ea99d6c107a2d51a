package org.nettyrdma.codec.rpcrdma;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.util.function.Supplier;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaEventLoopGroup;
import org.nettyrdma.channel.RdmaServerChannel;
import org.nettyrdma.codec.oncrpc.RecordMarkingCodec;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcProgram;
import org.nettyrdma.codec.oncrpc.RpcServerHandler;

/** Clients and servers over each of the transports of RPC. */
enum TestTransport {

    TCP {
        @Override
        EventLoopGroup newGroup(int threads) {
            return new NioEventLoopGroup(threads);
        }

        @Override
        ServerBootstrap server(EventLoopGroup group, RpcProgram program) {
            return new ServerBootstrap().group(group).channel(NioServerSocketChannel.class)
                    .childHandler(records(() -> new RpcServerHandler(program)));
        }

        @Override
        Bootstrap client(EventLoopGroup group) {
            return new Bootstrap().group(group).channel(NioSocketChannel.class).handler(records(RpcClient::new));
        }

        private static ChannelHandler records(Supplier<ChannelHandler> last) {
            return new ChannelInitializer<>() {
                @Override
                protected void initChannel(Channel channel) {
                    channel.pipeline().addLast(new RecordMarkingCodec(MAX_MESSAGE_BYTES)).addLast(last.get());
                }
            };
        }
    },

    RDMA {
        @Override
        EventLoopGroup newGroup(int threads) {
            return new RdmaEventLoopGroup(threads);
        }

        @Override
        EventLoopGroup newTcpGroup(int threads) {
            return new RdmaEventLoopGroup(threads, TestProviders.overTcp());
        }

        @Override
        ServerBootstrap server(EventLoopGroup group, RpcProgram program) {
            return ShortSends.server().versions(VersionPolicy.PREFER_V2).program(program).build()
                    .configure(new ServerBootstrap().group(group).channel(RdmaServerChannel.class));
        }

        @Override
        Bootstrap client(EventLoopGroup group) {
            return ShortSends.client().versions(VersionPolicy.PREFER_V2).build()
                    .configure(new Bootstrap().group(group).channel(RdmaChannel.class));
        }
    };

    private static final int MAX_MESSAGE_BYTES = 1 << 20;

    abstract EventLoopGroup newGroup(int threads);

    /** Whose connections a program for TCP can stand between. */
    EventLoopGroup newTcpGroup(int threads) {
        return newGroup(threads);
    }

    abstract ServerBootstrap server(EventLoopGroup group, RpcProgram program);

    abstract Bootstrap client(EventLoopGroup group);
}
