package org.apache.spark.network.util;

import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.internal.PlatformDependent;
import java.util.concurrent.ThreadFactory;
import org.nettyrdma.streamtests.StreamTransport;

/**
 * Stands before the class of this name in Spark's jar, which knows two transports only. Where Spark's own tests ask for NIO they
 * get the stream.
 */
public final class NettyUtils {

    private static final int MOST_THREADS = 8;

    private NettyUtils() {
    }

    public static long freeDirectMemory() {
        return PlatformDependent.maxDirectMemory() - PlatformDependent.usedDirectMemory();
    }

    public static ThreadFactory createThreadFactory(String prefix) {
        return new DefaultThreadFactory(prefix, true);
    }

    public static EventLoopGroup createEventLoop(IOMode mode, int threads, String prefix) {
        return StreamTransport.newGroup(threads, prefix);
    }

    public static Class<? extends Channel> getClientChannelClass(IOMode mode) {
        return StreamTransport.channelClass();
    }

    public static Class<? extends ServerChannel> getServerChannelClass(IOMode mode) {
        return StreamTransport.serverChannelClass();
    }

    public static TransportFrameDecoder createFrameDecoder() {
        return new TransportFrameDecoder();
    }

    public static String getRemoteAddress(Channel channel) {
        return channel == null || channel.remoteAddress() == null ? "<unknown remote>" : channel.remoteAddress().toString();
    }

    public static int defaultNumThreads(int usableCores) {
        return Math.min(usableCores > 0 ? usableCores : Runtime.getRuntime().availableProcessors(), MOST_THREADS);
    }

    public static PooledByteBufAllocator getSharedPooledByteBufAllocator(boolean allowDirectBuffers, boolean allowCache) {
        return createPooledByteBufAllocator(allowDirectBuffers, allowCache, 0);
    }

    public static PooledByteBufAllocator createPooledByteBufAllocator(boolean allowDirectBuffers, boolean allowCache, int cores) {
        return new PooledByteBufAllocator(allowDirectBuffers);
    }

    public static boolean preferDirectBufs(TransportConf configuration) {
        return configuration.preferDirectBufs();
    }
}
