/**
 * The Netty channel whose connection is an RDMA queue pair.
 *
 * <p>Start with {@link org.nettyrdma.channel.RdmaChannel}; {@link org.nettyrdma.channel.RdmaServerChannel} and
 * {@link org.nettyrdma.channel.RdmaEventLoopGroup} go with it, and {@link org.nettyrdma.channel.Rdma} says whether RDMA can
 * be used on this machine. To understand the code, read {@code RdmaEventLoop.run} first.
 *
 * <p>Threads: a channel, its queue pair and its queues belong to one event loop and are touched by no other thread; only
 * what Netty promises for every channel, {@link org.nettyrdma.channel.RdmaChannelStatistics} and
 * {@link org.nettyrdma.channel.RegisteredByteBufAllocator} can be used from any. The loop calls handlers, and the promise of
 * a write completes, outside of any lock.
 */
package org.nettyrdma.channel;
