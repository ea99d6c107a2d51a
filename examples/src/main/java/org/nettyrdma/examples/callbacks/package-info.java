/**
 * Calls from server to client, on the connection that the client has made (RFC 8167).
 *
 * <p>{@code examples/run callbacks 5} makes one call. While the server works on it, it calls the client five times, and the
 * client prints each step. Both sides say {@code reverse(CREDITS)}: how many calls of that direction may be in progress. Then
 * the client serves a program, and the server finds an {@link org.nettyrdma.codec.oncrpc.RpcClient} in each of its pipelines.
 *
 * <p>The server does not wait for the answers to its calls: it runs on the event loop, and goes on when a future is done. A
 * program that wants to wait needs {@code RpcRdma.server().executor(...)}.
 */
package org.nettyrdma.examples.callbacks;
