/**
 * ONC RPC version 2 (RFC 5531) with XDR (RFC 4506) for Netty pipelines, over any channel that delivers one whole RPC message
 * per {@link io.netty.buffer.ByteBuf}: TCP behind a {@link org.nettyrdma.codec.oncrpc.RecordMarkingCodec}, RDMA behind the
 * handlers of RPC-over-RDMA.
 *
 * <p>The entry classes are {@link org.nettyrdma.codec.oncrpc.RpcClient} and
 * {@link org.nettyrdma.codec.oncrpc.RpcServerHandler}, which serves any number of
 * {@link org.nettyrdma.codec.oncrpc.RpcProgram}s. Handlers keep their state in plain fields of their channel's event loop.
 * Any thread may make calls and replies; they are passed to the event loop.
 */
package org.nettyrdma.codec.oncrpc;
