/**
 * How fast the stack is, next to what people use today.
 *
 * <p>{@link org.nettyrdma.benchmarks.BenchmarkRun} is the program: it starts each peer in processes of its own ({@code Agent}),
 * lets the library and its peers run the same calls in turn, and writes the figures with their ratios. Each load is generated on
 * the client's event loop, which is also the thread that measures. NOTES.md of this module says what is measured how.
 */
package org.nettyrdma.benchmarks;
