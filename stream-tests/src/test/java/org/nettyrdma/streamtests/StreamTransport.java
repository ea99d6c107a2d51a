package org.nettyrdma.streamtests;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.ThreadFactory;
import org.nettyrdma.channel.RdmaEventLoopGroup;
import org.nettyrdma.channel.RdmaServerStreamChannel;
import org.nettyrdma.channel.RdmaStreamChannel;

/**
 * What the suites of this module run over: the byte stream. With {@code -Dnettyrdma.streamTests.nio=true} it is Netty over TCP,
 * to tell a fault of ours from one of a suite. With {@code -Dnettyrdma.streamTests.ioHandler=true} the event loops are those of
 * Netty 4.2.
 */
public final class StreamTransport {

    private static final boolean NIO = Boolean.getBoolean("nettyrdma.streamTests.nio");

    private static final boolean IO_HANDLER = Boolean.getBoolean("nettyrdma.streamTests.ioHandler");

    private StreamTransport() {
    }

    public static boolean isOnIoHandler() {
        return IO_HANDLER;
    }

    /** A group of daemon threads. */
    @SuppressWarnings("deprecation") // in Netty 4.2 only
    public static EventLoopGroup newGroup(int threads, String name) {
        ThreadFactory factory = new DefaultThreadFactory(name, true);
        if (IO_HANDLER) {
            return newIoGroup(threads, factory);
        }
        return NIO ? new NioEventLoopGroup(threads, factory) : new RdmaEventLoopGroup(threads, factory);
    }

    /** By reflection: Netty 4.1, against which this is compiled as well, has nothing of it. */
    private static EventLoopGroup newIoGroup(int threads, ThreadFactory factory) {
        try {
            Object handlers = Class.forName("org.nettyrdma.iohandler.RdmaIoHandler").getMethod("newFactory").invoke(null);
            return (EventLoopGroup) Class.forName("io.netty.channel.MultiThreadIoEventLoopGroup")
                    .getConstructor(int.class, ThreadFactory.class, Class.forName("io.netty.channel.IoHandlerFactory"))
                    .newInstance(threads, factory, handlers);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    public static SocketChannel newChannel() {
        return NIO ? new NioSocketChannel() : new RdmaStreamChannel();
    }

    public static Class<? extends SocketChannel> channelClass() {
        return NIO ? NioSocketChannel.class : RdmaStreamChannel.class;
    }

    public static Class<? extends ServerSocketChannel> serverChannelClass() {
        return NIO ? NioServerSocketChannel.class : RdmaServerStreamChannel.class;
    }
}
