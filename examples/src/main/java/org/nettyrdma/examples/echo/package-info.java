/**
 * Echo over RPC: the smallest server and client.
 *
 * <p>{@code examples/run echo "any text"} prints the text, which has travelled to a server and back. The server is an
 * {@link org.nettyrdma.codec.oncrpc.RpcProgram}: it has a number, a range of versions, and a method that gets each call.
 * {@link org.nettyrdma.codec.rpcrdma.RpcRdma} builds the pipelines of both sides. The client is the
 * {@link org.nettyrdma.codec.oncrpc.RpcClient} in its pipeline.
 *
 * <p>A text of more than 64 KiB travels in chunks; nothing in the example changes for it. For a server in a process of its
 * own, wait for {@code closeFuture()} of the server channel, as docs/migrating.md shows.
 */
package org.nettyrdma.examples.echo;
