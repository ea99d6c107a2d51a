/**
 * A client of rpcbind (RFC 1833, section 2), which keeps for each machine where its RPC programs answer.
 *
 * <p>A server registers with the rpcbind of its own machine and a client asks the one of the server's machine; both use
 * {@link org.nettyrdma.codec.oncrpc.rpcbind.RpcbindClient}. For RPC-over-RDMA the transports are called {@code rdma} and
 * {@code rdma6} (RFC 8166, section 10), and their addresses are IP addresses with ports.
 */
package org.nettyrdma.codec.oncrpc.rpcbind;
