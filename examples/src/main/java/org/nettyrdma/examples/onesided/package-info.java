/**
 * Bulk transfer with RDMA Read and RDMA Write, without RPC.
 *
 * <p>{@code examples/run onesided FILE REVERSED} has a server reverse the bytes of FILE. The client opens the memory that holds
 * the file for reading, and as much memory again for writing, and sends a message that says where both are. The server fetches
 * the bytes with an {@link org.nettyrdma.channel.RdmaRead}, puts them back with an {@link org.nettyrdma.channel.RdmaWrite}, and
 * sends an empty message, which arrives behind them. Then the client withdraws its memory.
 *
 * <p>The two sides agree on the form of their messages themselves, and on how many may be under way: no more than
 * {@code RECEIVE_QUEUE_DEPTH}. Pipelines are plain Netty.
 */
package org.nettyrdma.examples.onesided;
