/**
 * RPC-over-RDMA version 2, with properties that change while the connection stands.
 *
 * <p>{@code examples/run version2} makes a call of 10,000 bytes, which is too long for the 4096 bytes of a receive buffer and
 * travels as a long one. Then the client asks the server for receive buffers of 16 KiB. The server's
 * {@link org.nettyrdma.codec.rpcrdma.characteristics.CharacteristicPolicy} grants it. The server changes its buffers
 * one by one, as calls use them up, so the change is pending until there were enough calls. Then the large call travels inline.
 *
 * <p>{@code RpcRdma.configure} is needed here: it posts the receives that the messages of this extension take. See
 * docs/version-2.md.
 */
package org.nettyrdma.examples.version2;
