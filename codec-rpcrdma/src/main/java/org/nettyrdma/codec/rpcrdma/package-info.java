/**
 * RPC-over-RDMA version 1 (rfc5666bis-01, the draft of RFC 8166) and, where a {@link org.nettyrdma.codec.rpcrdma.VersionPolicy} asks
 * for it, version 2 (draft-cel-nfsv4-rpcrdma-version-two-08, called version-two-08 here). One set of handlers works on both.
 *
 * <p>The entry class is {@link org.nettyrdma.codec.rpcrdma.RpcRdma}, whose {@code initChannel} shows the way of the data:
 * <pre>{@code
 *   RdmaChannel              one Receive, one Send: ByteBuf
 *     RpcRdmaCodec           header and inline body: RpcRdmaMessage
 *     ConnectionHandler      settles the version, exchanges properties
 *     CreditGate             counts, waits, stamps
 *     RequesterChunkHandler  or ResponderChunkHandler: exposes, fetches, writes, puts together
 *   application              one whole RPC message: ByteBuf
 * }</pre>
 *
 * <p>All handlers belong to the event loop of their channel and keep plain fields. To understand the code read
 * {@code RpcRdmaLayout}, {@code RpcRdmaHeaderReader}, {@code HeaderFormat}, {@code RpcRdmaDecoder}, {@code RpcRdmaEncoder},
 * {@code RpcRdmaConnection}, {@code ConnectionHandler}, {@code VersionNegotiationHandler},
 * {@code ResponderChunkHandler}, {@code ReadChunkFetchQueue}, {@code ReadChunkFetch}, {@code ReplyPlacement}, {@code RequesterChunkHandler},
 * {@code CallPlan}, {@code CallExposer}, {@code CallExposure}, {@code ReducedReply}.
 */
package org.nettyrdma.codec.rpcrdma;
