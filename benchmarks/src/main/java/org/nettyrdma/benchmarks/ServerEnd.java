package org.nettyrdma.benchmarks;

/** A server that listens on the loopback interface. */
interface ServerEnd extends AutoCloseable {

    /** Where clients connect to. */
    int port();

    /** What it has done so far, the processor time left out; any thread. */
    Counters counters();

    @Override
    void close();
}
