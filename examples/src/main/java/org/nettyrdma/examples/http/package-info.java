/**
 * HTTP over RDMA, with Netty's own handlers.
 *
 * <p>{@code examples/run http /any/path} asks a server for a path and prints what it answers. Server and client are those that
 * one would write for TCP; only the classes of the channels and of the event loop group are others:
 * {@link org.nettyrdma.channel.RdmaServerStreamChannel}, {@link org.nettyrdma.channel.RdmaStreamChannel} and
 * {@link org.nettyrdma.channel.RdmaEventLoopGroup}. Both ends must be of this kind: a browser cannot ask this server.
 *
 * <p>docs/frameworks.md has the same for gRPC, Reactor Netty, Vert.x and others.
 */
package org.nettyrdma.examples.http;
