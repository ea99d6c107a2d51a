/**
 * RDMA channels on the event loops of Netty 4.2: {@link org.nettyrdma.iohandler.RdmaIoHandler} is to
 * {@code MultiThreadIoEventLoopGroup} what {@code NioIoHandler} and {@code EpollIoHandler} are. Netty 4.1 has no such thing;
 * there, and with 4.2 as well, {@link org.nettyrdma.channel.RdmaEventLoopGroup} has event loops of its own.
 */
package org.nettyrdma.iohandler;
