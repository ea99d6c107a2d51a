/**
 * gRPC over RDMA.
 *
 * <p>{@code examples/run grpc "your name"} asks a service for a greeting and prints it. Server and client are those that one
 * would write for TCP, with {@code grpc-netty}. Each gets one line more for the class of its channels, and one for the event
 * loop group: {@link org.nettyrdma.channel.RdmaServerStreamChannel}, {@link org.nettyrdma.channel.RdmaStreamChannel} and
 * {@link org.nettyrdma.channel.RdmaEventLoopGroup}. Both ends must be of this kind.
 *
 * <p>The messages are lines of text, so that this is one class. A service that {@code protoc} has made from a description is
 * added and called as ever. gRPC 1.76 runs on Netty 4.1 and 4.2; {@code grpc-netty-shaded} has a Netty of its own and cannot
 * run over RDMA. docs/frameworks.md has the same for Reactor Netty, Vert.x and others.
 */
package org.nettyrdma.examples.grpc;
