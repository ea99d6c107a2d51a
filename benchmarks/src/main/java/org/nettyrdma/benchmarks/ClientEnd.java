package org.nettyrdma.benchmarks;

/** A client with its connections. Used by one thread at a time. */
interface ClientEnd extends AutoCloseable {

    /**
     * Makes calls of a load and looks at every byte that comes back, or lets the server say what it has got.
     *
     * @throws Exception if a byte is wrong
     */
    void verify(Load load) throws Exception;

    /**
     * Keeps a load under way on every connection.
     *
     * @param durationNanos no call is started later than this
     * @throws Exception the first failure, a reply with the wrong content included
     */
    LoadResult run(Load load, long durationNanos) throws Exception;

    /** What it has done so far, the processor time left out. */
    Counters counters();

    /** What the first connection is, for the report: class, options as they are in use. */
    String description();

    @Override
    void close();
}
