/**
 * The Netty channel whose connection is an RDMA queue pair.
 *
 * <p>Start with {@link org.nettyrdma.channel.RdmaChannel}; {@link org.nettyrdma.channel.RdmaServerChannel} and
 * {@link org.nettyrdma.channel.RdmaEventLoopGroup} go with it, and {@link org.nettyrdma.channel.Rdma} says whether RDMA can
 * be used on this machine.
 *
 * <p>Reading order: {@code RdmaEventLoop.run} and {@code RdmaIo.run} with {@code Polling}; {@code QueuePairChannel} with
 * {@code QueuePairConnection} and {@code Draining} (how any channel begins and ends);
 * {@link org.nettyrdma.channel.RdmaChannel} with {@code WorkRequests},
 * {@code SharedReceives}, {@code InboundDelivery} and {@code SendQueue} (messages); {@code ReceivePool} and {@code BlockPool}
 * (their memory); {@code ExposureTable} (memory that a peer may reach). {@link org.nettyrdma.channel.RdmaStreamChannel} and the
 * classes {@code Stream*} are the byte stream. docs/architecture.md follows a call from here to its program and back.
 *
 * <p>Threads: a channel, its queue pair and its queues belong to one event loop. No other thread uses them. Three things can be
 * used from any thread: the methods that Netty promises for every channel, {@link org.nettyrdma.channel.RdmaChannelStatistics}
 * and {@link org.nettyrdma.channel.RegisteredByteBufAllocator}. The loop calls handlers, and completes the promises of writes,
 * outside of any lock.
 */
package org.nettyrdma.channel;
