/**
 * RPC-over-RDMA version 1 (RFC 8166, with RFC 8167 and RFC 8797) and, where a {@link org.nettyrdma.codec.rpcrdma.VersionPolicy}
 * asks for it, version 2 (draft-cel-nfsv4-rpcrdma-version-two-08, called version-two-08 here). One set of handlers works on both.
 *
 * <p>This package has the types that an application uses. The entry class is {@link org.nettyrdma.codec.rpcrdma.RpcRdma}, whose
 * {@code initChannel} shows the way of the data:
 * <pre>{@code
 *   RdmaChannel              one Receive, one Send: ByteBuf
 *     RpcRdmaCodec           header and inline body: RpcRdmaMessage
 *     ConnectionHandler      with version 2: settles the version, exchanges properties
 *     CreditGate             counts, waits, stamps
 *     RequesterChunkHandler  or ResponderChunkHandler: exposes, fetches, writes, puts together
 *   application              one whole RPC message: ByteBuf
 * }</pre>
 *
 * <p>The packages below it, of which the module exports the first three:
 * <ul>
 * <li>{@code header}: a transport header and a transport message as values, and what version 2 can be extended with;
 * <li>{@code characteristics}: an extension of version 2, by which connected peers tell each other what changes;
 * <li>{@code legacy}: the oldest form of the protocol with its Connection Configuration Protocol; {@code legacy.internal} is
 *     what its handlers do;
 * <li>{@code format}: headers and bytes, for each version;
 * <li>{@code connection}: what a connection settles: version, properties, receives, the reverse direction;
 * <li>{@code requester}: calls that go out, the memory that they expose, and their replies;
 * <li>{@code responder}: calls that come in, the memory that is read for them, and their replies;
 * <li>{@code shared}: what the two sides have in common.
 * </ul>
 *
 * <p>All handlers belong to the event loop of their channel and keep plain fields.
 */
package org.nettyrdma.codec.rpcrdma;
