/**
 * A stream of bytes over a queue pair, by the wire protocol of rsockets (rdma-core, {@code librdmacm/rsocket.c} and
 * {@code librdmacm/docs/rsocket}): what stands in the private data, in the messages of 32 bits and in the target entries, and the
 * counters and rules that both sides keep.
 *
 * <p>{@link org.nettyrdma.stream.StreamHello} is what the sides tell each other when they connect,
 * {@link org.nettyrdma.stream.StreamMessage} what they say later. {@link org.nettyrdma.stream.StreamReceiver} keeps the rules of
 * the way in, {@link org.nettyrdma.stream.SendCredits} and {@link org.nettyrdma.stream.TargetList} those of the way out. Nothing
 * here knows Netty or posts anything. Every object belongs to one event loop. The package is not exported.
 */
package org.nettyrdma.stream;
