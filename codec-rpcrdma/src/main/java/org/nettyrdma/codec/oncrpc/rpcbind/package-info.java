/**
 * A client of rpcbind (RFC 1833, section 2), which knows the addresses of the RPC programs of its machine.
 *
 * <p>A server registers with the rpcbind of its own machine. A client asks the rpcbind of the machine of the server. Both use
 * {@link org.nettyrdma.codec.oncrpc.rpcbind.RpcbindClient}. For RPC-over-RDMA the transports are called {@code rdma} and
 * {@code rdma6} (RFC 8166, section 5), and their addresses are IP addresses with ports.
 */
package org.nettyrdma.codec.oncrpc.rpcbind;
