package org.nettyrdma.example.nfs;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.Locale;
import java.util.function.Supplier;
import org.nettyrdma.codec.oncrpc.RecordMarkingCodec;
import org.nettyrdma.example.nfs.protocol.Nfs;

/**
 * What carries RPC messages. The constants hold all that differs between the two: the event loop group, the channel classes,
 * and the handlers between the bytes and whole RPC messages. Whatever stands above them serves both.
 */
public enum Transport {

    /** Record marking over TCP (RFC 5531, section 11). */
    TCP(Nfs.TCP_PORT) {
        @Override
        public EventLoopGroup newEventLoopGroup(int threads, String name) {
            return new NioEventLoopGroup(threads, new DefaultThreadFactory(name, true));
        }

        @Override
        public Class<? extends Channel> channelClass() {
            return NioSocketChannel.class;
        }

        @Override
        public Class<? extends ServerChannel> serverChannelClass() {
            return NioServerSocketChannel.class;
        }

        @Override
        public ChannelHandler pipeline(boolean client, Supplier<? extends ChannelHandler> handler) {
            return new ChannelInitializer<>() {
                @Override
                protected void initChannel(Channel channel) {
                    channel.pipeline().addLast(new RecordMarkingCodec(MAX_MESSAGE_BYTES), handler.get());
                }
            };
        }
    };

    /** Most bytes of READ or WRITE data in one call. */
    public static final int MAX_DATA_BYTES = 1 << 20;

    /** Most bytes of an RPC message: the data, and room for everything around it. */
    public static final int MAX_MESSAGE_BYTES = MAX_DATA_BYTES + 4096;

    private final int defaultPort;

    Transport(int defaultPort) {
        this.defaultPort = defaultPort;
    }

    /**
     * Returns the port where NFS is usually served.
     *
     * @return a port number
     */
    public int defaultPort() {
        return defaultPort;
    }

    /**
     * Returns the name of this transport in addresses.
     *
     * @return {@code rdma} or {@code tcp}
     */
    public String scheme() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * Creates event loops on daemon threads.
     *
     * @param threads number of event loops
     * @param name beginning of the threads' names
     * @return a group that the caller shuts down
     */
    public abstract EventLoopGroup newEventLoopGroup(int threads, String name);

    /**
     * Returns the class for {@link io.netty.bootstrap.Bootstrap#channel}.
     *
     * @return a channel class
     */
    public abstract Class<? extends Channel> channelClass();

    /**
     * Returns the class for {@link io.netty.bootstrap.ServerBootstrap#channel}.
     *
     * @return a channel class
     */
    public abstract Class<? extends ServerChannel> serverChannelClass();

    /**
     * Returns an initializer that puts into each channel's pipeline what turns its bytes into RPC messages, and behind that
     * one handler for them.
     *
     * @param client {@code true} on the side that connects
     * @param handler makes the handler of a channel
     * @return a sharable initializer
     */
    public abstract ChannelHandler pipeline(boolean client, Supplier<? extends ChannelHandler> handler);
}
