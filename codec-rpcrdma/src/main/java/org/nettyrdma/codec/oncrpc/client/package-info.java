/**
 * A client of ONC RPC that outlives its connections: it connects again, and makes the calls again that were under way. It works
 * over every channel whose pipeline has an {@link org.nettyrdma.codec.oncrpc.RpcClient}, so over RDMA as over TCP.
 *
 * <p>The entry class is {@link org.nettyrdma.codec.oncrpc.client.ReconnectingRpcClient}. Any thread may use it. Its state belongs
 * to one event loop of the group of its bootstrap; its connections may be on others of the group.
 */
package org.nettyrdma.codec.oncrpc.client;
