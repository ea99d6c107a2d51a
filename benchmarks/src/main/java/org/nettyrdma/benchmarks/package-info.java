/**
 * How fast the stack is, next to what people use today.
 *
 * <p>{@link org.nettyrdma.benchmarks.RpcComparison} is the program: it runs the same RPC client and server over RDMA and over TCP in
 * turn, in pipelines that differ only in channel class and framing, and prints the figures with their ratios. Each load is generated on the
 * client's event loop, which is also the thread that measures. The other classes here with {@code Benchmark} in their name are JMH
 * microbenchmarks.
 */
package org.nettyrdma.benchmarks;
