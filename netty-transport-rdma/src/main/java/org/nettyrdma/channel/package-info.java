/**
 * The Netty channel whose connection is an RDMA queue pair.
 *
 * <p>{@link org.nettyrdma.channel.RemoteSegment} names a piece of the peer's memory.
 */
package org.nettyrdma.channel;
